// Single keys of a page, and the sheet that lists them. They rest in fields and while a modifier is held.
const inField = (target) =>
  target.closest("input:not([type=radio]):not([type=checkbox]), textarea, select, [contenteditable]") !== null;

// `map`: key (lower case, or a name such as "Escape") -> what it does; returning false leaves the key to the browser.
export const onKeys = (map) => {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (inField(event.target) || document.querySelector("dialog[open]")) return;
    const act = map[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (act && act(event) !== false) event.preventDefault();
  });
};

export const listKeys = () => {
  const sheet = document.querySelector("[data-keys]");
  const opener = document.querySelector("[data-keys-open]");
  if (!sheet || !opener) return;
  opener.addEventListener("click", () => sheet.showModal());
  sheet.querySelector("[data-keys-close]").addEventListener("click", () => sheet.close());
  onKeys({ "?": () => sheet.showModal() });
};

export const press = (selector) => () => {
  const found = document.querySelector(selector);
  if (!found) return false;
  found.click();
  return true;
};
