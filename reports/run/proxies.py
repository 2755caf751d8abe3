"""Work out what a cheaper check is worth: cases by its verdict and by the end state that it stands for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from django.core.cache import cache

from reports.cases.queries import verdict_counts
from reports.rates import ExampleSums, Rate, rate
from reports.run.analysis import VerdictCounts
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.runs.aggregates.packed_cases import LETTERS, packed_cases
from toolevals.runs.models import Grading

TRUTH: Final = "execution"
# Checks of the calls alone, the strictest first.
PROXIES: Final = ("equivalence", "arguments", "selection", "shape", "schema")
PASSED, FAILED = "passed", "failed"
# (status of the proxy, status of the truth) of each case of an example
Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ProxyRow:
    """One check next to the truth, in the cases that both passed or failed.

    A case is accepted where the check passed it; truly, where the end state is right.
    """

    proxy: str
    truth: str
    true_accepts: int
    false_accepts: int
    false_rejects: int
    true_rejects: int
    # Of several trials an example, under "precision" and "recall".
    sums: Mapping[str, ExampleSums] = field(default_factory=dict)

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
        return rate(self.true_accepts, self.true_accepts + self.false_accepts, self.sums.get("precision"))

    @property
    def recall(self) -> Rate:
        """The share of cases with a right end state that are accepted."""
        return rate(self.true_accepts, self.true_accepts + self.false_rejects, self.sums.get("recall"))


def proxy_rows(examples: Mapping[str, Mapping[Pairs, int]], *, several: bool) -> tuple[ProxyRow, ...]:
    """Return a row for each check, by its name, that was graded in any case in which the truth was.

    `examples` are the pairs of verdicts of an example's cases, and how many examples have these; `several` says whether
    any has several cases.
    """
    rows = (_row(name, examples[name], several) for name in PROXIES if name in examples)
    return tuple(row for row in rows if row.total)


def _row(name: str, examples: Mapping[Pairs, int], several: bool) -> ProxyRow:
    counts: Counter[tuple[str, str]] = Counter()
    tallies: dict[str, Counter[tuple[int, int]]] = {"precision": Counter(), "recall": Counter()}
    for pairs, count in examples.items():
        said = Counter(pairs)
        for pair, cases in said.items():
            counts[pair] += cases * count
        right = said[PASSED, PASSED]
        tallies["precision"][right + said[PASSED, FAILED], right] += count
        tallies["recall"][right + said[FAILED, PASSED], right] += count
    cells = counts[PASSED, PASSED], counts[PASSED, FAILED], counts[FAILED, PASSED], counts[FAILED, FAILED]
    sums = {of: ExampleSums.of(each) for of, each in tallies.items()} if several else {}
    return ProxyRow(name, TRUTH, *cells, sums)


_STATUS = {letter: status for status, letter in LETTERS.items()}


def grading_proxies(grading: Grading, counts: VerdictCounts | None = None) -> tuple[ProxyRow, ...]:
    """Return what each check of the calls is worth in a finished grading, which is kept; nothing without end states.

    `counts` are the grading's counted verdicts, where they are loaded.
    """
    truths = (verdict_counts(grading) if counts is None else counts).get(TRUTH, {})
    if not truths.get(PASSED, 0) + truths.get(FAILED, 0):
        return ()
    key = f"reports:proxies:sums:{grading.pk}"
    rows: tuple[ProxyRow, ...] | None = cache.get(key)
    if rows is None:
        rows = proxy_rows(_pairs(grading), several=grading.run.trials > 1)
        cache.set(key, rows, timeout=24 * 3600)
    return rows


def _pairs(grading: Grading) -> dict[str, Counter[Pairs]]:
    packed = packed_cases(grading)
    patterns = packed.outcome_patterns
    places = {name: VERDICT_NAMES.index(name) for name in (*PROXIES, TRUTH)}
    pairs: dict[str, Counter[Pairs]] = {name: Counter() for name in PROXIES}
    for number, count in Counter(patterns.numbers).items():
        letters = [packed.letters_of(trial) for trial in patterns.distinct[number] if trial]
        said = [{name: _STATUS[each[place]] for name, place in places.items()} for each in letters]
        for name in PROXIES:
            pairs[name][tuple((each[name], each[TRUTH]) for each in said)] += count
    return pairs
