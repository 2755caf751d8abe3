"""Count trials by example and steps by case, so that reliability costs examples and not cases.

They are tallied once, so that it costs groups and not examples.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final, TypeAlias

from django.db.models import Count, F, Max, Q

from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.grading.values.verdicts import NONE
from toolevals.runs.aggregates.packed_cases import LETTERS, Packed, packed_cases
from toolevals.runs.models import AlignedPair, CaseGrade, Grading, KeptSums, TrialCount

TRIAL_COLUMNS: Final = (
    "grading_id",
    "entry_id",
    "tool",
    "bucket",
    "difficulty",
    "passed",
    "failed",
    "unscored",
    "errored",
)
STEP_COLUMNS: Final = ("grading_id", "expected", "right", "made", "outcome", "count")
_ENTRY = "transcript__entry"
_CHUNK = 2000


def trial_rows(grading: Grading) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each example, in the order of the dataset version; none where there is one trial only."""
    if grading.run.trials < 2:
        return
    statuses = {f"n_{name}": Count("pk", filter=Q(outcome=name)) for name in TRIAL_COLUMNS[5:]}
    # What is the same in every trial of an example, but empty where one was not scored.
    facts = {f"max_{name}": Max(name) for name in ("expected", "bucket", "difficulty")}
    rows = (
        CaseGrade.objects.filter(grading=grading)
        .order_by(f"{_ENTRY}__position", f"{_ENTRY}_id")
        .values(f"{_ENTRY}__position", f"{_ENTRY}_id")
        .annotate(**facts, **statuses)
        .values_list(f"{_ENTRY}_id", *facts, *statuses)
    )
    for row in rows.iterator(chunk_size=_CHUNK):
        yield grading.pk, *row


def step_rows(grading: Grading) -> Iterator[tuple[Any, ...]]:
    """Yield how many cases have each number of expected, right and made calls; none where no case has two of any."""
    pairs = AlignedPair.objects.filter(grading=grading)
    if not pairs.filter(number__gt=0).exists():
        return
    due, made = ~Q(expected=NONE), ~Q(actual=NONE)
    counted = (
        pairs.order_by()
        .values("case_id")
        .annotate(
            due=Count("pk", filter=due),
            right=Count("pk", filter=due & Q(expected=F("actual"), arguments="passed")),
            made=Count("pk", filter=made),
        )
        .values_list("due", "right", "made", "case__outcome")
    )
    counts = Counter(counted.iterator(chunk_size=_CHUNK))
    for key, count in sorted(counts.items()):
        yield grading.pk, *key, count


# What examples are grouped by.
GROUPS: Final = ("tool", "bucket", "difficulty")
_COLUMNS: Final = (*GROUPS, "passed", "failed")
# An example's place in the dataset version -> how many trials passed, failed, were unscored, errored.
VerdictByExample: TypeAlias = Callable[[int], tuple[int, ...]]
# (scored, passed) -> examples
Tallies = Counter[tuple[int, int]]
# The kind of KeptSums.
TRIALS: Final = "trials"


def tallies_store(grading: Grading, rows: Sequence[Sequence[Any]]) -> None:
    """Keep the tallies of a grading's rows of TRIAL_COLUMNS; without rows none. A second time changes nothing."""
    if rows:
        _store(grading, Counter(map(itemgetter(*map(TRIAL_COLUMNS.index, _COLUMNS)), rows)))


def trial_tallies(grading: Grading) -> dict[str, dict[str, Tallies]]:
    """Return the tallies of a finished grading by kind of group and name; of all examples under "" and "".

    A grading from before they were kept is tallied now.
    """
    kept = KeptSums.objects.filter(grading=grading, kind=TRIALS).first()
    document = kept.document if kept else _store(grading, TrialCount.objects.filter(grading=grading).counted(*_COLUMNS))
    tallies: defaultdict[str, defaultdict[str, Tallies]] = defaultdict(lambda: defaultdict(Counter))
    for kind, name, scored, passed, examples in document:
        tallies[kind][name][scored, passed] = examples
    return {kind: dict(named) for kind, named in tallies.items()}


def verdict_tallies(grading: Grading, verdict: str, kinds: Sequence[str]) -> dict[str, dict[str, Tallies]]:
    """Return the same of one verdict of a finished grading, grouped by columns of TrialCount or strata of examples.

    Read off the packed cases: it costs examples, and what they are grouped by is read once.
    """
    tallies: defaultdict[str, defaultdict[str, Tallies]] = defaultdict(lambda: defaultdict(Counter))
    for (*names, passed, failed, _, _), examples in Counter(_verdict_rows(grading, verdict, kinds)).items():
        for kind, name in (("", ""), *zip(kinds, names, strict=True)):
            tallies[kind][name][passed + failed, passed] += examples
    return {kind: dict(named) for kind, named in tallies.items()}


def verdict_counts_by_example(grading: Grading, verdict: str) -> VerdictByExample:
    """Return how the trials of each example came out by one verdict."""
    packed, place = packed_cases(grading), VERDICT_NAMES.index(verdict)
    patterns = packed.outcome_patterns
    counted = [_letter_counts(packed, numbers, place) for numbers in patterns.distinct]
    places = {position: place for place, position in enumerate(grading.run.positions)}
    return lambda position: counted[patterns.numbers[places[position]]]


def _verdict_rows(grading: Grading, verdict: str, kinds: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    counts = verdict_counts_by_example(grading, verdict)
    columns = [kind if kind in GROUPS else f"entry__revision__example__{kind}" for kind in kinds]
    rows = TrialCount.objects.filter(grading=grading).order_by().values_list("entry__position", *columns)
    for position, *names in rows.iterator(chunk_size=_CHUNK):
        yield (*names, *counts(position))


def _letter_counts(packed: Packed, numbers: Sequence[int], place: int) -> tuple[int, ...]:
    """Return how many trials passed, failed, were unscored and errored; a trial without a case is none of these."""
    letters = Counter(packed.letters_of(number)[place] for number in numbers if number)
    return tuple(letters[letter] for letter in LETTERS.values())


def _store(grading: Grading, counts: Mapping[tuple[Any, ...], int]) -> list[list[Any]]:
    document = _document(counts.items())
    row = KeptSums(grading=grading, kind=TRIALS, document=document)
    KeptSums.objects.bulk_create([row], ignore_conflicts=True)
    return document


def _document(counts: Iterable[tuple[tuple[Any, ...], int]]) -> list[list[Any]]:
    tallies: Counter[tuple[str, str, int, int]] = Counter()
    for (*names, passed, failed), examples in counts:
        for kind, name in (("", ""), *zip(GROUPS, names, strict=True)):
            tallies[kind, name, passed + failed, passed] += examples
    return [[*key, examples] for key, examples in sorted(tallies.items())]
