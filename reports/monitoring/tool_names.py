"""Shorten names of tools, which come from outside, to names that dashboards can show."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable
from typing import Final

# What is not shown by name. A tool of that name is counted with it.
OTHER: Final = "other"
LONGEST: Final = 100


def shown_names(names: Iterable[str]) -> dict[str, str]:
    """Return what stands for each name; different names stay different."""
    return {name: _shown(name) for name in names}


def _shown(name: str) -> str:
    """Return a name without what is not seen, and not too long; a changed one ends with a part of its hash."""
    seen = "".join(
        "\ufffd" if unicodedata.category(each).startswith(("C", "Z")) and each != " " else each for each in name
    )
    if seen == name and len(name) <= LONGEST:
        return name
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:8]
    return f"{seen[:LONGEST]}… {digest}"
