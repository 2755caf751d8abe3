"""Sum over the examples of a grading what intervals of its rates need.

By verdict, by class of the matrix, and by kind: steps, failures of tools, arguments, judgements, findings. They are
kept when a grading finishes. With one trial an example and one call a case every count is an example of its own, and
nothing is kept.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any, Final
from uuid import UUID

from django.core.cache import cache
from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery

from toolevals.grading.engine.case_findings import BASES
from toolevals.grading.metrics.clustered import ExampleSums, Rate, rate
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.grading.values.verdicts import NONE
from toolevals.runs.aggregates.cube import Cell, ClassSums
from toolevals.runs.aggregates.packed_cases import LETTERS, Packed, Patterns, packed_cases
from toolevals.runs.models import (
    AlignedPair,
    ArgumentFault,
    CaseFinding,
    CaseGrade,
    Episode,
    Grading,
    JudgedCase,
    KeptSums,
    VerdictCount,
)

VerdictSums = dict[str, ExampleSums]
# The kind of KeptSums.
VERDICTS: Final = "verdicts"
_A_DAY: Final = 24 * 3600
_PASSED, _FAILED = LETTERS["passed"], LETTERS["failed"]


def verdict_sums(gradings: Collection[UUID]) -> dict[UUID, VerdictSums]:
    """Return the sums of each verdict of the gradings with several trials an example, by their ids.

    A grading from before they were kept is summed up now.
    """
    if not gradings:
        return {}
    sums = {}
    rows = Grading.objects.filter(pk__in=gradings, run__trials__gt=1, finished_at__isnull=False)
    kept_of = KeptSums.objects.filter(grading=OuterRef("pk"), kind=VERDICTS).values("document")
    for pk, kept in rows.values_list("pk", Subquery(kept_of)):
        document = kept
        if document is None:
            grading = Grading.objects.select_related("run").get(pk=pk)
            row = verdict_sums_to_keep(grading, packed_cases(grading))
            KeptSums.objects.bulk_create([row], ignore_conflicts=True)
            document = row.document
        sums[pk] = {name: ExampleSums(*row) for name, row in document.items()}
    return sums


def verdict_rates(
    gradings: Collection[UUID], *columns: str, several: Collection[UUID] | None = None
) -> dict[UUID, dict[str, Rate]]:
    """Return the rates of the verdicts (all, unless some are named) that scored any case, by grading.

    `several` are those with several trials an example, where that is known.
    """
    names = columns or VERDICT_NAMES
    rows = VerdictCount.objects.filter(grading__in=gradings, column__in=names, value__in=("passed", "failed"))
    counts: defaultdict[tuple[UUID, str], Counter[str]] = defaultdict(Counter)
    for grading, column, value, count in rows.values_list("grading_id", "column", "value", "count"):
        counts[grading, column][value] = count
    sums = verdict_sums(gradings if several is None else several)
    rates: defaultdict[UUID, dict[str, Rate]] = defaultdict(dict)
    for name in names:
        for grading in gradings:
            if each := counts.get((grading, name)):
                whole = sums.get(grading, {}).get(name)
                rates[grading][name] = rate(each["passed"], each.total(), whole)
    return dict(rates)


def verdict_sums_to_keep(grading: Grading, packed: Packed) -> KeptSums:
    """Return the sums of each verdict over the examples."""
    letters = [packed.letters_of(number) for number in range(len(packed.verdicts) + 1)]
    tallies: dict[str, Counter[tuple[int, int]]] = {name: Counter() for name in VERDICT_NAMES}
    for numbers, count in _counted(packed.outcome_patterns):
        for name, said in zip(VERDICT_NAMES, zip(*map(letters.__getitem__, numbers), strict=True), strict=False):
            passed = said.count(_PASSED)
            tallies[name][passed + said.count(_FAILED), passed] += count
    document = {name: list(ExampleSums.of(each).to_row()) for name, each in tallies.items()}
    return KeptSums(grading=grading, kind=VERDICTS, document=document)


def first_call_sums(grading: Grading) -> ClassSums:
    """Return the sums of each class of the matrix of first calls; nothing with one trial an example."""
    if grading.run.trials < 2:
        return {}
    key = f"runs:first-call-sums:{grading.pk}"
    sums: ClassSums | None = cache.get(key)
    if sums is None:
        packed = packed_cases(grading)
        cells: list[tuple[Cell, ...]] = [(), *((cell,) for cell in packed.cells)]
        patterns = (
            (sum(map(cells.__getitem__, numbers), ()), count) for numbers, count in _counted(packed.place_patterns)
        )
        sums = class_sums(patterns)
        cache.set(key, sums, timeout=_A_DAY)
    return sums


def class_sums(patterns: Iterable[tuple[Collection[Cell], int]]) -> ClassSums:
    """Return the sums of recall, precision and F1 of each class, of each cell, and of all under "accuracy" and "".

    `patterns` are the cells of an example's trials and calls, and how many examples have these.
    """
    tallies: defaultdict[tuple[str, ...], Counter[tuple[int, int]]] = defaultdict(Counter)
    for cells, count in patterns:
        said: defaultdict[tuple[str, ...], list[int]] = defaultdict(lambda: [0, 0])
        for expected, actual in cells:
            right = expected == actual
            keys = ("recall", expected), ("precision", actual), ("f1", expected), ("f1", actual), ("accuracy", "")
            for one in keys:
                each = said[one]
                each[0] += 1
                each[1] += right
        for key, (trials, passed) in said.items():
            tallies[key][trials, passed] += count
        for (expected, actual), times in Counter(cells).items():
            if expected != actual:
                tallies["cell", expected, actual][said["recall", expected][0], times] += count
    return {key: ExampleSums.of(each) for key, each in tallies.items()}


def class_sums_document(found: ClassSums) -> list[list[Any]]:
    """Return sums of classes as they are kept."""
    return [[*key, *sums.to_row()] for key, sums in sorted(found.items())]


def class_sums_of(document: Iterable[Iterable[Any]]) -> ClassSums:
    """Return what `class_sums_document` gave."""
    sums = {}
    for row in document:
        *key, examples, trials, passed, passed_squared, crossed, trials_squared = row
        sums[tuple(key)] = ExampleSums(examples, trials, passed, passed_squared, crossed, trials_squared)
    return sums


def _counted(patterns: Patterns) -> Iterable[tuple[tuple[int, ...], int]]:
    for number, count in Counter(patterns.numbers).items():
        yield patterns.distinct[number], count


KEPT_COLUMNS: Final = ("grading_id", "kind", "document")
Key = tuple[str, ...]
SumsByKey = Mapping[Key, ExampleSums]
# Of one example, by key: how many are scored, and how many of them passed.
_Said = Mapping[Key, list[int]]
# Of the wrong arguments of one call these exclude each other; those that break the schema are counted apart.
_WRONG: Final = ("changed", "missing", "extra")
_SCORED: Final = ("passed", "failed")
_ENTRY: Final = "case__transcript__entry_id"
_CHUNK: Final = 5000


def kept_sums(grading: Grading, kind: str) -> SumsByKey:
    """Return the sums of one kind (a key of KINDS) of a finished grading, by key.

    A grading from before they were kept is summed up now.
    """
    return kept_sums_of([grading], kind)[grading.pk]


def kept_sums_of(gradings: Collection[Grading], kind: str) -> dict[UUID, SumsByKey]:
    """Return the same of several finished gradings, read with their runs, by id: one query where all are kept."""
    if not gradings:
        return {}
    rows = KeptSums.objects.filter(grading__in=[grading.pk for grading in gradings], kind=kind)
    documents = dict(rows.values_list("grading_id", "document"))
    missing = [
        _kept(grading, kind, several_calls=_has_several_calls(grading))
        for grading in gradings
        if grading.pk not in documents
    ]
    if missing:
        KeptSums.objects.bulk_create(missing, ignore_conflicts=True)
        documents |= {kept.grading_id: kept.document for kept in missing}
    return {pk: {tuple(key): ExampleSums(*sums) for key, sums in document} for pk, document in documents.items()}


def sums_to_keep(grading: Grading, *, several_calls: bool) -> list[KeptSums]:
    """Return a row of each kind for a grading whose cases are all there.

    `several_calls` says whether any of them has more than one aligned pair.
    """
    return [_kept(grading, kind, several_calls=several_calls) for kind in KINDS]


def _kept(grading: Grading, kind: str, *, several_calls: bool) -> KeptSums:
    tallies: defaultdict[Key, Counter[tuple[int, int]]] = defaultdict(Counter)
    for said in KINDS[kind](grading, several_calls):
        for key, (scored, passed) in said.items():
            tallies[key][scored, passed] += 1
    document = [[key, ExampleSums.of(each).to_row()] for key, each in sorted(tallies.items())]
    return KeptSums(grading=grading, kind=kind, document=document)


def _steps(grading: Grading, several_calls: bool) -> Iterator[_Said]:
    """Yield each example's expected calls ("step"), its cases ("whole"), and those of a length ("chain")."""
    if grading.run.trials < 2 or not several_calls:
        return
    due = ~Q(expected=NONE)
    pairs = AlignedPair.objects.filter(grading=grading, case__outcome__in=_SCORED).order_by(_ENTRY)
    counted = pairs.values(_ENTRY, "case_id", "case__outcome").annotate(
        due=Count("pk", filter=due), right=Count("pk", filter=due & Q(expected=F("actual"), arguments="passed"))
    )
    rows = counted.values_list(_ENTRY, "due", "right", "case__outcome")
    for cases in _by_example(rows.iterator(chunk_size=_CHUNK)):
        said = _Counts()
        for _, calls, right, outcome in cases:
            said.add(("whole",), 1, outcome == "passed")
            if calls:
                said.add(("step",), calls, right)
                said.add(("chain", str(calls)), 1, outcome == "passed")
        yield said


