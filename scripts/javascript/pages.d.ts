// What the compiler cannot know of the pages: which element a selector finds, and what the vendored scripts define.
// A property of an element is not checked; names, imports, calls and plain values are.

interface EventTarget {
  [property: string]: any;
}

interface Event {
  detail?: any;
}

declare const htmx: any;
declare const bootstrap: any;
