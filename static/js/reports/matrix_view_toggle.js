// Heat map or table, on pages that draw both: which one shows, the button that swaps them, and what is remembered.
import "../keys.js";

const root = document.documentElement;

const show = (kind, heat) => {
  root.dataset.matrixShow = kind;
  try {
    localStorage.setItem("matrix-show", kind);
  } catch {
    // not kept, but shown
  }
  if (kind === "heat") heat?.draw();
};

// `heat` is null where no chart can be drawn: the table stands then.
export const showing = (heat) => {
  document
    .querySelector("[data-show-other]")
    .addEventListener("click", () => show(root.dataset.matrixShow === "heat" || !heat ? "table" : "heat", heat));
  if (root.dataset.matrixShow === "heat" && heat) heat.draw();
  else root.dataset.matrixShow = "table";
};
