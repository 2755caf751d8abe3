// Chooses the theme before the first paint, and flips it from the button in the top bar. Loaded as a classic script.
(() => {
  const root = document.documentElement;
  const stored = () => {
    try {
      return localStorage.getItem("theme");
    } catch {
      return null; // storage may be refused: the system's choice holds
    }
  };
  const system = matchMedia("(prefers-color-scheme: dark)");
  const apply = (theme) => {
    root.dataset.bsTheme = theme;
    document.dispatchEvent(new CustomEvent("themechange", { detail: theme }));
  };
  apply(stored() || (system.matches ? "dark" : "light"));
  system.addEventListener("change", () => stored() || apply(system.matches ? "dark" : "light"));
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-theme-toggle]")) return;
    const theme = root.dataset.bsTheme === "dark" ? "light" : "dark";
    try {
      localStorage.setItem("theme", theme);
    } catch {
      // not kept, but flipped
    }
    apply(theme);
  });
})();