def _failures(grading: Grading, _: bool) -> Iterator[_Said]:
    """Yield the failures of tools in each example: of all, by tool, by tool and class of error, by what followed.

    Under "right" those that the agent dealt with rightly pass, without those that no rule can score; under "recovered"
    those after which the tool answered well.
    """
    for failures in _by_example(_episodes(grading).iterator(chunk_size=_CHUNK)):
        said = _Counts()
        for _, tool, error_class, reaction, score, recovered in failures:
            for key in (), ("tool", tool), ("cell", tool, error_class), ("reaction", reaction):
                said.add(("recovered", *key), 1, recovered)
                if score is not None:
                    said.add(("right", *key), 1, score == 1)
        yield said


def _arguments(grading: Grading, several_calls: bool) -> Iterator[_Said]:
    """Yield the calls of each example to the expected tool by tool, and by tool and argument that is wrong in it.

    They pass where the argument is wrong: that is what is counted of them. By tool alone none does. Examples in which
    an argument is never wrong count by tool alone, as there are many of them.
    """
    if grading.run.trials < 2 and not several_calls:
        return
    wrong: defaultdict[tuple[UUID, str], Counter[str]] = defaultdict(Counter)
    for entry, tool, argument, count in _faults(grading).iterator(chunk_size=_CHUNK):
        wrong[entry, tool][argument] = count
    for tools in _by_example(_right_calls(grading).iterator(chunk_size=_CHUNK)):
        said = _Counts()
        for entry, tool, count in tools:
            said.add((tool,), count, 0)
            for argument, failed in wrong.get((entry, tool), {}).items():
                said.add((tool, argument), count, failed)
        yield said


