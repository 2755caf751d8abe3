// Requests of the work pages: form fields there, a fragment of the page or JSON back.
const token = () => document.cookie.match(/(?:^|; )csrftoken=([^;]*)/)?.[1] ?? document.querySelector("[name=csrfmiddlewaretoken]")?.value ?? "";

// The fields of a form as pairs of texts, without the token, and without questions, which are sent by themselves.
export const fieldsOf = (form) =>
  [...new FormData(form)].filter(([name, value]) => name !== "csrfmiddlewaretoken" && !name.startsWith("comment:") && typeof value === "string");

// Whose page this is: somebody else may have signed in meanwhile in another tab, and must not act in this one's name.
const person = () => document.getElementById("main")?.dataset.user ?? "";

export class SignedOut extends Error {}

// Sends fields. Throws what `fetch` throws where the server can't be reached or is down, SignedOut where it asks who we are.
export const post = async (url, fields, { signal } = {}) => {
  const response = await fetch(url, {
    method: "POST",
    body: new URLSearchParams(fields),
    headers: { "HX-Request": "true", "X-CSRFToken": token(), "X-Person": person() },
    signal,
  });
  return checked(response);
};

export const get = async (url) => checked(await fetch(url, { headers: { "HX-Request": "true" } }));

const checked = (response) => {
  if (response.status >= 500) throw new TypeError(`the server answered ${response.status}`);
  const isPage = response.redirected && new URL(response.url).searchParams.has("next");
  if (response.status === 403 || isPage) throw new SignedOut();
  return response;
};

export const isJson = (response) => (response.headers.get("Content-Type") ?? "").includes("json");
