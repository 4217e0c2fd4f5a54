// One run: watched while it goes on, read when it is done.
import * as api from "./api.js";
import { complain, explained, h, say, show, tabs, tip } from "./dom.js";
import { badge } from "./home.js";
import { colour, course } from "./plots.js";
import { thresholds } from "./threshold.js";
import { whyPanel } from "./why.js";
import { count, criterion, leader, measured, moment, seconds, term } from "./words.js";

export async function runPage({ signal, rest }) {
  const [number, view] = rest;
  const run = await api.runOf(number);
  if (signal.aborted) return;
  document.title = `Run ${number} · thresher lab`;
  if (run.state === "done") results(run, view ?? "result", signal);
  else if (run.state === "running") new Live(run, signal).show();
  else ended(run);
}

const title = (run) => (run.target === null ? `Groups in ${run.file}` : `Predicting ${run.target}`);

const head = (run, ...more) => h("div", { class: "hero" },
  h("p", { class: "kind" }, `Run ${run.number} · ${run.file} · ${moment(run.begun)}`),
  h("h1", null, title(run), " ", badge(run)), ...more);

const again = (run) => h("a", { class: "button plain", href: `#/file/${encodeURIComponent(run.file)}` }, "Back to the file");

function remove(run) {
  return h("button", {
    type: "button", class: "button plain danger", onclick: async () => {
      if (!confirm(`Delete run ${run.number} with its model and report?`)) return;
      try {
        await api.remove(run.number);
        location.hash = "#/";
      } catch (problem) { complain(problem); }
    },
  }, "Delete this run");
}

function ended(run) {
  const words = run.state === "failed" ? run.failure : "It was interrupted. Its measurements are saved, and it can continue from there.";
  show(head(run), h("section", { class: "card" },
    h("p", { class: "says" }, words),
    h("p", { class: "buttons" },
      h("button", {
        type: "button", class: "button", onclick: async () => {
          try {
            await api.goOn(run.number);
            dispatchEvent(new Event("hashchange"));
          } catch (problem) { complain(problem); }
        },
      }, run.state === "failed" ? "Try again" : "Go on"),
      again(run), remove(run))));
}

// --- while it goes on ---------------------------------------------------------------------------------------------------

const MAKING = /^(learning from all rows|predicting)/; // what a run does when it tries no more settings

class Live {
  constructor(run, signal) {
    Object.assign(this, { run, signal, evaluations: [], begin: null, doing: "starting", drawn: -1 });
  }

  show() {
    this.words = h("p", { class: "lead doing" }, "Starting …");
    this.time = h("p", { class: "note" });
    this.plot = h("div", { class: "plots" });
    this.race = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The models that race" });
    this.best = h("ul", { class: "tiles" });
    this.button = h("button", { type: "button", class: "button", onclick: () => this.stop() }, "Stop, and keep the best");
    show(head(this.run, this.words), this.best,
      h("section", { class: "card", "aria-labelledby": "watch" },
        h("div", { class: "between" }, h("h2", { id: "watch" }, "How it learns"), this.button),
        this.time, this.plot, this.race));
    if (this.run.is_stopping) this.stopping();
    const stream = api.events(this.run.number);
    stream.onmessage = (message) => this.hear(JSON.parse(message.data));
    stream.onerror = () => { if (stream.readyState === EventSource.CLOSED) this.lost(); else this.time.textContent = "The lab does not answer; trying again …"; };
    stream.addEventListener("end", () => {
      stream.close();
      if (this.signal.aborted) return;
      say("The run has ended.");
      dispatchEvent(new Event("hashchange"));
    });
    const timer = setInterval(() => this.tick(), 500);
    addEventListener("resize", () => { this.drawn = -1; this.draw(); }, { signal: this.signal });
    this.signal.addEventListener("abort", () => { stream.close(); clearInterval(timer); });
  }

  /** The stream has ended for good: look whether the lab is there, and where the run stands. */
  lost() {
    const timer = setTimeout(async () => {
      try {
        await api.runOf(this.run.number);
        if (!this.signal.aborted) dispatchEvent(new Event("hashchange"));
      } catch (problem) {
        if (this.signal.aborted) return;
        complain(problem);
        this.lost();
      }
    }, 2000);
    this.signal.addEventListener("abort", () => clearTimeout(timer));
  }

