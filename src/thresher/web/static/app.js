// The pages of the lab by their addresses: #/, #/file/NAME, #/run/NUMBER/VIEW, #/compare/NUMBERS.
import { h, settled, show } from "./dom.js";
import { home } from "./home.js";
import { questions } from "./ask.js";
import { runPage } from "./run.js";
import { compared } from "./compare.js";

const PAGES = { "": home, file: questions, run: runPage, compare: compared };
let leave = () => {};

async function route() {
  if (location.hash && !location.hash.startsWith("#/")) return;
  leave();
  settled();
  const left = new AbortController();
  leave = () => left.abort();
  try {
    const [page, ...rest] = location.hash.slice(2).split("/").map(decodeURIComponent);
    document.body.dataset.page = page || "home";
    const make = PAGES[page ?? ""];
    if (!make) throw new Error("There is no such page.");
    await make({ signal: left.signal, rest });
  } catch (problem) {
    if (left.signal.aborted) return;
    document.title = "thresher lab";
    const words = problem instanceof URIError ? "There is no such page." : problem.message;
    show(h("div", { class: "hero" }, h("h1", null, "This page cannot be shown"), h("p", { class: "lead", role: "alert" }, words)),
      h("p", { class: "buttons" }, h("a", { class: "button", href: "#/" }, "Back to the folder")));
  }
}

addEventListener("hashchange", () => {
  route().then(() => { if (location.hash.startsWith("#/")) document.getElementById("view").focus({ preventScroll: true }); });
  scrollTo(0, 0);
});
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => event.preventDefault());
route();
