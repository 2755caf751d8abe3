// A file dropped anywhere on the page goes to the form that looks at it; one that is chosen goes at once.
const form = document.querySelector("[data-drop]");
const input = form?.querySelector("input[type=file]");
const holdsFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
// Of another field of the page that takes files itself.
const isOthers = (event) => event.target instanceof Element && event.target.closest("input[type=file]") && !form.contains(event.target);

const send = (files) => {
  if (!files.length) return;
  const first = new DataTransfer();
  first.items.add(files[0]);
  input.files = first.files;
  form.requestSubmit();
};

if (form) {
  addEventListener("dragover", (event) => {
    if (!holdsFiles(event) || isOthers(event)) return;
    event.preventDefault();
    form.classList.add("is-over");
  });
  addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) form.classList.remove("is-over");
  });
  addEventListener("drop", (event) => {
    form.classList.remove("is-over");
    if (!holdsFiles(event) || isOthers(event)) return;
    event.preventDefault();
    send(event.dataTransfer.files);
  });
  const chosen = () => {
    if (input.files.length) form.requestSubmit();
  };
  input.addEventListener("change", chosen);
  // A file may be chosen before this script is there.
  chosen();
}