  hear(event) {
    if (event.event === "begin") { this.begin = event; this.evaluations = []; this.drawn = -1; }
    if (event.event === "doing") this.doing = event.words;
    if (event.event === "measured") this.evaluations.push(event);
    if (!this.waiting) this.waiting = setTimeout(() => { this.waiting = null; this.draw(); }, 100);
  }

  tick() {
    if (!this.begin) return;
    const gone = Date.now() / 1000 - this.begin.at, limit = this.begin.max_seconds;
    const n = this.evaluations.length, more = this.begin.n_evaluations - n;
    const pace = n > 2 && more > 0 ? `, about ${seconds((more * gone) / n)} at this pace` : "";
    const left = MAKING.test(this.doing) ? "the model is being made"
      : !limit ? `at most ${count(Math.max(0, more))} more${pace}`
      : limit > gone ? `about ${seconds(limit - gone)} left of ${seconds(limit)}` : "the time is up, and what has begun is being finished";
    this.time.textContent = `${seconds(gone)} so far, ${count(n)} ${n === 1 ? "setting" : "settings"} tried; ${left}.`;
  }

  draw() {
    if (this.signal.aborted) return;
    const words = this.doing[0].toUpperCase() + this.doing.slice(1);
    if (this.words.textContent !== words) { this.words.textContent = words; say(words); }
    this.tick();
    const known = this.evaluations.filter((each) => each.value !== null);
    if (known.length === this.drawn) return;
    this.drawn = known.length;
    if (!known.length) { this.plot.replaceChildren(h("p", { class: "muted" }, "The first dot appears here as soon as a setting is measured.")); this.race.replaceChildren(); this.best.replaceChildren(); return; }
    const names = [...new Set(this.evaluations.map((each) => each.candidate))], name = known[0].criterion;
    const best = known.reduce(leader);
    const half = 1.96 * (best.error_of_value ?? 0);
    const tile = (what, value, note, about) => h("li", null, h("span", { class: "what" }, explained(what, about)), h("b", { class: value.length > 12 ? "long" : null }, value), h("span", { class: "beside" }, note));
    this.best.replaceChildren(
      tile(`Best ${criterion(name)} so far`, measured(name, best.value), half ? `${measured(name, Math.max(0, best.value - half))} to ${measured(name, best.value + half)}` : "", `${term(name) ?? ""} The range: ${term("interval")}`),
      tile("Leading", best.candidate, `on ${count(best.n_rows)} rows`, best.about),
      tile("Settings tried", count(known.length), `of at most ${this.begin?.n_evaluations ?? "–"}`, term("candidate")),
      ...(best.n_used !== null ? [tile("Features in use", count(best.n_used), "by the leading model", term("Features in use"))] : []));
    this.plot.replaceChildren(course(known, names, this.plot.clientWidth));
    const ranked = names.map((candidate) => {
      const own = known.filter((each) => each.candidate === candidate);
      return own.length ? { candidate, best: own.reduce(leader), n: own.length } : null;
    }).filter(Boolean).sort((a, b) => (leader(a.best, b.best) === a.best ? -1 : 1));
    this.race.replaceChildren(h("table", { class: "full" },
      h("thead", null, h("tr", null, h("th", { scope: "col" }, "model"), h("th", { scope: "col", class: "n" }, criterion(name)), h("th", { scope: "col", class: "n" }, "rows"), h("th", { scope: "col", class: "n" }, "tried"), h("th", { scope: "col", class: "n" }, "features"))),
      h("tbody", null, ranked.map((each) => h("tr", null,
        h("th", { scope: "row" }, h("span", { class: `swatch ${colour(names.indexOf(each.candidate))}`, "aria-hidden": "true" }), each.candidate, " ", tip(each.best.about, each.candidate)),
        h("td", { class: "n" }, measured(name, each.best.value), each.best.error_of_value ? h("span", { class: "range" }, `± ${measured(name, 1.96 * each.best.error_of_value)}`) : null),
        h("td", { class: "n" }, count(each.best.n_rows)),
        h("td", { class: "n" }, count(each.n)),
        h("td", { class: "n" }, each.best.n_used === null ? "–" : count(each.best.n_used)))))));
  }

