"""Cut a vendored stylesheet to the rules that pages use: those of elements, and those of a few classes."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Of Bootstrap. A page that uses another class of it adds the name here, and runs `python -m scripts.vendor_assets`.
CLASSES = frozenset((
    "active", "btn", "btn-primary", "btn-sm", "d-flex", "d-inline", "disabled", "flex-wrap",
    "form-check-input", "form-control", "form-select", "gap-2", "gap-3", "is-invalid", "mark", "mb-2", "pb-2",
    "pb-3", "pt-2", "px-3", "small", "visually-hidden", "visually-hidden-focusable",
))  # fmt: skip
_CLASS = re.compile(r"\.([A-Za-z][\w-]*)")
# A comma that parts selectors, not one within `:not(...)`.
_COMMA = re.compile(r",(?![^(]*\))")


def rules_in_use(content: bytes) -> bytes:
    """Return a minified stylesheet without the rules that name another class; its licence comment stays."""
    return "".join(_kept(content.decode())).encode()


def _kept(text: str) -> Iterator[str]:
    for head, body in _blocks(text):
        comment, _, selectors = head.rpartition("*/")
        yield f"{comment}*/" if comment else ""
        if not body:
            yield selectors
        elif selectors.startswith(("@media", "@supports")):
            inside = "".join(_kept(body[1:-1]))
            yield f"{selectors}{{{inside}}}" if inside else ""
        elif not selectors.startswith("@"):
            used = [each for each in _COMMA.split(selectors) if CLASSES.issuperset(_CLASS.findall(each))]
            yield f"{','.join(used)}{body}" if used else ""


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """Yield what stands before each outer block, and the block with its braces; at the end what is left."""
    start = place = depth = opened = 0
    for place, sign in enumerate(text):
        if sign == "{":
            opened = opened if depth else place
            depth += 1
        elif sign == "}":
            depth -= 1
            if not depth:
                yield text[start:opened], text[opened : place + 1]
                start = place + 1
        elif sign == ";" and not depth:
            yield text[start : place + 1], ""
            start = place + 1
    yield text[start:], ""
