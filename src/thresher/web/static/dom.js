// Elements, made without ever reading text as markup: strings become text nodes, whatever they hold.
const SVG = "http://www.w3.org/2000/svg";

function fill(element, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "css") for (const [key, each] of Object.entries(value)) element.style.setProperty(key, each);
    else if (name === "value") element.value = value;
    else if (name === "checked" || name === "disabled" || name === "selected") element[name] = Boolean(value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const h = (tag, props, ...children) => fill(document.createElement(tag), props, children);
export const s = (tag, props, ...children) => fill(document.createElementNS(SVG, tag), props, children);

let number = 0;
export const fresh = (stem) => `${stem}-${++number}`;

/** A small button that explains a word; what it says is a popover, so that keys and screen readers reach it. */
export function tip(about, word = "this") {
  if (!about) return null;
  const id = fresh("tip");
  const box = h("span", { id, popover: "auto", class: "tipbox", role: "note" }, about);
  const button = h("button", { type: "button", class: "tip", popovertarget: id, "aria-label": `What is ${word}?` }, "?");
  box.addEventListener("toggle", (event) => {
    if (event.newState !== "open") return;
    const place = button.getBoundingClientRect();
    const left = Math.max(8, Math.min(place.left - 20, innerWidth - box.offsetWidth - 8));
    const below = place.bottom + 6 + box.offsetHeight < innerHeight;
    box.style.left = `${left}px`;
    box.style.top = `${below ? place.bottom + 6 : place.top - box.offsetHeight - 6}px`;
  });
  return h("span", { class: "tipped" }, button, box);
}

/** Words that a tooltip explains; its button stays on the line of the last of them. */
export function explained(words, about, what = words) {
  if (!about) return h("span", null, words);
  const place = words.lastIndexOf(" ") + 1;
  return h("span", null, words.slice(0, place), h("span", { class: "tipped" }, words.slice(place), " ", tip(about, what)));
}

export function show(...children) {
  const view = document.getElementById("view");
  view.replaceChildren(...children.flat(Infinity).filter(Boolean));
  return view;
}

export const say = (words) => { document.getElementById("live").textContent = words; };

export function complain(problem) {
  const box = document.getElementById("problem");
  box.replaceChildren(
    h("span", null, String(problem?.message ?? problem)),
    h("button", { type: "button", class: "plain", onclick: () => { box.hidden = true; } }, "Close"),
  );
  box.hidden = false;
}

export const settled = () => { document.getElementById("problem").hidden = true; };

/** Buttons that choose one of several panels, as tabs do: arrow keys go from one to the next. */
export function tabs(entries, chosen, choose) {
  const keys = entries.map((entry) => entry.key);
  const list = h("div", { role: "tablist", class: "tabs", "aria-label": "Views of this run" }, entries.map((entry) =>
    h("button", {
      type: "button", role: "tab", id: `tab-${entry.key}`, "aria-controls": "panel", class: "tab",
      "aria-selected": String(entry.key === chosen), tabindex: entry.key === chosen ? "0" : "-1",
      onclick: () => choose(entry.key),
    }, entry.name)));
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    choose(keys[(keys.indexOf(chosen) + step + keys.length) % keys.length], true);
  });
  return list;
}
