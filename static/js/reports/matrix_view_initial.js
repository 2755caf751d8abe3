// Decides before the first paint whether the matrix shows as a heat map or as a table: the address, then the person's
// last choice, then the width of the window. A classic script in the head, so that nothing jumps.
(() => {
  const known = (value) => (value === "heat" || value === "table" ? value : null);
  const stored = () => {
    try {
      return localStorage.getItem("matrix-show");
    } catch {
      return null; // storage may be refused: the width decides
    }
  };
  const asked = known(new URLSearchParams(location.search).get("show"));
  const wide = matchMedia("(min-width: 900px)").matches ? "heat" : "table";
  document.documentElement.dataset.matrixShow = asked || known(stored()) || wide;
})();
