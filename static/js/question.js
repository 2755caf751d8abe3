// The page of the questions about one example.
import "./keys.js";
import "./labeling/reading.js";
import "./labeling/search.js";
import "./labeling/talk.js";
