"""Draws a badge: a small SVG that says whether a gate is passed. It holds its own colours, and text for readers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from xml.sax.saxutils import escape

# White on these is readable: at least 4.5 to 1.
COLOURS: Final[Mapping[str, str]] = {
    "passed": "#1a7f4b",
    "warned": "#8a5a00",
    "failed": "#b3261e",
    "unanswered": "#5f5f66",
    "not held yet": "#5f5f66",
}
_LABEL: Final = "gate"
# Of a letter of Verdana at 11 px; the others are about 7 wide.
_NARROW: Final = {"f": 4, "i": 3, "l": 3, "t": 5, " ": 4, "w": 9}
_PADDING: Final = 12

_SVG: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" aria-label="{words}">'
    "<title>{words}</title>"
    '<rect width="{width}" height="20" rx="3" fill="{colour}"/>'
    '<path d="M3 0h{inner}v20H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3z" fill="#3b3b40"/>'
    '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">'
    '<text x="{left}" y="14" textLength="{label_length}">{label}</text>'
    '<text x="{right}" y="14" textLength="{length}">{status}</text></g></svg>\n'
)


def badge_svg(status: str) -> bytes:
    """Return the badge of a gate's status; an empty one says that none was held yet."""
    status = status or "not held yet"
    label_length, length = (sum(_NARROW.get(letter, 7) for letter in words) for words in (_LABEL, status))
    label_width = label_length + _PADDING
    width = label_width + length + _PADDING
    return _SVG.format(
        width=width,
        words=escape(f"{_LABEL}: {status}"),
        colour=COLOURS.get(status, COLOURS["unanswered"]),
        inner=label_width - 3,
        left=label_width / 2,
        right=label_width + (length + _PADDING) / 2,
        label=_LABEL,
        label_length=label_length,
        length=length,
        status=escape(status),
    ).encode()
