"""The cases of a grading as a gate sees them, read at once and kept small: equal scores and strata are one object."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final
from uuid import UUID

from django.db.models import Q

from labeling.models import Example
from toolevals.grading.gates.cases import JUDGED, pairs_name_f1, verdict_scores
from toolevals.grading.gates.rules import Gate
from toolevals.grading.gates.values import GateCase
from toolevals.grading.verdicts import VERDICT_NAMES
from toolevals.runs.models import AlignedPair, CaseGrade, Grading, JudgedCase
from toolevals.runs.services.due import due_classes

CHUNK: Final = 2000
# So many cases are read between two signs of progress.
TOLD: Final = 20_000
# Kept with the case as they were when it was graded.
_HELD = ("bucket", "difficulty")
_EXAMPLE = "transcript__entry__revision__example__"
_BESIDE = ("pk", f"{_EXAMPLE}external_id", "transcript__trial", "expected", "actual", "transcript__latency_ms", *_HELD)

_Extra = Mapping[UUID, dict[str, float | None]]
_JUDGED_SCORES = {"passed": 1.0, "failed": 0.0}


def grading_cases(grading: Grading, gate: Gate, progress: Callable[[int], None] = lambda _: None) -> list[GateCase]:
    """Return a grading's cases with what the gate asks of them, in the order of their rows.

    `progress` is told now and then how many are read so far; what it raises ends the reading.
    """
    wanted = _Wanted(gate)
    f1 = _name_f1(grading) if wanted.name_f1 else {}
    judged = _judged(grading) if wanted.judges else {}
    due = _due(grading) if wanted.tools else {}
    found: list[GateCase] = []
    for case in _cases(grading, wanted, f1, judged, due):
        found.append(case)
        if len(found) % TOLD == 0:
            progress(len(found))
    return found


class _Wanted:
    """What a gate asks beyond verdicts: it is read only then."""

    def __init__(self, gate: Gate) -> None:
        named = {*gate.metrics, *(metric for group in gate.groups for metric in group.metrics)}
        named |= {metric for rule in gate.regressions for metric in rule.metrics}
        named |= {rule.metric for rule in gate.consistency}
        every = gate.thresholds.default_pass_rate is not None
        every = every or any(assertion.template is None for assertion in gate.assertions)
        self.name_f1 = every or "tool_name_f1" in named
        self.judges = every or any(name.startswith(JUDGED) for name in named)
        self.strata = tuple(name for name in Example.STRATA if name in gate.strata and name not in _HELD)
        self.tools = gate.is_per_tool


def _cases(
    grading: Grading, wanted: _Wanted, f1: Mapping[UUID, float], judged: _Extra, due: Mapping[UUID, str]
) -> Iterator[GateCase]:
    columns = (*_BESIDE, *VERDICT_NAMES, *(f"{_EXAMPLE}{name}" for name in wanted.strata))
    scores = _Scores()
    strata: dict[tuple[str, ...], dict[str, str]] = {}
    names = (*_HELD, *wanted.strata)
    rows = CaseGrade.objects.filter(grading=grading).order_by("pk").values_list(*columns)
    first, after = len(_BESIDE), len(_BESIDE) + len(VERDICT_NAMES)
    for row in rows.iterator(chunk_size=CHUNK):
        pk, example, trial, expected, actual, latency = row[:6]
        held = (*row[6:first], *row[after:])
        of_case = scores.of(row[first:after])
        extra = dict(judged.get(pk, {}))
        if wanted.name_f1 and (expected or of_case["selection"] is None):
            extra["tool_name_f1"] = None if of_case["selection"] is None else f1.get(pk, 1.0)
        kept = strata.setdefault(held, {name: value for name, value in zip(names, held, strict=True) if value})
        tool = expected or due.get(pk, "")
        yield GateCase(example, {**of_case, **extra} if extra else of_case, trial, tool, actual, kept, latency)


class _Scores:
    """The scores of each combination of statuses, worked out once."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], dict[str, float | None]] = {}

    def of(self, statuses: tuple[Any, ...]) -> dict[str, float | None]:
        found = self._known.get(statuses)
        if found is None:
            found = self._known[statuses] = verdict_scores(dict(zip(VERDICT_NAMES, statuses, strict=True)))
        return found


def _name_f1(grading: Grading) -> dict[UUID, float]:
    pairs: defaultdict[UUID, list[tuple[str, str]]] = defaultdict(list)
    rows = AlignedPair.objects.filter(grading=grading).order_by().values_list("case", "expected", "actual")
    for case, expected, actual in rows.iterator(chunk_size=CHUNK):
        pairs[case].append((expected, actual))
    return {case: pairs_name_f1(found) for case, found in pairs.items()}


def _due(grading: Grading) -> dict[UUID, str]:
    """Return the class that each case is counted under which has no place in the matrix, as nobody scored it."""
    open_cases = CaseGrade.objects.filter(grading=grading, expected="").exclude(selection__in=_JUDGED_SCORES)
    entries = dict(open_cases.order_by().values_list("pk", "transcript__entry"))
    classes = due_classes(grading, sorted(set(entries.values())))
    return {case: classes.get(entry, "") for case, entry in entries.items()}


def _judged(grading: Grading) -> _Extra:
    found: defaultdict[UUID, dict[str, float | None]] = defaultdict(dict)
    # Where nothing in a scored case is for the judge to say, its metric does not arise.
    silent = Q(status="unscored", questions=0, case__selection__in=_JUDGED_SCORES)
    rows = JudgedCase.objects.filter(~silent, grading=grading).order_by().values_list("case", "rubric", "status")
    for case, rubric, status in rows.iterator(chunk_size=CHUNK):
        found[case][f"{JUDGED}{rubric}"] = _JUDGED_SCORES.get(status)
    return found
