// What was understood of a file, and the questions; both may be corrected until the run begins.
import * as api from "./api.js";
import { complain, fresh, h, say, settled, show, tip } from "./dom.js";
import { spark } from "./plots.js";
import { count, percent } from "./words.js";

const KINDS = {
  "": "as understood",
  number: "number",
  category: "category",
  text: "text, word by word",
};
const KIND_HELP = "What a column is: numbers are measured, categories are a few values that repeat, text is read word by word. Dates, units and decimal commas are detected.";
const TIMES = ["30 s", "2 min", "10 min"];

const key = (file) => `thresher-asked:${file}`;
export function keep(asked) { try { sessionStorage.setItem(key(asked.file), JSON.stringify(asked)); } catch { /* not kept over a reload */ } }
function kept(file) {
  try {
    const found = JSON.parse(sessionStorage.getItem(key(file)));
    if (found?.file === file) return found;
  } catch { /* as if new */ }
  return { file, typed: {}, left_out: null, kinds: {} };
}

export async function questions({ signal, rest }) {
  const file = rest[0];
  document.title = `${file} · thresher lab`;
  let asked = kept(file);
  show(h("div", { class: "hero" }, h("p", { class: "kind" }, "A look at the file"), h("h1", null, file), h("p", { class: "lead" }, "Looking …")));
  let found;
  try {
    found = await api.look(asked, signal);
  } catch (problem) {
    if (signal.aborted) return;
    asked = { file, typed: {}, left_out: null, kinds: {} };  // what was kept may not fit a file that has changed
    found = await api.look(asked, signal);
  }
  if (signal.aborted) return;
  new Page(asked, found, signal).show();
}

class Page {
  constructor(asked, found, signal) {
    Object.assign(this, { asked, found, signal, latest: null });
    asked.left_out = found.left_out;
    this.understood = JSON.stringify(asked);
  }

  show() {
    const { found } = this;
    this.about = h("p", { class: "lead" });
    this.table = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The columns" });
    this.remarks = h("div");
    this.form = h("form", { class: "stack", onsubmit: (event) => this.begin(event) });
    show(
      h("div", { class: "hero" }, h("p", { class: "kind" }, "A look at the file"), h("h1", null, found.file), this.about),
      h("section", { class: "card", "aria-labelledby": "columns" },
        h("h2", { id: "columns" }, "What was understood"),
        h("p", { class: "note" }, found.is_table
          ? "One line for each column. Correct what is wrong: another kind, or no check mark for a column that will not be known when you predict."
          : "These rows have no columns to choose from."),
        this.remarks, this.table),
      h("section", { class: "card", "aria-labelledby": "questions" }, h("h2", { id: "questions" }, "What should be learned?"), this.form),
    );
    this.draw();
  }

  /** Ask again, with what was changed. */
  async change() {
    keep(this.asked);
    this.latest?.abort();
    const mine = new AbortController();
    this.latest = mine;
    this.signal.addEventListener("abort", () => mine.abort());
    try {
      const found = await api.look(this.asked, mine.signal);
      if (mine.signal.aborted) return;
      settled();
      this.found = found;
      this.understood = JSON.stringify(this.asked);
      this.draw();
    } catch (problem) {
      if (mine.signal.aborted) return;
      complain(problem);
      Object.assign(this.asked, JSON.parse(this.understood));  // what was changed is taken back
      keep(this.asked);
      this.draw();
    }
  }

  draw() {
    const { found } = this, active = document.activeElement, focused = active?.dataset?.key;
    const typing = active?.type === "text" ? [active.value, active.selectionStart] : null;  // not yet told
    const { profile } = found;
    this.about.textContent = found.about;
    this.remarks.replaceChildren(...[
      profile.warnings.length ? h("ul", { class: "reasons warnings" }, profile.warnings.map((says) => h("li", null, says))) : null,
      profile.doubts.length ? h("div", null, h("p", { class: "note" }, "Not certain:"), h("ul", { class: "reasons" }, profile.doubts.map((says) => h("li", null, says)))) : null,
    ].filter(Boolean));
    this.table.replaceChildren(h("table", { class: "full profile" },
      h("thead", null, h("tr", null,
        h("th", { scope: "col" }, "use"), h("th", { scope: "col" }, "column"),
        h("th", { scope: "col" }, "kind ", tip(KIND_HELP, "a kind")),
        h("th", { scope: "col" }, h("span", { class: "unseen" }, "histogram")), h("th", { scope: "col" }, "values"),
        h("th", { scope: "col" }, "example"), h("th", { scope: "col", class: "n" }, "missing"), h("th", { scope: "col" }, "becomes"))),
      h("tbody", null, profile.columns.map((column) => this.column(column)))));
    const more = profile.n_columns - profile.columns.length;
    if (more > 0) this.table.append(h("p", { class: "note" }, `And ${count(more)} more columns.`));
    this.form.replaceChildren(...found.questions.map((question) => this.question(question)), this.end());
    if (focused) {
      const again = [...document.querySelectorAll("[data-key]")].find((each) => each.dataset.key === focused);
      again?.focus();
      if (again && typing) { again.value = typing[0]; again.setSelectionRange(typing[1], typing[1]); }
    }
  }

