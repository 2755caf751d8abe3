"""How well the called tools' names of one case are the expected ones, whatever their order and arguments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable


def tool_name_f1(expected: Iterable[str], called: Iterable[str]) -> float:
    """Return F1 between the multisets of expected and called names: 2·common/(expected + called), 0..1.

    A name counts as often as it is expected or called. Where nothing is expected and nothing was called it is 1.
    """
    wanted, made = Counter(expected), Counter(called)
    whole = wanted.total() + made.total()
    return 2 * (wanted & made).total() / whole if whole else 1.0
