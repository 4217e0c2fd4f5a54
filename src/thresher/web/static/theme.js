// Light or dark: as the system says, or as was chosen here; set before the page is painted.
(() => {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const kept = () => { try { return localStorage.getItem("thresher-theme"); } catch { return null; } };
  const apply = () => {
    document.documentElement.dataset.theme = kept() ?? (system.matches ? "dark" : "light");
    document.dispatchEvent(new Event("theme"));
  };
  apply();
  system.addEventListener("change", apply);
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const name = () => {
      const other = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
      button.textContent = other === "dark" ? "Dark" : "Light";
      button.setAttribute("aria-label", `Change to ${other} colours`);
    };
    name();
    document.addEventListener("theme", name);
    button.addEventListener("click", () => {
      const other = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
      try { localStorage.setItem("thresher-theme", other); } catch { /* it holds until the page is left */ }
      document.documentElement.dataset.theme = other;
      document.dispatchEvent(new Event("theme"));
    });
  });
})();