  column(column) {
    const name = column.column, { asked } = this, isTarget = name === this.found.target;
    const isOwn = asked.left_out.includes(name), isOut = isOwn || column.use.startsWith("left out");
    const use = h("input", {
      type: "checkbox", checked: !isOut, disabled: isTarget, "data-key": `use:${name}`, "aria-label": `Use ${column.name}`,
      onchange: (event) => {
        asked.left_out = asked.left_out.filter((each) => each !== name);
        if (!event.target.checked) asked.left_out.push(name);
        else if (!isOwn) asked.kinds[name] = "category";  // it is left out by itself, as it tells rows apart
        this.change();
      },
    });
    const kind = h("select", {
      "data-key": `kind:${name}`, "aria-label": `Kind of ${column.name}`, disabled: isOwn,
      onchange: (event) => {
        if (event.target.value) asked.kinds[name] = event.target.value;
        else delete asked.kinds[name];
        this.change();
      },
    }, Object.entries(KINDS).map(([value, words]) => h("option", { value, selected: (asked.kinds[name] ?? "") === value }, value === "" && !asked.kinds[name] ? column.kind : words)));
    const values = column.span || (column.n_distinct !== null ? `${count(column.n_distinct)} ${column.n_distinct === 1 ? "value" : "values"}` : "");
    const words = Object.entries(column.frequent).map(([word, n]) => `${word} ${count(n)}`).join(", ");
    return h("tr", { class: isOut ? "out" : isTarget ? "target" : null },
      h("td", null, isTarget ? h("span", { class: "badge done" }, "target") : use),
      h("th", { scope: "row", class: "name", title: column.name }, column.name),
      h("td", null, kind), h("td", null, spark(column.histogram)),
      h("td", null, values, column.span ? null : h("small", { class: "name" }, words)),
      h("td", { class: "name", title: column.example }, column.example),
      h("td", { class: "n" }, column.missing ? percent(column.missing) : "–"),
      h("td", null, isOwn ? "left out" : column.use));
  }

  question(question) {
    const id = fresh("q"), field = this.field(question, id);
    return h("fieldset", { class: "question", "data-question": question.id },
      h("legend", null, question.text, " ", tip(question.explanation, "meant by this question")),
      h("p", { class: "note", id: `${id}-help` }, question.help),
      field,
      question.refusal ? h("p", { class: "refusal", role: "alert", id: `${id}-refusal` }, question.refusal) : null,
      question.id === "target" && this.found.target_in_words ? h("p", { class: "note" }, `${this.found.target_in_words}.`) : null);
  }

  answer(question, text) {
    this.asked.typed[question.id] = text;
    this.change();
  }

  field(question, id) {
    const now = question.typed || question.default, described = `${id}-help`;
    const common = { "aria-describedby": described, "aria-label": question.text, "data-key": question.id };
    if (question.kind === "column" || (question.kind === "choice" && question.options.length > 6)) {
      return h("select", { ...common, onchange: (event) => this.answer(question, event.target.value) },
        question.options.map((each) => h("option", { value: each.name, selected: each.name === now }, each.about ? `${each.name} – ${each.about}` : each.name)));
    }
    if (question.kind === "columns") {
      const chosen = new Set(now === "none" ? [] : now.split(", "));
      return h("div", { class: "choices" }, question.options.map((each) => h("label", null,
        h("input", {
          type: "checkbox", checked: chosen.has(each.name), "data-key": `${question.id}:${each.name}`,
          onchange: (event) => {
            if (event.target.checked) chosen.add(each.name);
            else chosen.delete(each.name);
            this.answer(question, [...chosen].join(", ") || "none");
          },
        }), each.name)));
    }
    return this.choices(question, now, common, id);
  }

  /** One of some answers, or another one that is typed. */
  choices(question, now, common, id) {
    const options = [...question.options];
    if (question.id === "max_seconds") options.push(...TIMES.map((name) => ({ name, about: "" })));
    const isOther = now !== "" && !options.some((each) => each.name === now);
    const radio = (value, checked, ...words) => h("label", null, h("input", {
      type: "radio", name: id, checked, "data-key": `${question.id}=${value}`, onchange: () => this.answer(question, value),
    }), ...words);
    const parts = options.map((each) => radio(each.name, each.name === now, h("span", null, h("b", null, each.name), each.about ? ` – ${each.about}` : "")));
    if (question.kind === "words") {
      const hint = question.id === "cost" ? "such as 10" : question.id === "max_seconds" ? "such as 5 min" : "";
      parts.push(h("label", null,
        h("input", { type: "radio", name: id, checked: isOther, "aria-label": "Another answer", onchange: (event) => event.target.closest("label").querySelector("[type=text]").focus() }),
        h("input", {
          ...common, type: "text", placeholder: hint, value: isOther ? now : "", autocomplete: "off", spellcheck: "false",
          "aria-invalid": question.refusal ? "true" : null,
          onchange: (event) => this.answer(question, event.target.value),
        })));
    }
    return h("div", { class: "choices", role: "radiogroup", "aria-label": question.text }, parts);
  }

  end() {
    const { found } = this, isReady = found.questions.every((question) => !question.refusal);
    return h("div", { class: "end" },
      h("button", { type: "submit", class: "button", disabled: !isReady, "data-key": "begin" }, found.target === null ? "Find groups" : "Learn"),
      found.command ? h("details", null, h("summary", null, "The same as a command, or in Python"),
        h("pre", { tabindex: "0", "aria-label": "The command" }, found.command), h("pre", { tabindex: "0", "aria-label": "The Python code" }, found.python)) : null);
  }

  async begin(event) {
    event.preventDefault();
    const button = this.form.querySelector("[type=submit]");
    button.disabled = true;
    try {
      const run = await api.begin(this.asked);
      say("It has begun.");
      location.hash = `#/run/${run.number}`;
    } catch (problem) {
      button.disabled = false;
      complain(problem);
    }
  }
}