  stopping() {
    this.button.disabled = true;
    this.button.textContent = "Stopping …";
  }

  async stop() {
    try {
      await api.stop(this.run.number);
      this.stopping();
      say("It stops after the model that is being measured, and keeps the best.");
    } catch (problem) { complain(problem); }
  }
}

// --- when it is done ----------------------------------------------------------------------------------------------------

const VIEWS = [
  { key: "result", name: "Result" }, { key: "report", name: "Report" }, { key: "why", name: "Why, and what if" },
  { key: "threshold", name: "Threshold" }, { key: "take", name: "Take away" },
];

function results(run, view, signal) {
  const there = VIEWS.filter((each) => (each.key !== "threshold" || run.result.decisions) && (each.key !== "why" || run.task !== "clustering"));
  const chosen = there.some((each) => each.key === view) ? view : "result";
  const panel = h("section", { id: "panel", role: "tabpanel", class: "card", "aria-labelledby": `tab-${chosen}`, tabindex: "-1" });
  const choose = (key, focus) => {
    history.replaceState(null, "", `#/run/${run.number}/${key}`);
    results(run, key, signal);
    if (focus) document.getElementById(`tab-${key}`).focus();
  };
  show(head(run), tabs(there, chosen, choose), panel);
  const fill = { result: resultPanel, report: reportPanel, why: whyPanel, threshold: thresholds, take: takePanel };
  document.getElementById(`tab-${chosen}`).scrollIntoView({ block: "nearest", inline: "center" });
  fill[chosen](panel, run, signal);
}

export const tiles = (summary) => h("ul", { class: "tiles" }, summary.tiles.map((tile) => h("li", null,
  h("span", { class: "what" }, explained(tile.label, term(tile.label))), h("b", null, tile.value), h("span", { class: "beside" }, tile.note))));

function resultPanel(panel, run) {
  const { result } = run;
  panel.classList.add("open");
  panel.append(
    h("p", { class: "lead" }, result.summary.says), tiles(result.summary),
    h("div", { class: "card" }, h("h2", null, "What was chosen, and why"),
      h("ul", { class: "reasons" }, result.reasons.map((reason) => h("li", null, reason)))),
    h("p", { class: "buttons" }, again(run), remove(run)));
}

function reportPanel(panel, run, signal) {
  const frame = h("iframe", { class: "report", title: "The report", sandbox: true, src: api.reportPlace(run.number) });
  document.addEventListener("theme", () => { frame.src = api.reportPlace(run.number); }, { signal });
  panel.append(h("p", { class: "note" }, h("a", { href: api.reportPlace(run.number), target: "_blank", rel: "noopener" }, "Open it on a page of its own")), frame);
}

const FILES = {
  "model.thresher": ["The model", "for thresher predict, thresher explain, thresher serve and Python"],
  "predictions.csv": ["Predictions", "for every row of the file, in its order"],
  "report.html": ["The report", "one page that needs no network"],
  "columns.yaml": ["How columns are read", "your corrections, for --columns"],
};

function takePanel(panel, run) {
  const copy = (text) => h("button", {
    type: "button", class: "button plain", onclick: async (event) => {
      try { await navigator.clipboard.writeText(text); event.target.textContent = "Copied"; } catch (problem) { complain("The browser does not allow this; select the text."); }
    },
  }, "Copy");
  panel.append(
    h("h2", null, "Files"),
    h("ul", { class: "rows" }, run.downloads.map((name) => h("li", null,
      h("a", { href: api.filePlace(run.number, name), download: "" }, FILES[name][0]), h("span", { class: "muted grow" }, FILES[name][1])))),
    h("div", { class: "between" }, h("h2", null, "The same as a command"), copy(run.result.command)), h("pre", { tabindex: "0", "aria-label": "The command" }, run.result.command),
    h("div", { class: "between" }, h("h2", null, "The same in Python"), copy(run.result.python)), h("pre", { tabindex: "0", "aria-label": "The Python code" }, run.result.python));
}
