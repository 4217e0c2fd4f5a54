// The pages of the lab by their addresses: #/, #/file/NAME, #/run/NUMBER/VIEW, #/compare/NUMBERS.
import { complain, h, settled, show } from "./dom.js";
import { home } from "./home.js";
import { questions } from "./ask.js";
import { runPage } from "./run.js";
import { compared } from "./compare.js";

const PAGES = { "": home, file: questions, run: runPage, compare: compared };
let leave = () => {};

async function route() {
  if (location.hash && !location.hash.startsWith("#/")) return;
  const [page, ...rest] = location.hash.slice(2).split("/").map(decodeURIComponent);
  leave();
  leave = () => {};
  settled();
  document.body.dataset.page = page || "home";
  const left = new AbortController();
  leave = () => left.abort();
  try {
    const make = PAGES[page ?? ""];
    if (!make) throw new Error("There is no such page.");
    await make({ signal: left.signal, rest });
  } catch (problem) {
    if (left.signal.aborted) return;
    show(h("p", null, h("a", { href: "#/" }, "Back to the folder")));
    complain(problem);
  }
}

addEventListener("hashchange", () => {
  route().then(() => { if (location.hash.startsWith("#/")) document.getElementById("view").focus({ preventScroll: true }); });
  scrollTo(0, 0);
});
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => event.preventDefault());
route();
