"""Where quoted words come from: texts of results, lists of their properties, and what was said."""

from __future__ import annotations

from dataclasses import dataclass

from toolevals.grading.result_use.sources import ResultText, Sources
from toolevals.grading.result_use.values import Attribution

# Quotations of a transcript that are looked for inside fields.
MAX_QUOTATIONS = 100


@dataclass(slots=True)
class Quotations:
    """Looks for quoted words, in lower case and with single spaces."""

    sources: Sources
    _searched: int = 0

    def in_results(self, words: str) -> list[int]:
        """Return the text fields that hold the words, or are held by them."""
        bare = words.strip(" .,!?:;")
        if found := self.sources.index.get(bare):
            return found
        self._searched += 1
        if self._searched > MAX_QUOTATIONS:
            return []
        if "," in bare and (described := self._described(bare)):
            return described
        for result in reversed(self.sources.results):
            if bare in result.payload.folded:
                for leaf in result.payload.leaves:
                    if isinstance(leaf.value, str) and len(leaf.value) >= len(bare) and bare in leaf.value.casefold():
                        return self._entries_at(result, leaf.pointer)
        return []

    def spoken(self, words: str) -> Attribution | None:
        """Return the message of a user or the context that holds the words."""
        bare = words.strip(" .,!?:;")
        for message, text in self.sources.folded_texts():
            if bare in text:
                return Attribution("user" if message else "context", message, rule="equal")
        return None

    def _described(self, words: str) -> list[int]:
        """Return fields of the newest results among whose words all those of a list of properties are."""
        wanted = frozenset(word.strip(" .") for part in words.split(",") for word in part.split())
        for result in reversed(self.sources.results):
            if all(word in result.payload.described for word in wanted):
                return list(result.values[:1])
        return []

    def _entries_at(self, result: ResultText, pointer: str) -> list[int]:
        return [entry for entry in result.values if self.sources.values[entry].pointer == pointer]
