"""Read verdicts of cheaper checks next to that on the end state, from packed cases."""

from __future__ import annotations

from collections import Counter

from django.core.cache import cache

from reports.analyses.layers import VerdictCounts
from reports.analyses.proxies import FAILED, PASSED, PROXIES, TRUTH, Pairs, ProxyRow, proxy_rows
from reports.queries.grading import verdict_counts
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.runs.counts.packed_cases import LETTERS, packed_cases
from toolevals.runs.models import Grading

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
