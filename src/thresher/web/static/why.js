// Why the model answers as it does for one row, and what it would answer if values were others.
import * as api from "./api.js";
import { complain, h, settled, tip } from "./dom.js";
import { signedBar } from "./plots.js";
import { number, percent } from "./words.js";

export function whyPanel(panel, run, signal) {
  const state = { row: 1, changes: {}, first: null, latest: null };
  const input = h("input", { type: "number", min: "1", step: "1", value: "1", "aria-label": "Row of the file", onchange: () => go(Number(input.value)) });
  const step = (by) => h("button", { type: "button", class: "button plain", "aria-label": by < 0 ? "The row before" : "The next row", onclick: () => go(state.row + by) }, by < 0 ? "‹" : "›");
  const answer = h("div", { class: "answer", "aria-live": "polite" }), parts = h("div"), form = h("div", { class: "values" });
  panel.append(
    h("div", { class: "between" }, h("h2", null, "Why this answer?"), h("div", { class: "buttons" }, "Row ", step(-1), input, step(1))),
    answer, parts,
    h("div", { class: "between" }, h("h2", null, "What if?"), h("button", { type: "button", class: "button plain", onclick: () => go(state.row) }, "As in the file")),
    h("p", { class: "note" }, "Change a value to see what the model would predict. This shows what the model does, not what would happen in reality."),
    form);

  async function ask() {
    state.latest?.abort();
    const mine = new AbortController();
    state.latest = mine;
    signal.addEventListener("abort", () => mine.abort());
    try {
      const found = await api.why(run.number, { row: state.row, changes: state.changes }, mine.signal);
      if (mine.signal.aborted) return null;
      settled();
      return found;
    } catch (problem) {
      if (!mine.signal.aborted) complain(problem);
      return null;
    }
  }

  async function go(row) {
    if (!Number.isInteger(row) || row < 1) return;
    const before = state.row;
    Object.assign(state, { row, changes: {} });
    const found = await ask();
    if (!found) { state.row = before; input.value = before; return; }
    input.value = row;
    state.first = found;
    draw(found);
    form.replaceChildren(...found.values.map((value) => field(value)));
    if (!found.values.length) form.replaceChildren(h("p", { class: "note" }, "Rows of this file have no columns that could be changed."));
  }

  async function move(name, value) {
    state.changes[name] = value;
    const found = await ask();
    if (found) draw(found);
  }

  function draw(found) {
    const { first } = state, moved = found !== first, chance = (each) => (each.probability === null ? "" : ` (${percent(each.probability)})`);
    const what = (each) => `${typeof each.answer === "number" ? number(each.answer) : each.answer}${chance(each)}`;
    const truth = first.target === null ? null : h("p", { class: "note" }, `The file says ${typeof first.target === "number" ? number(first.target) : first.target}.`);
    answer.replaceChildren(...[
      h("p", { class: "lead" }, moved ? "With these values the model would answer " : "The model answers ", h("b", { id: "answer" }, what(found)), moved ? `; with those of the file, ${what(first)}.` : "."),
      found.favoured === null ? null : h("p", { class: "note" }, `Mistakes on ${found.favoured[0]} count more in this model: it answers ${found.favoured[0]} from ${percent(found.favoured[1])} on.`),
      truth,
      !moved && found.change ? h("p", { class: "says" }, `If ${found.change.columns.map((each) => `${each.column} were ${shown(each.then)} instead of ${shown(each.now)}`).join(" and ")}, the answer would be ${shown(found.change.answer)}.`) : null,
    ].filter(Boolean));
    const isOfRows = found.of_rows;
    const part = isOfRows ? "How much the similarity to this row speaks for the answer (above 0) or against it."
      : found.against === null ? "How much the column raises or lowers the value."
        : `How much the column speaks for the answer, above 0, or for ${found.against}, below 0. The parts add up to the lead of the answer.`;
    const most = Math.max(...found.parts.map((part) => Math.abs(part.part)), 1e-300);
    parts.replaceChildren(...[found.meaning ? h("p", { class: "note" }, found.meaning) : null].filter(Boolean), h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Parts of the score" }, h("table", { class: "full" },
      h("thead", null, h("tr", null, h("th", { scope: "col" }, isOfRows ? "compared with" : "column"), h("th", { scope: "col" }, isOfRows ? "similarity" : "value"), h("th", { scope: "col", class: "n" }, "part ", tip(part, "a part")), h("th", { scope: "col" }, h("span", { class: "unseen" }, "bar")))),
      h("tbody", null,
        found.parts.slice(0, 12).map((each) => h("tr", null, h("th", { scope: "row", class: "name", title: each.column }, each.column), h("td", { class: "name" }, shown(each.value)), h("td", { class: "n" }, signed(each.part)), h("td", { class: "wide" }, signedBar(each.part / most)))),
        others(found)))));
  }

  function others(found) {
    const rest = found.rest + found.parts.slice(12).reduce((sum, part) => sum + part.part, 0);
    return rest ? h("tr", null, h("th", { scope: "row" }, "all others"), h("td"), h("td", { class: "n" }, signed(rest)), h("td", { class: "wide" })) : null;
  }

  function field(value) {
    const name = value.name;
    let control;
    if (value.kind === "number") {
      const [low, high] = value.range, unit = value.is_whole ? 1 : (high - low) / 200 || 1;
      const typed = h("input", { type: "number", step: "any", value: value.value ?? "", "aria-label": name, onchange: () => { slider.value = typed.value; move(name, typed.value === "" ? null : Number(typed.value)); } });
      const slider = h("input", {
        type: "range", min: low, max: high, step: unit, "aria-label": `${name}, moved`,
        oninput: () => { typed.value = String(Number(Number(slider.value).toPrecision(6))); clearTimeout(slider.timer); slider.timer = setTimeout(() => move(name, Number(typed.value)), 120); },
      });
      slider.value = value.value ?? low;
      control = [slider, typed];
    } else if (value.kind === "text" && value.choices.length) {
      const options = value.choices.includes(value.value) || value.value === "" ? value.choices : [value.value, ...value.choices];
      control = [h("select", { "aria-label": name, onchange: (event) => move(name, event.target.value) },
        h("option", { value: "", selected: value.value === "" }, "(missing)"), options.map((each) => h("option", { value: each, selected: each === value.value }, each)))];
    } else {
      control = [h("input", { type: value.kind === "date" ? "date" : "text", value: (value.value ?? "").slice(0, value.kind === "date" ? 10 : undefined), "aria-label": name, onchange: (event) => move(name, event.target.value || null) })];
    }
    return h("div", { class: "value", "data-column": name }, h("span", { class: "name", title: name }, name), ...control);
  }

  go(1);
}

const shown = (value) => (value === null || value === "" ? "missing" : typeof value === "number" ? number(value) : value);
const signed = (x) => `${x > 0 ? "+" : ""}${number(x, 3)}`;
