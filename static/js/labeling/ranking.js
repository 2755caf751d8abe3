// How well the name of a tool fits what is looked for: the name itself first, then how it begins, then a part of it that
// begins a word, then any part, then its words in any order; last what the description says.
const wordsOf = (text) => text.replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2").toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean);

const nameTests = [
  ({ name, asked }) => name === asked,
  ({ words, askedWords }) => words === askedWords,
  ({ name, asked, words, askedWords }) => name.startsWith(asked) || (askedWords && words.startsWith(askedWords)),
  ({ words, askedWords }) => askedWords && ` ${words}`.includes(` ${askedWords}`),
  ({ name, asked, words, askedWords }) => name.includes(asked) || (askedWords && words.replaceAll(" ", "").includes(askedWords.replaceAll(" ", ""))),
  ({ name, terms }) => terms.every((term) => name.includes(term)),
];

// Returns the place of a name and a description among such ranks, 0 the best; -1 where they do not fit.
export const rankOf = (text, name, description) => {
  const asked = text.trim().toLowerCase();
  const terms = asked.split(/\s+/);
  const told = { asked, terms, askedWords: wordsOf(text).join(" "), name: name.trim().toLowerCase(), words: wordsOf(name).join(" ") };
  const rank = nameTests.findIndex((test) => test(told));
  if (rank >= 0) return rank;
  const whole = `${told.name} ${description.toLowerCase()}`;
  return terms.every((term) => whole.includes(term)) ? nameTests.length : -1;
};
