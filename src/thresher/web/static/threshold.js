// What another threshold would do: counts, and what mistakes cost.
import { explained, h } from "./dom.js";
import { curve } from "./plots.js";
import { keep } from "./ask.js";
import { count, number, percent, term } from "./words.js";

export function thresholds(panel, run, signal) {
  const found = run.result.decisions, n = found.threshold.length, name = found.class;
  const total = found.rows, all = found["of the class"], inUse = found["in use"];
  let ratio = found.costs?.[0]?.ratio ?? 1;
  let at = found.threshold.reduce((best, value, i) => (Math.abs(value - inUse.threshold) < Math.abs(found.threshold[best] - inUse.threshold) ? i : best), 0);
  const price = h("input", { type: "number", min: "0.001", step: "any", value: String(Number(ratio.toPrecision(4))), "aria-label": `What a missed ${name} costs, in false alarms`, onchange: () => { const typed = Number(price.value); if (typed > 0) { ratio = typed; draw(); } } });
  const slider = h("input", { type: "range", class: "wideslider", min: "0", max: String(n - 1), step: "1", value: String(at), "aria-label": "The threshold", oninput: () => { at = Number(slider.value); draw(); } });
  const plot = h("div", { class: "plots" }), cells = h("div"), words = h("p", { class: "says", "aria-live": "polite" });
  const cost = (i) => ratio * (all - found.found[i]) + (found.called[i] - found.found[i]);
  const best = () => found.threshold.reduce((least, _, i) => (cost(i) < cost(least) ? i : least), 0);
  const button = h("button", { type: "button", class: "button", onclick: () => { at = best(); slider.value = String(at); draw(); } }, "Go to the cheapest");
  const learn = h("button", {
    type: "button", class: "button plain", onclick: () => {
      keep({ file: run.file, typed: { target: run.target, cost: `${name}=${Number(price.value)}` }, left_out: null, kinds: {} });
      location.hash = `#/file/${encodeURIComponent(run.file)}`;
    },
  }, "Learn again with this cost");

  function draw() {
    const called = found.called[at], right = found.found[at], missed = all - right, alarms = called - right;
    slider.setAttribute("aria-valuetext", `${number(found.threshold[at], 3)}: ${count(called)} rows called ${name}`);
    words.textContent = `Above ${number(found.threshold[at], 3)}, ${count(called)} of ${count(total)} rows are called ${name}: ${count(right)} of ${count(all)} are found` +
      (called ? `, so ${percent(right / called)} of the rows called ${name} are right.` : ".") + ` The mistakes cost as much as ${number(cost(at))} false alarms; with the threshold in use, ${number(ratio * (all - inUse.found) + inUse.called - inUse.found)}.`;
    cells.replaceChildren(h("div", { class: "scroll" }, h("table", { class: "matrix" },
      h("thead", null, h("tr", null, h("td", { class: "corner" }), h("th", { scope: "col" }, `called ${name}`), h("th", { scope: "col" }, "not called so"))),
      h("tbody", null,
        h("tr", null, h("th", { scope: "row" }, `is ${name}`), h("td", null, count(right), h("span", null, "found")), h("td", null, count(missed), h("span", null, "missed"))),
        h("tr", null, h("th", { scope: "row" }, "is not"), h("td", null, count(alarms), h("span", null, "false alarms")), h("td", null, count(total - all - alarms), h("span", null, "correct")))))));
    plot.replaceChildren(curve(found.threshold, found.threshold.map((_, i) => cost(i)), {
      at, inUse: inUse.threshold, width: plot.clientWidth, xTitle: `score above which a row is called ${name}`, label: `The cost of mistakes over the threshold; here ${number(cost(at))}.`,
    }));
  }

  panel.append(
    h("h2", null, "When is a row called ", name, explained("?", term("score"), "the score")),
    h("p", { class: "note" }, "These are rows that the model had not learned from. A threshold chosen on them does somewhat worse on others."),
    h("p", { class: "line" }, h("label", null, `A missed ${name} costs as much as `, price, " false alarms"), button),
    slider, words, h("div", { class: "columns" }, cells, plot), h("p", { class: "buttons" }, learn));
  draw();
  addEventListener("resize", () => { if (plot.isConnected) draw(); }, { signal });
}
