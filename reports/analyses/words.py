"""Compare words of texts: of tools' descriptions, and of people's requests."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_WORD: Final = re.compile(r"[^\W\d_]{3,}")
# Identifiers, addresses and links are no words, nor are their parts: ORD-7781, a.b@example.com.
_NO_WORDS: Final = re.compile(r"[a-zA-Z0-9_-]*[0-9][a-zA-Z0-9_-]*|\S+@\S+|\bhttps?://\S+")
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
# Words that say nothing about what is asked for.
_EMPTY: Final = frozenset(
    word
    for line in (
        "about after again all also and any are because been before being but can could did does doing don each else",
        "ever few for from further get gets getting give given gives had has have having her here him his how into its",
        "itself just let like made make makes may more most much must need needs not now off once one only other our",
        "out over own please put same say says see set she should some such take tell than that the their them then",
        "there these they this those through too tool two under until use used user users uses using very want wants",
        "was way were what when where whether which while who whom whose why will with without would yes you your",
        "yours function call calls called return returns actually ago already anything bit currently good great",
        "hello help hey interested know looking lot maybe might nice okay particular particularly quite really",
        "soon someone something still sure thank thanks think today would yeah yet",
    )
    for word in line.split()
)


def words_of(*texts: str) -> dict[str, str]:
    """Return the words that say something, in order, by their form without a plural's s: form -> as it is written.

    Names in snake case and in camel case are taken apart. Words under three letters are left out, and so are the parts
    of identifiers, addresses and links.
    """
    by_stem: dict[str, str] = {}
    for text in texts:
        for word in _WORD.findall(_CAMEL.sub(" ", _NO_WORDS.sub(" ", text).replace("_", " "))):
            form = _form(word)
            if word.casefold() not in _EMPTY and form not in _EMPTY:
                by_stem.setdefault(form, word.casefold())
    return by_stem


def opening(text: str, longest: int = 90) -> str:
    """Return the first sentence of a text, cut between words where it is long."""
    first = re.split(r"(?<=[.!?])\s|\n", " ".join(text.split()), maxsplit=1)[0].rstrip(".")
    return shortened(first, longest)


def shortened(text: str, longest: int = 110) -> str:
    """Return a text on one line, cut between words where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[:longest].rsplit(' ', 1)[0]} …"


def listed(words: Iterable[str], last: str = "and") -> str:
    """Return quoted words as one reads them: “late”, “parcel” and “where”."""
    quoted = [f"“{word}”" for word in words]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} {last} {quoted[-1]}"


def _form(word: str) -> str:
    form = word.casefold()
    return form[:-1] if len(form) > 3 and form.endswith("s") and not form.endswith("ss") else form