def _judgements(grading: Grading, _: bool) -> Iterator[_Said]:
    """Yield the scored verdicts of judges on each example, by rubric."""
    if grading.run.trials < 2 or not grading.judges:
        return
    scored = JudgedCase.objects.filter(grading=grading, status__in=_SCORED).order_by(_ENTRY)
    rows = scored.values_list(_ENTRY, "rubric", "status")
    for verdicts in _by_example(rows.iterator(chunk_size=_CHUNK)):
        said = _Counts()
        for _, rubric, status in verdicts:
            said.add((rubric,), 1, status == "passed")
        yield said


def _findings(grading: Grading, _: bool) -> Iterator[_Said]:
    """Yield what was found in cases of each example by family, kind and tool, by family and kind, and by family.

    A case passes where it was found, of those that the family's verdict scores. Examples in which nothing was found
    count by verdict alone.
    """
    if grading.run.trials < 2:
        return
    rows = CaseFinding.objects.filter(grading=grading, family__in=BASES).order_by(_ENTRY)
    found: dict[UUID, Counter[Key]] = {}
    for cases in _by_example(rows.values_list(_ENTRY, "case_id", "family", "kind", "tool").iterator(chunk_size=_CHUNK)):
        held = {(entry, case, key) for entry, case, *names in cases for key in _parts_of(*names)}
        for entry, _case, key in held:
            found.setdefault(entry, Counter())[key] += 1
    if not found:
        return
    scored = {f"of_{family}": Count("pk", filter=Q(**{f"{column}__in": _SCORED})) for family, column in BASES.items()}
    counts = CaseGrade.objects.filter(grading=grading).order_by().values_list("transcript__entry_id").annotate(**scored)
    for entry, *totals in counts.iterator(chunk_size=_CHUNK):
        of_family, said = dict(zip(BASES, totals, strict=True)), _Counts()
        for key, times in found.get(entry, Counter()).items():
            said.add(key, of_family[key[0]], times)
        yield said


