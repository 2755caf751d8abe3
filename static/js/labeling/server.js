// Requests of the work pages: form fields there, a fragment of the page or JSON back. Nothing counts as taken but what the
// server acknowledges by the id under which it was sent.
import { person, SignedOut, signedOut, token, whoIsIn } from "../session.js";

export { SignedOut };

// The fields of a form as pairs of texts, without the token, and without questions, which are sent by themselves.
export const fieldsOf = (form) =>
  [...new FormData(form)].filter(([name, value]) => name !== "csrfmiddlewaretoken" && !name.startsWith("comment:") && typeof value === "string");
// Seconds of work count up by themselves: they are no change.
export const contentOf = (fields) => JSON.stringify(fields.filter(([name]) => name !== "seconds"));

// `crypto.randomUUID` is missing where the page is not on a secure address.
export const newId = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

// The server could not be reached (status 0), is not ready, or gave an answer that says nothing about what was sent.
export class Unavailable extends Error {
  constructor(status, retryAfter = 0) {
    super(status ? `the server answered ${status}` : "the server cannot be reached");
    this.status = status;
    // Seconds.
    this.retryAfter = retryAfter;
  }
}

const LONGEST = 3600;
const secondsOf = (text) => {
  const seconds = /^\d+$/.test(text ?? "") ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Math.min(Math.max(seconds || 0, 0), LONGEST);
};

const codeOf = async (response) => {
  try {
    return (await response.clone().json()).code;
  } catch {
    return "";
  }
};

const reach = async (work) => {
  try {
    return await work();
  } catch (error) {
    throw error.name === "AbortError" ? error : new Unavailable(0);
  }
};

const ask = async (url, options, isFirst = true) => {
  const headers = { ...options.headers, "HX-Request": "true", "X-CSRFToken": token(), "X-Person": person() };
  const response = await reach(() => fetch(url, { ...options, headers }));
  const { status } = response;
  if (status === 401) {
    signedOut({ another: (await codeOf(response)) === "another_person" });
    throw new SignedOut();
  }
  if (status === 403 && isFirst && (await codeOf(response)) === "csrf") {
    await reach(whoIsIn);
    return ask(url, options, false);
  }
  if (status >= 500 || status === 429 || status === 408) throw new Unavailable(status, secondsOf(response.headers.get("Retry-After")));
  return response;
};

const ids = new WeakMap();

// Sends fields. Throws Unavailable, SignedOut where the session has ended, and what `fetch` throws when it is aborted.
/** @param {string} url @param {string[][]} fields @param {{ signal?: AbortSignal, id?: string }} [options] */
export const post = async (url, fields, { signal, id = newId() } = {}) => {
  const response = await ask(url, { method: "POST", body: new URLSearchParams(fields), headers: { "X-Submission": id }, signal });
  ids.set(response, id);
  return response;
};

// Whether the server says that it has taken what was sent: this very submission.
export const isAccepted = (response) => response.ok && response.headers.get("X-Accepted") === ids.get(response);

// Returns a part of a page. Throws as `post` does.
export const get = async (url) => {
  const response = await ask(url, {});
  if (!response.ok || response.redirected) throw new Unavailable(response.status);
  return response;
};

export const isJson = (response) => (response.headers.get("Content-Type") ?? "").includes("json");
