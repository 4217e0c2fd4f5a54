// Runs side by side.
import * as api from "./api.js";
import { explained, h, show } from "./dom.js";
import { count, moment, seconds, term } from "./words.js";

export async function compared({ signal, rest }) {
  const runs = await Promise.all(rest[0].split(",").filter(Boolean).slice(0, 6).map((number) => api.runOf(number)));
  if (signal.aborted) return;
  document.title = "Runs side by side · thresher lab";
  const labels = [...new Set(runs.flatMap((run) => run.summary?.tiles?.map((tile) => tile.label) ?? []))];
  const line = (name, cell, about) => h("tr", null, h("th", { scope: "row" }, explained(name, about)), runs.map((run) => h("td", null, cell(run))));
  const tile = (run, label) => {
    const found = run.summary?.tiles?.find((each) => each.label === label);
    return found ? [h("b", null, found.value), h("small", null, found.note)] : "–";
  };
  show(
    h("div", { class: "hero" }, h("h1", null, "Runs side by side"),
      h("p", { class: "lead" }, "Each was measured on rows that its model had not learned from. If the ranges overlap a lot, the difference may be chance.")),
    h("section", { class: "card" }, h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The runs" }, h("table", { class: "full compare" },
      h("thead", null, h("tr", null, h("td"), runs.map((run) => h("th", { scope: "col" }, h("a", { href: `#/run/${run.number}` }, `Run ${run.number}`))))),
      h("tbody", null,
        line("File", (run) => run.file), line("Predicts", (run) => run.target ?? "groups"), line("Begun", (run) => moment(run.begun)),
        labels.map((label) => line(label, (run) => tile(run, label), term(label))),
        line("Method", (run) => run.method ?? run.state), line("Settings tried", (run) => (run.n_evaluations ? count(run.n_evaluations) : "–"), term("candidate")),
        line("Time", (run) => (run.seconds ? seconds(run.seconds) : "–")))))),
    h("p", null, h("a", { class: "button plain", href: "#/" }, "Back to the folder")));
}
