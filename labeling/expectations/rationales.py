"""Tell whether a rationale says more than the beginning that a page offers."""

from __future__ import annotations

# What rationales often say; a beginning, to be gone on with.
PHRASES = (
    "The guideline says so: ",
    "The user said so: ",
    "The tool's description says so: ",
    "No one asked for it: ",
    "Both readings are fair: ",
)
ONLY_BEGUN = "only begins a rationale: go on after the colon and say what makes it so"


def is_only_begun(text: str) -> bool:
    """Tell whether a text holds offered beginnings, and no other letter or digit."""
    rest = text.casefold()
    for phrase in PHRASES:
        rest = rest.replace(phrase.strip().casefold(), "")
    return len(rest) < len(text.casefold()) and not any(letter.isalnum() for letter in rest)
