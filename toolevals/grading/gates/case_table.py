"""Counts cases by what is distinct: a gate's cost grows with the kinds of cases and hardly with their number.

Makes cases as a gate sees them, of grades; and metrics that are groups of others.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import compress
from math import isnan, nan
from typing import Any, Self, get_args

from toolevals.grading.engine.case_findings import open_questions
from toolevals.grading.engine.case_metrics import pairs_name_f1
from toolevals.grading.gates.results import (
    JUDGED,
    PASS_MARK,
    PUBLISHED_JUDGES,
    PUBLISHED_METRICS,
    Failure,
    GateCase,
    Measure,
)
from toolevals.grading.gates.rules import MetricGroup
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.grading.values.verdicts import CaseGrade, Status, Verdict

MEASURES: tuple[Measure, ...] = get_args(Measure)

# The scores of one example's trials, those that a metric arises in; None where no one has answered.
Scores = tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Tally:
    """The number of examples that are alike: `counts` by the kinds of their cases, in order, as places in `kinds`.

    `taken` is what cases of each kind took, as far as it is known.
    """

    kinds: Sequence[GateCase]
    counts: Mapping[tuple[int, ...], int]
    taken: Mapping[Measure, Mapping[int, Sequence[float]]] = field(default_factory=dict)

    def cases(self) -> Iterator[tuple[int, int]]:
        """Yield each kind that occurs, and how many cases are of it."""
        found: Counter[int] = Counter()
        for numbers, count in self.counts.items():
            for number in numbers:
                found[number] += count
        yield from found.items()

    def outcomes(self, metric: str | None, *, marks: bool = False) -> Counter[Scores]:
        """Return how many examples have each scores of a metric, of all metrics together where it is None.

        With `marks` each score is 1 where the case passed and 0 where it failed.
        """
        scores = [
            tuple(kind.mark(name) if marks else kind.score(name) for name in kind.asked(metric)) for kind in self.kinds
        ]
        found: Counter[Scores] = Counter()
        for numbers, count in self.counts.items():
            found[tuple(score for number in numbers for score in scores[number])] += count
        del found[()]
        return found

    def grouped(self, groups: Sequence[str | None]) -> dict[str, Tally]:
        """Return the tally of each group, by the group of each kind; those of None are left out."""
        parts: defaultdict[str, Counter[tuple[int, ...]]] = defaultdict(Counter)
        for numbers, count in self.counts.items():
            members: defaultdict[str, list[int]] = defaultdict(list)
            for number in numbers:
                if (group := groups[number]) is not None:
                    members[group].append(number)
            for group, each in members.items():
                parts[group][tuple(each)] += count
        return {group: replace(self, counts=counts) for group, counts in parts.items()}


# Not slotted: what is counted is kept.
@dataclass(frozen=True, eq=False)
class CaseTable:
    """The cases of a run, in order.

    `kinds` are the distinct cases, without whose they are, and `names` the examples. Each case has a place in `names`
    in `examples`, and one in `kinds` in `numbers`. `measures` are what each case took, NaN where no one says it; one
    that no case says may be left out.
    """

    kinds: Sequence[GateCase]
    names: Sequence[str]
    examples: Sequence[int]
    numbers: Sequence[int]
    measures: Mapping[Measure, Sequence[float]] = field(default_factory=dict)

    @classmethod
    def of(cls, cases: Iterable[GateCase]) -> Self:
        """Return cases as a table."""
        kinds: dict[tuple[Any, ...], int] = {}
        distinct: list[GateCase] = []
        names: dict[str, int] = {}
        examples, numbers = array("I"), array("I")
        runtimes, costs, tokens = array("d"), array("d"), array("d")
        for case in cases:
            number = kinds.setdefault(_key(case), len(kinds))
            if number == len(distinct):
                distinct.append(replace(case, example="", trial=0, runtime_ms=None, cost=None, tokens=None))
            runtimes.append(nan if case.runtime_ms is None else case.runtime_ms)
            costs.append(nan if case.cost is None else case.cost)
            tokens.append(nan if case.tokens is None else case.tokens)
            examples.append(names.setdefault(case.example, len(names)))
            numbers.append(number)
        return cls(distinct, list(names), examples, numbers, {"latency": runtimes, "cost": costs, "tokens": tokens})

    @classmethod
    def joined(cls, tables: Sequence[CaseTable]) -> Self:
        """Return the cases of several tables as one, in order."""
        kinds: dict[tuple[Any, ...], int] = {}
        distinct: list[GateCase] = []
        names: dict[str, int] = {}
        examples, numbers = array("I"), array("I")
        measures: dict[Measure, array[float]] = {name: array("d") for name in MEASURES}
        for table in tables:
            kind_numbers = []
            for kind in table.kinds:
                number = kinds.setdefault(_key(kind), len(kinds))
                if number == len(distinct):
                    distinct.append(kind)
                kind_numbers.append(number)
            places = [names.setdefault(name, len(names)) for name in table.names]
            examples.extend(map(places.__getitem__, table.examples))
            numbers.extend(map(kind_numbers.__getitem__, table.numbers))
            for name, values in measures.items():
                values.extend(table.measures.get(name) or array("d", [nan]) * len(table.numbers))
        return cls(distinct, list(names), examples, numbers, measures)

    def __iter__(self) -> Iterator[GateCase]:
        """Yield each case, without its trial and its runtime."""
        for example, number in zip(self.examples, self.numbers, strict=True):
            yield replace(self.kinds[number], example=self.names[example])

    def reading(self, sources: Mapping[str, str]) -> CaseTable:
        """Return the same cases, in which these metrics answer the published names."""
        return replace(self, kinds=[replace(kind, sources=sources) for kind in self.kinds])

    def merged(self, change: Callable[[GateCase], GateCase]) -> CaseTable:
        """Return the same cases, each kind changed, where kinds may become equal."""
        merged = CaseTable.of(map(change, self.kinds))
        numbers = array("I", map(merged.numbers.__getitem__, self.numbers))
        return CaseTable(merged.kinds, self.names, self.examples, numbers, self.measures)

    @cached_property
    def patterns(self) -> tuple[Sequence[int], Sequence[tuple[int, ...]]]:
        """The pattern of each example, and the kinds that each pattern stands for, in order; pattern 0 is no case."""
        return chained(len(self.names), zip(self.examples, self.numbers, strict=True))

    @cached_property
    def tally(self) -> Tally:
        """All examples, counted."""
        by_example, patterns = self.patterns
        counts = {patterns[pattern]: count for pattern, count in Counter(by_example).items()}
        return Tally(self.kinds, counts, self.taken)

    @cached_property
    def taken(self) -> Mapping[Measure, Mapping[int, Sequence[float]]]:
        """The amounts that the cases of each kind took, as far as it is known."""
        found: dict[Measure, Mapping[int, Sequence[float]]] = {}
        for name, values in self.measures.items():
            by_kind: defaultdict[int, array[float]] = defaultdict(lambda: array("d"))
            for number, value in zip(self.numbers, values, strict=True):
                if not isnan(value):
                    by_kind[number].append(value)
            found[name] = dict(by_kind)
        return found

    def missing(
        self, measure: Measure, wanted: Sequence[bool], meets: Callable[[float], bool], *, unknown: bool
    ) -> Iterator[str]:
        """Yield the example of each case of the wanted kinds that took what does not meet a condition, in order.

        With `unknown` also those of whose cases no one says what they took.
        """
        values = self.measures.get(measure) or array("d", [nan]) * len(self.numbers)
        for example, number, value in zip(self.examples, self.numbers, values, strict=True):
            if wanted[number] and (unknown if isnan(value) else not meets(value)):
                yield self.names[example]

    def named(self, groups: Sequence[Sequence[str]]) -> dict[str, list[str]]:
        """Return the names of each group's examples, each once and in order, by the groups of each kind."""
        found: defaultdict[str, dict[int, None]] = defaultdict(dict)
        wanted = map([bool(each) for each in groups].__getitem__, self.numbers)
        for example, number in compress(zip(self.examples, self.numbers, strict=True), wanted):
            for group in groups[number]:
                found[group][example] = None
        return {group: [self.names[example] for example in examples] for group, examples in found.items()}


