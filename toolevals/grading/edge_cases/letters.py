"""Tells whether texts spell one identifier: composed, decomposed, full width, unaccented, in look-alike letters."""

from __future__ import annotations

import unicodedata

MAX_LENGTH = 2_000
# Letters of other scripts, and marks, that look like ASCII ones (after Unicode Technical Standard 39).
_LOOK_ALIKE = str.maketrans(
    "АВЕЅІЈКМНОРСТУХаеѕіјорсухΑΒΕΖΗΙΚΜΝΟΡΤΥΧοıłŁøØđĐ‘’‚′“”„″‐‑‒–—―−⁄·",
    "ABESIJKMHOPCTYXaesijopcyxABEZHIKMNOPTYXoilLoOdD''''\"\"\"\"-------/.",
)
_LIGATURES = str.maketrans({"ß": "ss", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE"})


def is_other_spelling(one: str, other: str) -> bool:
    """Tell whether two texts, at least one of them beyond ASCII, differ in spelling only; case counts."""
    if one == other or (one.isascii() and other.isascii()) or max(len(one), len(other)) > MAX_LENGTH:
        return False
    return _skeleton(one) == _skeleton(other)


def _skeleton(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text.translate(_LIGATURES))
    kept = (letter for letter in plain if unicodedata.category(letter) not in ("Mn", "Cf"))
    return " ".join("".join(kept).translate(_LOOK_ALIKE).split())
