"""Read the example that drafts are made from: the user's last message, and everything else."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Self

LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class Origin:
    """A conversation that ends with the user's words. `rest` is all else that the agent sees, as text."""

    shown: Mapping[str, Any]
    words: str
    rest: str

    @classmethod
    def of(cls, shown: Any) -> Self | None:
        """Return the origin that an input is; None where the user's plain words are not the end of it."""
        messages = shown.get("messages") if isinstance(shown, Mapping) else None
        if not isinstance(messages, list) or not messages:
            return None
        last = messages[-1]
        if not isinstance(last, Mapping) or last.get("role") != "user" or not isinstance(last.get("content"), str):
            return None
        words = last["content"].strip()
        rest = json.dumps([messages[:-1], shown.get("context")], ensure_ascii=False)
        return cls(shown, words, rest) if words and len(words) + len(rest) <= LONGEST else None

    def with_words(self, words: str) -> dict[str, Any]:
        """Return the input in which the user says this instead."""
        shown: dict[str, Any] = deepcopy(dict(self.shown))
        shown["messages"][-1]["content"] = words
        return shown

    def added(self, sentence: str) -> str:
        """Return the user's words with one more sentence."""
        return f"{self.words}{'' if self.words[-1] in '.!?…' else '.'} {sentence}"

    def once(self, value: str, new: str) -> str | None:
        """Return the words with a value that stands in them once replaced; None where it does not."""
        places = list(re.finditer(_alone(value), self.words))
        return self.words[: places[0].start()] + new + self.words[places[0].end() :] if len(places) == 1 else None

    def everywhere(self, value: str, new: str) -> str | None:
        """Return the words with a value replaced that stands in them and nowhere else; None where that is not so."""
        pattern = _alone(value)
        if not re.search(pattern, self.words) or re.search(pattern, self.rest):
            return None
        return re.sub(pattern, lambda _: new, self.words)


def last_words(shown: Any) -> str:
    """Return the user's last words of an input, as an origin has them; "" where it is none."""
    origin = Origin.of(shown)
    return origin.words if origin else ""


def _alone(value: str) -> str:
    """Return the pattern of a value that is no part of a longer word or number."""
    return rf"(?<![\w.,:-]){re.escape(value)}(?![\w:-]|[.,]\w)"