def _key(case: GateCase) -> tuple[Any, ...]:
    """Return what makes a case distinct, whosoever it is."""
    scores, passed, strata = case.scores.items(), case.passed.items(), case.strata.items()
    return tuple(scores), tuple(passed), case.tool, case.called, tuple(strata), case.failures


def chained(size: int, numbers: Iterable[tuple[int, int]]) -> tuple[array[int], list[tuple[int, ...]]]:
    """Return a pattern for each of `size` places, and the numbers that each pattern stands for, from (place, number).

    The numbers of a place keep their order. Pattern 0 is that of a place without any.
    """
    by_place = array("I", bytes(4 * size))
    patterns: list[tuple[int, ...]] = [()]
    longer: dict[tuple[int, int], int] = {}
    for place, number in numbers:
        step = by_place[place], number
        pattern = longer.get(step)
        if pattern is None:
            pattern = longer[step] = len(patterns)
            patterns.append((*patterns[step[0]], number))
        by_place[place] = pattern
    return by_place, patterns


_SCORES: Mapping[Status, float | None] = {"passed": 1.0, "failed": 0.0, "unscored": None, "errored": None}
# Scored where the shape is, unless a judge is still to be heard.
_JUDGED_LATER = ("arguments", "equivalence")


def verdict_scores(statuses: Mapping[str, Status]) -> dict[str, float | None]:
    """Return the scores of the verdicts that arise in a case: 1 passed, 0 failed, None no one knows.

    A verdict that is unscored because there is nothing for it is left out: no arguments without the right call, no
    recovery where no tool failed. It is None where someone has still to answer (no prediction, a judge), and where its
    grader broke down. Where a layer's rules leave a question, its statuses do not say: `open_questions` does.
    """
    return {name: _SCORES[statuses[name]] for name in VERDICT_NAMES if _arises(name, statuses)}


