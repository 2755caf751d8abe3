"""Read the cases of a grading for a gate: packed, with what it needs besides their verdicts, and the unscored tools."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from math import nan
from typing import Any, Final
from uuid import UUID

from django.db.models import Q, QuerySet

from labeling.models import Example, VersionEntry
from reports.dialects.analysis import Pattern
from reports.dialects.grade_with_dialects import dialects_read
from reports.gates.issue_scores import LEFT_OUT, IssueRule, issue_rules
from reports.models import DialectCase
from toolevals.grading.engine.case_findings import UNSCORED
from toolevals.grading.engine.case_metrics import METRICS, pairs_name_f1
from toolevals.grading.engine.grading import first_expected_class
from toolevals.grading.gates.case_table import CaseTable, chained, metric_arises, value_of, verdict_scores
from toolevals.grading.gates.results import (
    FUNCTION_CALLS,
    ISSUE,
    JUDGED,
    PASS_MARK,
    PUBLISHED_JUDGES,
    PUBLISHED_METRICS,
    Failure,
    GateCase,
    Measure,
)
from toolevals.grading.gates.rules import Gate
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.grading.values.verdicts import Status
from toolevals.json_types import JsonMapping
from toolevals.runs.aggregates.packed_cases import LETTERS, Packed, measured_case, metric_names, packed_cases
from toolevals.runs.grading.case_grading import Compiler
from toolevals.runs.models import AlignedPair, CaseFinding, CaseGrade, Episode, Grading, JudgedCase

_AT_ONCE: Final = 500
CHUNK: Final = 2000
# So many cases are read between two signs of progress.
TOLD: Final = 20_000
# Kept with the case as they were when it was graded.
_HELD: Final = ("bucket", "difficulty")
# The columns whose sum a case took.
_TAKEN: Final[Mapping[Measure, Sequence[str]]] = {
    "latency": ("latency_ms",),
    "cost": ("cost",),
    "tokens": ("tokens_in", "tokens_out"),
}
_SCORED: Final = ("passed", "failed")
_STATUSES: Final[tuple[Status, ...]] = ("passed", "failed", "unscored", "errored")
_STATUS_OF: Final[Mapping[str, Status]] = {LETTERS[status]: status for status in _STATUSES}


def due_classes(grading: Grading, entries: Sequence[UUID]) -> dict[UUID, str]:
    """Return the class that is due in each of these entries of the run's version, by the gold that is graded against.

    See `toolevals.grading.engine.grading`. An entry without gold is left out.
    """
    if not entries:
        return {}
    compiler = Compiler(grading.run.agent)
    classes: dict[UUID, str] = {}
    for start in range(0, len(entries), _AT_ONCE):
        shown = VersionEntry.objects.filter(pk__in=entries[start : start + _AT_ONCE]).select_related("revision__tools")
        revisions = {entry.pk: entry.revision for entry in shown.defer("revision__input")}
        same = VersionEntry.objects.filter(
            version=grading.dataset_version_id, revision__in=[each.pk for each in revisions.values()]
        )
        golds = {entry.revision_id: entry.gold for entry in same.select_related("gold")}
        for entry, revision in revisions.items():
            if gold := golds.get(revision.pk):
                classes[entry] = first_expected_class(compiler.case(revision.tools, gold.expectation))
    return classes


def grading_cases(grading: Grading, gate: Gate, progress: Callable[[int], None] = lambda _: None) -> CaseTable:
    """Return a grading's cases with what the gate asks of them, by example in the run's order and then by trial.

    `progress` is told now and then how many are read so far; what it raises ends the reading.
    """
    packed = packed_cases(grading)
    wanted = _Wanted(gate, grading.judges)
    read = _Read(grading, packed, wanted, issue_rules(grading, wanted.issues, lambda: progress(0)))
    names = read.names(progress)
    beside, facts = read.facts()
    measures = read.measures()
    kinds: dict[tuple[int, int, int], int] = {}
    examples, numbers = array("I"), array("I")
    taken: dict[Measure, array[float]] = {name: array("d") for name in measures}
    cells = packed.places if read.wanted.cells else repeat(0)
    for place, key in enumerate(zip(packed.outcomes, cells, beside, strict=False)):
        if not key[0]:
            continue
        number = kinds.setdefault(key, len(kinds))
        examples.append(place // packed.trials)
        numbers.append(number)
        for name, values in measures.items():
            taken[name].append(values[place])
    known = [_kind(packed, outcome, cell, facts[fact], read) for outcome, cell, fact in kinds]
    return CaseTable(known, names, examples, numbers, taken)


def unread_notes(gate: Gate, gradings: Iterable[Grading]) -> dict[str, str]:
    """Return a note for each metric of ai-evaluation by whose rules one of the gradings is not read."""
    wanted = _Wanted(gate).function_calls
    unread = [each for each in gradings if wanted and not ((read := dialects_read(each)) and read.finished_at)]
    words = " ".join(
        f"Run {each.run.number} has no verdicts from ai-evaluation: start Other evaluators on its page, then "
        "check the gate again."
        for each in unread
    )
    return {name: words for name, key in FUNCTION_CALLS.items() if key in wanted} if words else {}


class _Wanted:
    """The data that a gate needs in addition to verdicts: it is read only then."""

    def __init__(self, gate: Gate, judges: Sequence[JsonMapping] = ()) -> None:
        named = {*gate.metrics, *(metric for group in gate.groups for metric in group.metrics)}
        named |= {metric for rule in gate.regressions for metric in rule.metrics}
        named |= {rule.metric for rule in gate.consistency}
        every = gate.thresholds.default_pass_rate is not None
        every = every or any(assertion.template is None for assertion in gate.assertions)
        self.name_f1 = every or "tool_name_f1" in named
        self.judges = every or any(name.startswith(JUDGED) or name in PUBLISHED_JUDGES for name in named)
        # The rules that a published name falls back to where they leave its judge no question.
        left = {seat["rubric"] for seat in judges if seat.get("unscored")}
        self.rules = {name: PUBLISHED_METRICS[name] for name in named & left & PUBLISHED_METRICS.keys()}
        # What counts pairs of calls is read from the pairs, so that gradings from before have it too.
        self.metrics = frozenset(named & METRICS.keys()) - {"tool_name_f1"}
        self.issues = sorted(name for name in named if name.startswith(ISSUE))
        # The layers whose rules may leave a question, under their own names or the published ones.
        asked = any(PUBLISHED_METRICS.get(name, name) in UNSCORED for name in named)
        self.questions = every or bool(self.issues) or asked
        self.function_calls = frozenset(FUNCTION_CALLS[name] for name in named & FUNCTION_CALLS.keys())
        self.values = gate.looks_at_values
        self.failures = any(bound.per_failure for bound in gate.bounds)
        self.strata = tuple(name for name in Example.STRATA if name in gate.strata and name not in _HELD)
        self.held_strata = not gate.strata.isdisjoint(_HELD)
        self.tools = gate.is_per_tool
        self.cells = self.name_f1 or gate.looks_at_tools
        self.measures = gate.measures


# What is known of a case beside its verdicts: what kind of thing, and what it says.
_Fact = tuple[str, Any]


class _Read:
    """The data that is read of a grading. A place is that of a case among the packed ones."""

    def __init__(self, grading: Grading, packed: Packed, wanted: _Wanted, issues: Sequence[IssueRule]) -> None:
        self.wanted, self.issues = wanted, issues
        self._grading = grading
        self._trials, self._size = packed.trials, len(packed.outcomes)
        self._starts = {position: place * packed.trials for place, position in enumerate(grading.run.positions)}

    def names(self, progress: Callable[[int], None]) -> list[str]:
        """Return the external ids of the run's examples."""
        found = [""] * len(self._starts)
        done = 0
        for start, name in self._entries("external_id"):
            found[start // self._trials] = name
            done += self._trials
            if done % TOLD < self._trials:
                progress(done)
        return found

    def facts(self) -> tuple[array[int], list[list[_Fact]]]:
        """Return the number of what is known of each place besides verdicts, and what each number stands for."""
        known: dict[_Fact, int] = {}
        by_place, patterns = chained(
            self._size, ((place, known.setdefault(fact, len(known))) for place, fact in self._each_fact())
        )
        facts = list(known)
        return by_place, [[facts[number] for number in pattern] for pattern in patterns]

    def measures(self) -> dict[Measure, array[float]]:
        """Return what the case at each place took, NaN where no one says it, as far as the gate asks."""
        found = {name: array("d", [nan]) * self._size for name in sorted(self.wanted.measures)}
        for name, values in found.items():
            columns = [f"transcript__{column}" for column in _TAKEN[name]]
            for place, *said in self._cases(self._graded(), *columns):
                values[place] = nan if None in said else sum(said)
        return found

    def _each_fact(self) -> Iterator[tuple[int, _Fact]]:
        wanted = self.wanted
        readings = (
            (wanted.strata, self._strata),
            (wanted.held_strata, self._held_strata),
            (wanted.tools, self._due),
            (wanted.judges, self._judged),
            (wanted.questions, self._questions),
            (wanted.metrics or wanted.values, self._values),
            (wanted.function_calls, self._function_calls),
            (wanted.failures, self._failures),
            (wanted.name_f1, self._pairs),
            (self.issues, self._issues),
        )
        for is_wanted, reading in readings:
            if is_wanted:
                yield from reading()

    def _strata(self) -> Iterator[tuple[int, _Fact]]:
        for start, *values in self._entries(*self.wanted.strata):
            fact = "strata", tuple(zip(self.wanted.strata, values, strict=True))
            yield from ((place, fact) for place in range(start, start + self._trials))

    def _held_strata(self) -> Iterator[tuple[int, _Fact]]:
        for place, *values in self._cases(self._graded(), *_HELD):
            yield place, ("strata", tuple(zip(_HELD, values, strict=True)))

    def _judged(self) -> Iterator[tuple[int, _Fact]]:
        # Where nothing in a scored case is for the judge to say, its metric does not arise.
        silent = Q(status="unscored", questions=0, case__selection__in=_SCORED)
        judged = JudgedCase.objects.filter(~silent, grading=self._grading)
        for place, rubric, status, value in self._cases(judged, "rubric", "status", "value", case="case__"):
            yield place, ("score", (f"{JUDGED}{rubric}", value_of(status, value), status == "passed"))

    def _questions(self) -> Iterator[tuple[int, _Fact]]:
        """Yield the layers that arise and have no score, as their rules leave a question."""
        left = CaseFinding.objects.filter(grading=self._grading, family="unscored")
        for place, layer in self._cases(left, "kind", case="case__"):
            yield place, ("score", (layer, None, False))

    def _failures(self) -> Iterator[tuple[int, _Fact]]:
        episodes = Episode.objects.filter(grading=self._grading)
        for place, *failure in self._cases(episodes, "tool", "error_class", "score", case="case__"):
            yield place, ("failure", Failure(*failure))

    def _pairs(self) -> Iterator[tuple[int, _Fact]]:
        pairs = AlignedPair.objects.filter(grading=self._grading)
        for place, *pair in self._cases(pairs, "expected", "actual", case="case__"):
            yield place, ("pair", tuple(pair))

    def _issues(self) -> Iterator[tuple[int, _Fact]]:
        for rule in self.issues:
            yield from ((place, ("issue", rule.metric)) for (place,) in self._cases(rule.cases, case="case__"))

    def _values(self) -> Iterator[tuple[int, _Fact]]:
        """Yield the metrics that the gate names, and what failed verdicts are worth."""
        names = metric_names(self._grading.graders)
        for place, selection, text in self._cases(self._graded(), "selection", "measured"):
            if not text:
                continue
            found = measured_case(text, names)
            for name in found.metrics.keys() & self.wanted.metrics:
                status, value = found.metrics[name]
                if metric_arises(status, selection):
                    yield place, ("score", (name, value, status == "passed"))
            if self.wanted.values and found.verdicts:
                yield place, ("value", tuple(found.verdicts.items()))
        if self.wanted.values and not names:
            # A grading from before: only its documents know.
            for place, detail in self._cases(self._graded().filter(outcome="failed"), "detail"):
                verdicts = detail["verdicts"].items()
                shares = tuple((name, each["value"]) for name, each in verdicts if each["status"] == "failed")
                yield place, ("value", shares)

    def _function_calls(self) -> Iterator[tuple[int, _Fact]]:
        """Yield what ai-evaluation says, where the grading is read by its rules."""
        reading = dialects_read(self._grading)
        if reading is None or reading.finished_at is None:
            return
        places = [
            (at, each["key"]) for at, each in enumerate(reading.columns) if each["key"] in self.wanted.function_calls
        ]
        said = DialectCase.objects.filter(reading=reading)
        for place, selection, pattern, detail in self._cases(
            said, "case__selection", "pattern", "detail", case="case__"
        ):
            statuses = Pattern.from_text(pattern).statuses
            for at, key in places:
                if metric_arises(statuses[at + 1], selection):
                    score = detail["scores"][at]
                    yield place, ("score", (key, score, score is not None and score >= PASS_MARK))

    def _due(self) -> Iterator[tuple[int, _Fact]]:
        """Yield the class that each case is counted under which has no place in the matrix, as no one scored it."""
        still_open = self._graded().filter(expected="").exclude(selection__in=_SCORED)
        entries = dict(self._cases(still_open, "transcript__entry"))
        classes = due_classes(self._grading, sorted(set(entries.values())))
        yield from ((place, ("due", classes[entry])) for place, entry in entries.items() if entry in classes)

    def _graded(self) -> QuerySet[CaseGrade]:
        return CaseGrade.objects.filter(grading=self._grading)

    def _cases(self, rows: QuerySet[Any], *columns: str, case: str = "") -> Iterator[tuple[Any, ...]]:
        """Yield the place of each row's case, and its columns."""
        where = f"{case}transcript__entry__position", f"{case}transcript__trial"
        for position, trial, *values in rows.order_by().values_list(*where, *columns).iterator(chunk_size=CHUNK):
            start = self._starts.get(position)
            if start is not None and trial < self._trials:
                yield start + trial, *values

    def _entries(self, *columns: str) -> Iterator[tuple[Any, ...]]:
        """Yield the first place of each example of the run, and its columns."""
        entries = VersionEntry.objects.filter(version=self._grading.run.dataset_version_id).order_by("position")
        rows = entries.values_list("position", *(f"revision__example__{name}" for name in columns))
        for position, *values in rows.iterator(chunk_size=CHUNK):
            if (start := self._starts.get(position)) is not None:
                yield start, *values


def _kind(packed: Packed, outcome: int, cell: int, facts: list[_Fact], read: _Read) -> GateCase:
    wanted = read.wanted
    letters = packed.letters_of(outcome)
    statuses = {name: _STATUS_OF[letter] for name, letter in zip(VERDICT_NAMES, letters, strict=True)}
    expected, actual = packed.cells[cell - 1] if cell else ("", "")
    said: dict[str, list[Any]] = {name: [] for name in ("strata", "due", "score", "pair", "value", "failure", "issue")}
    for what, value in facts:
        said[what].append(value)
    scores = verdict_scores(statuses)
    passed = {name: statuses[name] == "passed" for name, score in scores.items() if score is not None}
    scores |= {name: value or 0.0 for shares in said["value"] for name, value in shares if scores.get(name) == 0}
    scores |= {name: value for name, value, _ in said["score"]}
    passed |= {name: is_passed for name, _, is_passed in said["score"]}
    by_rule = {name: rule for name, rule in wanted.rules.items() if f"{JUDGED}{name}" not in scores and rule in scores}
    scores |= {name: scores[rule] for name, rule in by_rule.items()}
    passed |= {name: passed[rule] for name, rule in by_rule.items() if rule in passed}
    if wanted.name_f1 and (expected or scores["selection"] is None):
        scores["tool_name_f1"] = None if scores["selection"] is None else pairs_name_f1(said["pair"])
    issues = {rule.metric: rule.score(statuses, scores, said["issue"]) for rule in read.issues}
    scores |= {name: score for name, score in issues.items() if score != LEFT_OUT}
    strata = {name: value for row in said["strata"] for name, value in row if value}
    return GateCase(
        "",
        scores,
        tool=expected or "".join(said["due"]),
        called=actual,
        strata=strata,
        passed=passed,
        failures=tuple(said["failure"]),
        only_named=frozenset((*by_rule, *issues)),
    )
