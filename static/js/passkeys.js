// Asks the browser for a passkey, and sends its answer with the form that the button stands in.
const read = async (form) => {
  const { optionsUrl } = form.dataset;
  if (!optionsUrl) return JSON.parse(document.getElementById("passkey-options").textContent);
  const response = await fetch(optionsUrl, { headers: { Accept: "application/json" }, cache: "no-store" });
  if (!response.ok) throw new TypeError(`the server answered ${response.status}`);
  return response.json();
};

const ask = async (form) => {
  const options = await read(form);
  if (form.dataset.passkey === "get") {
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options.request_options.publicKey);
    return navigator.credentials.get({ publicKey });
  }
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options.creation_options.publicKey);
  // A passkey is found without its person's address, and knows its person.
  Object.assign(publicKey.authenticatorSelection, { residentKey: "required", requireResidentKey: true, userVerification: "required" });
  return navigator.credentials.create({ publicKey });
};

const send = async (form) => {
  const problem = form.querySelector("[data-passkey-problem]");
  problem.hidden = true;
  try {
    form.elements.credential.value = JSON.stringify(await ask(form));
    form.submit();
  } catch {
    problem.textContent = "No passkey was used. Try again, or sign in another way.";
    problem.hidden = false;
  }
};

if (window.PublicKeyCredential?.parseRequestOptionsFromJSON) {
  for (const form of document.querySelectorAll("form[data-passkey]")) {
    form.hidden = false;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      send(form);
    });
  }
  for (const none of document.querySelectorAll("[data-passkey-none]")) none.hidden = true;
}
