// The folder: drop a file, choose one, or go back to a run.
import * as api from "./api.js";
import { complain, h, say, settled, show } from "./dom.js";
import { bytes, moment, STATES } from "./words.js";

const fileLink = (name) => `#/file/${encodeURIComponent(name)}`;

export async function home({ signal }) {
  const found = await api.folder();
  document.title = "thresher lab";
  document.getElementById("folder").textContent = found.folder;
  const runs = h("div", { class: "stack" });
  show(
    h("div", { class: "hero" },
      h("h1", null, "What would you like to predict?"),
      h("p", { class: "lead" }, "Add a table with one row per case. The lab looks at every column, tries models on rows that they have not seen, and explains what it found. Nothing leaves this machine.")),
    dropZone(),
    found.files.length ? filesCard(found.files) : null,
    found.runs.length ? h("section", { class: "card", "aria-labelledby": "runs" }, h("h2", { id: "runs" }, "Runs"), runs) : null,
  );
  list(runs, found.runs);
  if (found.runs.length) watch(runs, found.runs, signal);
}

function dropZone() {
  const input = h("input", { type: "file", id: "pick", class: "unseen", onchange: () => add(input.files[0]) });
  const words = h("span", { class: "big" }, "Drop a file here, or choose one");
  const progress = h("progress", { max: "1", value: 0, hidden: true, "aria-label": "Progress of the upload" });
  const zone = h("label", { class: "drop card", for: "pick" }, input, words,
    h("span", { class: "note" }, "CSV, Excel, Parquet, JSON and more; it may be compressed."), progress);
  async function add(file) {
    if (!file) return;
    settled();
    words.textContent = `Adding ${file.name} …`;
    progress.hidden = false;
    try {
      const name = await api.upload(file, (part) => { progress.value = part; });
      say(`${name} was added.`);
      location.hash = fileLink(name);
    } catch (problem) {
      words.textContent = "Drop a file here, or choose one";
      progress.hidden = true;
      input.value = "";
      complain(problem);
    }
  }
  for (const name of ["dragenter", "dragover"]) zone.addEventListener(name, (event) => { event.preventDefault(); zone.classList.add("over"); });
  for (const name of ["dragleave", "drop"]) zone.addEventListener(name, () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => { event.preventDefault(); add(event.dataTransfer.files[0]); });
  return zone;
}

function filesCard(files) {
  return h("section", { class: "card", "aria-labelledby": "files" }, h("h2", { id: "files" }, "Files in this folder"),
    h("ul", { class: "rows" }, files.map((file) => h("li", null,
      h("a", { class: "name", href: fileLink(file.name) }, file.name), h("span", { class: "muted" }, bytes(file.bytes))))));
}

function list(place, runs) {
  const chosen = new Set([...place.querySelectorAll("input:checked")].map((box) => box.value));
  const compare = h("a", { class: "button plain", href: "#/" }, "Compare side by side");
  const foot = h("p", { class: "buttons" }, compare);
  const update = () => {
    const picked = [...place.querySelectorAll("input:checked")].map((box) => box.value);
    foot.hidden = picked.length < 2;
    compare.href = `#/compare/${picked.join(",")}`;
  };
  place.replaceChildren(
    h("ul", { class: "rows" }, runs.map((run) => h("li", null,
      run.state === "done" && runs.length > 1
        ? h("input", { type: "checkbox", value: run.number, checked: chosen.has(run.number), onchange: update, "aria-label": `Compare run ${run.number}` })
        : runs.length > 1 ? h("span", { class: "pad" }) : null,
      h("span", { class: "grow" },
        h("a", { href: `#/run/${run.number}` }, run.target === null ? `Groups in ${run.file}` : `${run.target} in ${run.file}`),
        h("small", null, `Run ${run.number} · ${moment(run.begun)}${run.method ? ` · ${run.method}` : ""}`)),
      headline(run), badge(run)))),
    foot);
  update();
}

export const badge = (run) =>
  h("span", { class: `badge ${run.state}` }, run.state === "running" && run.is_stopping ? "stopping" : STATES[run.state]);

function headline(run) {
  const tile = run.summary?.tiles?.[0];
  return tile ? h("span", { class: "n" }, h("b", null, tile.value), h("small", null, tile.label.toLowerCase())) : null;
}

/** Look again while runs go on. */
function watch(place, runs, signal) {
  if (!runs.some((run) => run.state === "running")) return;
  const timer = setTimeout(async () => {
    if (signal.aborted) return;
    try {
      const found = await api.folder();
      if (signal.aborted) return;
      list(place, found.runs);
      watch(place, found.runs, signal);
    } catch {
      watch(place, runs, signal);
    }
  }, 2000);
  signal.addEventListener("abort", () => clearTimeout(timer));
}
