"""What a cheaper check is worth: cases by its verdict and by the end state that it stands for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from reports.analyses.rates import Rate, rate

TRUTH: Final = "execution"
# Checks of the calls alone, the strictest first.
PROXIES: Final = ("equivalence", "arguments", "selection", "shape", "schema")
PASSED, FAILED = "passed", "failed"
# (status of the proxy, status of the truth) -> cases
Pairs = Mapping[tuple[str, str], int]


@dataclass(frozen=True, slots=True)
class ProxyRow:
    """One check beside the truth, in the cases that both passed or failed.

    A case is accepted where the check passed it; truly, where the end state is right.
    """

    proxy: str
    truth: str
    true_accepts: int
    false_accepts: int
    false_rejects: int
    true_rejects: int

    @property
    def total(self) -> int:
        """The cases that both passed or failed."""
        return self.true_accepts + self.false_accepts + self.false_rejects + self.true_rejects

    @property
    def cells(self) -> tuple[tuple[str, str, int], ...]:
        """The verdict of the check, that of the truth, and the cases: accepts first, true ones first."""
        return (
            (PASSED, PASSED, self.true_accepts),
            (PASSED, FAILED, self.false_accepts),
            (FAILED, PASSED, self.false_rejects),
            (FAILED, FAILED, self.true_rejects),
        )

    @property
    def precision(self) -> Rate:
        """The share of accepted cases whose end state is right."""
        return rate(self.true_accepts, self.true_accepts + self.false_accepts)

    @property
    def recall(self) -> Rate:
        """The share of cases with a right end state that are accepted."""
        return rate(self.true_accepts, self.true_accepts + self.false_rejects)


def proxy_rows(pairs: Mapping[str, Pairs]) -> tuple[ProxyRow, ...]:
    """Return a row for each check, by its name, that was graded in any case in which the truth was."""
    rows = (_row(name, pairs[name]) for name in PROXIES if name in pairs)
    return tuple(row for row in rows if row.total)


def _row(name: str, pairs: Pairs) -> ProxyRow:
    def count(proxy: str, truth: str) -> int:
        return pairs.get((proxy, truth), 0)

    return ProxyRow(
        name, TRUTH, count(PASSED, PASSED), count(PASSED, FAILED), count(FAILED, PASSED), count(FAILED, FAILED)
    )