def _parts_of(family: str, kind: str, tool: str) -> set[Key]:
    return {(family, kind, tool), (family, kind, ""), (family, "", "")}


class _Counts(dict[Key, list[int]]):
    """The counts of one example, by key."""

    def add(self, key: Key, scored: int, passed: int) -> None:
        each = self.setdefault(key, [0, 0])
        each[0] += scored
        each[1] += passed


def _by_example(rows: Iterable[Any]) -> Iterator[Iterable[Any]]:
    """Yield the rows of each example together; they are in the order of examples, which stand first in them."""
    for _, found in groupby(rows, key=itemgetter(0)):
        yield found


def _has_several_calls(grading: Grading) -> bool:
    return AlignedPair.objects.filter(grading=grading, number__gt=0).exists()


def _episodes(grading: Grading) -> QuerySet[Episode, Any]:
    rows = Episode.objects.filter(grading=grading).order_by(_ENTRY)
    return rows.values_list(_ENTRY, "tool", "error_class", "reaction", "score", "recovered")


def _faults(grading: Grading) -> QuerySet[ArgumentFault, Any]:
    faults = ArgumentFault.objects.filter(grading=grading, kind__in=_WRONG).order_by()
    return faults.values_list(_ENTRY, "tool", "argument").annotate(count=Count("pk"))


def _right_calls(grading: Grading) -> QuerySet[AlignedPair, Any]:
    calls = AlignedPair.objects.filter(grading=grading, expected=F("actual")).exclude(expected=NONE).order_by(_ENTRY)
    return calls.values_list(_ENTRY, "expected").annotate(count=Count("pk"))


# What is summed up, by the kind that it is kept under.
KINDS: Final[Mapping[str, Callable[[Grading, bool], Iterator[_Said]]]] = {
    "steps": _steps,
    "failures": _failures,
    "arguments": _arguments,
    "judgements": _judgements,
    "findings": _findings,
}
