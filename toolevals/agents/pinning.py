"""Tell whether a model's name stands for one snapshot, or for whatever its provider serves under it today."""

from __future__ import annotations

import re
from datetime import date

# 2026-01-31, 20260131: a day.
_DAY = re.compile(r"(?<!\d)(20\d{2})-?(\d{2})-?(\d{2})(?!\d)")
# Providers' short forms at the end of a name: MMDD (0613) or YYMM (2411).
_SHORT = re.compile(r"[-@:](\d{2})(\d{2})$")
# A content hash or a commit.
_HASH = re.compile(r"(?:sha256:|[@:_-])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{12,64}$", re.IGNORECASE)
_FLOATING = re.compile(r"(?:^|[-:@/])latest$", re.IGNORECASE)

WHY = (
    "is an alias: what answers under it can change without notice, and scores with it. Name a snapshot, with its date "
    "(such as model-2026-01-31) or its hash (such as model@sha256:…)"
)


def is_pinned(model: str) -> bool:
    """Tell whether a model's name carries a date or a hash, by which providers name snapshots."""
    name = model.strip()
    if _FLOATING.search(name):
        return False
    return bool(_HASH.search(name)) or any(_is_day(*match.groups()) for match in _DAY.finditer(name)) or _short(name)


def _is_day(year: str, month: str, day: str) -> bool:
    try:
        date(int(year), int(month), int(day))
    except ValueError:
        return False
    return True


def _short(name: str) -> bool:
    match = _SHORT.search(name)
    if match is None:
        return False
    first, second = int(match[1]), int(match[2])
    return (1 <= first <= 12 and 1 <= second <= 31) or (20 <= first <= 99 and 1 <= second <= 12)
