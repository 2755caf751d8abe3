// Puts the next example in the place of this one, with its address, its title and the focus on its first control.
const starters = [];
// Calls `start(main)` now and after every swap.
export const onMain = (start) => {
  starters.push(start);
  start(document.getElementById("main"));
};

const focusFirst = (main) => {
  const radios = [...main.querySelectorAll("input[name=tool], [data-choose]")];
  const first = radios.find((radio) => radio.checked) ?? radios[0] ?? main;
  first.focus({ preventScroll: true });
};

let swapping = false;
// While true, events come from fields that are on their way out.
export const isSwapping = () => swapping;
export const whileSwapping = (swap) => {
  swapping = true;
  try {
    return swap();
  } finally {
    swapping = false;
  }
};

export const swapMain = (html, url, { push = true } = {}) => {
  if (!html.includes('id="main"')) {
    location.assign(url || location.href);
    return;
  }
  if (url && push) history.pushState({}, "", url);
  whileSwapping(() => {
    // A field that is removed while it has the focus still says that it changed.
    document.activeElement?.blur();
    window.htmx.swap("#main", html, { swapStyle: "outerHTML", swapDelay: 0, settleDelay: 0 });
  });
  const main = document.getElementById("main");
  document.title = `${main.dataset.title} · toolevals`;
  for (const count of document.querySelectorAll(".topbar [aria-current] .count")) {
    count.textContent = main.dataset.waiting ?? count.textContent;
    count.hidden = count.textContent === "0";
  }
  window.scrollTo(0, 0);
  for (const start of starters) start(main);
  focusFirst(main);
};