def _arises(name: str, statuses: Mapping[str, Status]) -> bool:
    if statuses[name] != "unscored" or name == "outcome" or not _is_scored(statuses["selection"]):
        return True
    return name in _JUDGED_LATER and _is_scored(statuses["shape"])


def _is_scored(status: Status) -> bool:
    return status in ("passed", "failed")


@lru_cache(maxsize=4096)
def _scored(
    statuses: tuple[tuple[str, Status], ...], values: tuple[tuple[str, float | None], ...]
) -> tuple[Mapping[str, float | None], Mapping[str, bool]]:
    """Return the scores of verdicts, and which of them passed. The same few come again and again."""
    status_of, value_of_name = dict(statuses), dict(values)
    scores = verdict_scores(status_of)
    for name in [name for name, score in scores.items() if score == 0]:
        scores[name] = value_of_name[name] or 0.0
    return scores, {name: status_of[name] == "passed" for name, score in scores.items() if score is not None}


def case_of_grade(
    example: str,
    grade: CaseGrade,
    *,
    trial: int = 0,
    strata: Mapping[str, str] | None = None,
    runtime_ms: float | None = None,
    cost: float | None = None,
    tokens: float | None = None,
    due: str = "",
    metrics: Mapping[str, Verdict] | None = None,
) -> GateCase:
    """Return a graded case with its verdicts, its `metrics`, `tool_name_f1`, and what judges said (`judged:RUBRIC`).

    Scores are values, and pass where their verdict does. A judge's metric does not arise where nothing in a scored
    case is for it to say, and another's where it is unscored in one.

    `due` is the class that it is counted under where it has no place in the matrix, as without a prediction.
    """
    known = _scored(tuple(grade.statuses.items()), tuple(grade.values.items()))
    scores, passed = dict(known[0]), dict(known[1])
    for name, verdict in (metrics or {}).items():
        if metric_arises(verdict.status, grade.statuses["selection"]):
            scores[name] = verdict.value
            passed[name] = verdict.status == "passed"
    scores |= dict.fromkeys(open_questions(grade))
    if not _is_scored(grade.statuses["selection"]):
        scores["tool_name_f1"] = None
    elif grade.expected:
        scores["tool_name_f1"] = pairs_name_f1((pair.expected, pair.actual) for pair in grade.pairs)
    for name, judged in grade.judged.items():
        if judged.asked or judged.status != "unscored" or not _is_scored(grade.statuses["selection"]):
            scores[f"{JUDGED}{name}"] = value_of(judged.status, judged.value)
            passed[f"{JUDGED}{name}"] = judged.status == "passed"
    episodes = grade.detail("recovery").get("episodes", ())
    return GateCase(
        example,
        scores,
        trial,
        grade.expected or due,
        grade.actual,
        strata or {},
        runtime_ms,
        passed,
        tuple(Failure(each["tool"], each["error_class"], each["score"]) for each in episodes),
        cost=cost,
        tokens=tokens,
    )


def metric_arises(status: Status, selection: Status) -> bool:
    """Return whether a metric arises in a case: not where it is unscored though the case is scored."""
    return status != "unscored" or not _is_scored(selection)


def value_of(status: Status, value: float | None) -> float | None:
    """Return the score of a judge's verdict: its value where there is one."""
    return _SCORES[status] if _SCORES[status] is None or value is None else value


def published_sources(*runs: CaseTable | None) -> dict[str, str]:
    """Return which metric answers each published name: its judge where every run has heard it, else the rule."""
    kinds = [run.kinds for run in runs if run is not None]

    def is_heard(judge: str) -> bool:
        return bool(kinds) and all(any(judge in kind.scores for kind in each) for each in kinds)

    judges = {name: judge for name, judge in PUBLISHED_JUDGES.items() if is_heard(judge)}
    return {**PUBLISHED_METRICS, **judges}


def with_groups(cases: CaseTable, groups: Sequence[MetricGroup]) -> CaseTable:
    """Return the cases with the score of each group next to those of its metrics.

    A metric that does not arise in a case is left out of the group there; where none arises the group does not. Where
    one arises and no one has scored it, the group is unscored too.
    """
    if not groups:
        return cases
    return cases.merged(lambda kind: _with_groups(kind, groups))


def _with_groups(case: GateCase, groups: Sequence[MetricGroup]) -> GateCase:
    """Return the case with the groups' scores. A group passes where what its metrics passed comes to a pass."""
    scores, passed = dict(case.scores), dict(case.passed)
    for group in groups:
        asked = [metric for metric in group.metrics if case.asks(metric)]
        if not asked:
            continue
        values = {metric: case.score(metric) for metric in asked}
        scores[group.name] = None
        if None not in values.values():
            scores[group.name] = group.value(values).value
            marks = group.value({metric: case.mark(metric) for metric in asked}).value
            passed[group.name] = marks is not None and marks >= PASS_MARK
    return replace(case, scores=scores, passed=passed)
