"""Read what labels say in a form that can be counted, the labels that are compared, and the units behind a number.

Units come by the same reading as their number, newest first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import islice
from typing import Any, Final
from uuid import UUID

from django.db.models import Case, Exists, F, Max, OuterRef, Q, Value, When

from labeling.agreement.figures import PairFigures, pair_figures
from labeling.agreement.filters import Filters, text
from labeling.agreement.units import RatedLabel, Unit, is_judged, units_in
from labeling.coverage.expected import ANY_CALL, NO_CALL, calls_of
from labeling.examples.models import RevisionQuerySet
from labeling.expectations.meaning import meaning
from labeling.label.querysets import LabelQuerySet
from labeling.models import Adjudication, Dataset, GoldSource, Label, LabelAnswer, Revision
from toolevals.grading.matching.equality import PROFILES
from toolevals.grading.matching.equivalence import arguments_form
from toolevals.grading.values import Expectation, options_of
from toolevals.grading.values.canonical import digest
from toolevals.json_types import JsonMapping, JsonObject
from toolevals.workspace.clock import database_now

LONGEST_TOOL: Final = 200
DIGEST: Final = 32
BETWEEN: Final = " + "


# Gold that someone decided on, instead of the labels.
DECIDED = (GoldSource.ADJUDICATED, GoldSource.SECOND_LOOK, GoldSource.RESTORED)
READ_AT_ONCE = 500
COLUMNS = (
    "pk",
    "revision_id",
    "slot__round",
    "reviewer_id",
    "reading__tool",
    "reading__meaning",
    "reading__arguments",
    "created_at",
    "seconds",
    "decided_otherwise",
)
PAGE_SIZE = 50
AT_ONCE = 300
# A page looks at no more examples than this; it says where it stopped.
MOST_LOOKED_AT = 6_000
SHOWS = ("tool_differs", "tool_same", "label_differs", "label_same", "argument_differs", "argument_same")
AGAINST_GOLD = ("judged", "tool_wrong", "label_wrong")


@dataclass(frozen=True, slots=True)
class Reading:
    """The content of a label.

    `tool` is the class of its tool choice: a tool, several as "a + b" in the order of their names, `(none)`, `(any)`,
    `(ambiguous)` or `(missing_tool)`. `meaning` is a digest that only equivalent labels share. `arguments` holds, by
    tool and argument, a digest of what the argument must be; without those of which nothing is said.
    """

    tool: str
    meaning: str
    arguments: Mapping[str, Mapping[str, str]]


def read_label(answer: str, expectation: JsonObject | None) -> Reading:
    """Return what an answer says; of an expectation the tools and arguments of its first alternative count."""
    said = sha256(meaning(answer, expectation).encode()).hexdigest()[:DIGEST]
    arguments = _arguments(Expectation.from_document(expectation)) if expectation is not None else {}
    return Reading(tool_said(answer, expectation), said, arguments)


def tool_said(answer: str, expectation: JsonMapping | None) -> str:
    """Return the class of the tool choice of an answer: `Reading.tool`."""
    if expectation is None:
        return f"({answer})"
    if expectation.get("kind") == "no_call":
        return NO_CALL
    return tool_class({call["tool"] for call in calls_of(expectation)}) or ANY_CALL


def tool_class(tools: Iterable[str]) -> str:
    """Return the class of a choice of tools; a name that is too long is cut, with a digest that keeps it apart."""
    name = BETWEEN.join(sorted(tools))
    if len(name) <= LONGEST_TOOL:
        return name
    end = f"… {sha256(name.encode()).hexdigest()[:12]}"
    return name[: LONGEST_TOOL - len(end)] + end


def _arguments(expectation: Expectation) -> dict[str, dict[str, str]]:
    """Return the digests by tool and argument; of a tool that is called more than once, those of all its calls."""
    profile = PROFILES[expectation.profile]
    forms: dict[str, dict[str, list[Any]]] = {}
    for expected in expectation.alternatives[0].expected if expectation.alternatives else ():
        for call in options_of(expected):
            of_tool = forms.setdefault(call.tool, {})
            for name, form in arguments_form(call.arguments, call.additional_arguments, profile).items():
                of_tool.setdefault(name, []).append(form)
    return {tool: {name: digest(found)[:DIGEST] for name, found in named.items()} for tool, named in forms.items()}


def units_of(dataset: Dataset, filters: Filters, revisions: Iterable[UUID] | None = None) -> list[Unit]:
    """Return a dataset's units; of some revisions only, where they are given. What is not read yet is left out."""
    rows = _labels(dataset, filters)
    if revisions is not None:
        rows = rows.filter(revision__in=list(revisions))
    return units_in(map(RatedLabel._make, rows.values_list(*COLUMNS)), filters)


def changeable_from(dataset: Dataset) -> datetime:
    """Return the time since when a label may still be changed."""
    return database_now() - timedelta(seconds=dataset.project.undo_seconds)


def pairs_of(dataset: Dataset) -> PairFigures:
    """Return the figures of all pairs of first labels of a dataset. What is not read yet is left out."""
    until = changeable_from(dataset)
    firsts = Label.objects.blind_firsts_in(dataset, until).filter(reading__isnull=False).order_by()
    labels = [RatedLabel._make((*row, None)) for row in firsts.values_list(*COLUMNS[:-1])]
    later = Label.objects.filter(slot__dataset=dataset, is_first=False, external_author="").order_by()
    changed = later.values_list("revision_id", "slot__round", "reviewer_id").annotate(Max("created_at"))
    return pair_figures(labels, {(pk, number, who): at for pk, number, who, at in changed}, until)


def decided_tools(revisions: Iterable[UUID]) -> dict[UUID, str]:
    """Return the tool choice of what an adjudicator decided on, by revision; of those of `revisions` that are decided.

    Costs no more than these revisions, however large their dataset is.
    """
    set_aside = Exists(Adjudication.objects.filter(revision=OuterRef("pk"), withdrawn_at=None))
    decided = Revision.objects.resolved().filter(Q(gold__source__in=DECIDED) | Q(set_aside, gold=None))
    left, found = iter(revisions), {}
    while some := list(islice(left, READ_AT_ONCE)):
        rows = decided.filter(pk__in=some).order_by()
        for pk, answer, document in rows.values_list("pk", "set_aside_as", "gold__expectation"):
            found[pk] = tool_said(answer or LabelAnswer.EXPECTATION, document)
    return found


def _labels(dataset: Dataset, filters: Filters) -> LabelQuerySet:
    rows = Label.objects.compared_in(dataset, elsewhere=filters.elsewhere).filter(reading__isnull=False)
    rows = rows.in_strata(filters.strata)
    if filters.guideline is not None:
        rows = rows.filter(guideline=filters.guideline)
    decided = Q(feedback__gold__source__in=DECIDED) | Q(feedback__gold=None, feedback__adjudication__isnull=False)
    told = Case(When(decided, then=F("feedback__differs")), default=Value(None))
    annotated: LabelQuerySet = rows.annotate(decided_otherwise=told).order_by()
    return annotated


@dataclass(frozen=True, slots=True)
class UnitFilter:
    """The units to list: where tools `one` and `two` were chosen, that agree or differ, or that a person labelled.

    `show` is one of SHOWS; of an argument, `tool` and `argument` name it. `gold` is one of AGAINST_GOLD, about `of`.
    """

    one: str = ""
    two: str = ""
    show: str = ""
    tool: str = ""
    argument: str = ""
    gold: str = ""
    of: UUID | None = None

    @classmethod
    def of_address(cls, query: Mapping[str, str], *, of: UUID | None) -> UnitFilter:
        """Return what an address asks for; what makes no sense counts as not said. `of`: who may be asked about."""
        one, two, tool, argument = (text(query, name) for name in ("one", "two", "tool", "argument"))
        show, gold = query.get("show", ""), query.get("gold", "")
        about_argument = show.startswith("argument")
        return cls(
            one=one if two else "",
            two=two if one else "",
            show=show if show in SHOWS and (not about_argument or (tool and argument)) else "",
            tool=tool if about_argument else "",
            argument=argument if about_argument else "",
            gold=gold if gold in AGAINST_GOLD and of else "",
            of=of if gold in AGAINST_GOLD else None,
        )

    @property
    def parameters(self) -> dict[str, str]:
        """Return what an address says of it."""
        said = {name: getattr(self, name) for name in ("one", "two", "show", "tool", "argument", "gold", "of")}
        return {name: str(value) for name, value in said.items() if value}

    def matches(self, unit: Unit, decided: Mapping[UUID, str], filters: Filters) -> bool:
        """Tell whether a unit is one of these; `decided` as in `reviewer_figures`."""
        if self.gold:
            return self._against_gold(unit, decided)
        if not unit.is_compared:
            return False
        return (not self.one or self._chosen(unit, filters)) and (not self.show or self._shown(unit))

    def _chosen(self, unit: Unit, filters: Filters) -> bool:
        if filters.is_pair:
            first, second = unit.of(filters.reviewer), unit.of(filters.other)
            return bool(first and second and (first.tool, second.tool) == (self.one, self.two))
        rest = list(unit.tools)
        if self.one not in rest:
            return False
        rest.remove(self.one)
        return self.two in rest

    def _shown(self, unit: Unit) -> bool:
        about, _, how = self.show.partition("_")
        if about == "argument":
            said = [found for tool, name, found in unit.arguments() if (tool, name) == (self.tool, self.argument)]
            return any((len(set(found)) > 1) == (how == "differs") for found in said)
        said_ = unit.tools if about == "tool" else unit.meanings
        return (len(set(said_)) > 1) == (how == "differs")

    def _against_gold(self, unit: Unit, decided: Mapping[UUID, str]) -> bool:
        label = unit.of(self.of)
        if label is None or not is_judged(label, decided):
            return False
        if self.gold == "tool_wrong":
            return label.tool != decided[label.revision]
        return self.gold == "judged" or bool(label.differs)


@dataclass(frozen=True, slots=True)
class CasePage:
    """Some units, and from where the next ones are; empty at the end. `looked_at`: so many examples were looked at."""

    units: tuple[Unit, ...]
    older: str
    looked_at: int


def case_page(dataset: Dataset, filters: Filters, unit_filter: UnitFilter, before: str) -> CasePage:
    """Return the newest units that are asked for, older than the cursor `before`; what is no cursor counts as none."""
    found: list[Unit] = []
    looked_at, last = 0, ""
    try:
        start = UUID(before) if before else None
    except ValueError:
        start = None
    for revision, units in _by_revision(dataset, filters, unit_filter, start):
        if len(found) >= PAGE_SIZE or looked_at >= MOST_LOOKED_AT:
            return CasePage(tuple(found), last, looked_at)
        found += units
        looked_at, last = looked_at + 1, str(revision)
    return CasePage(tuple(found), "", looked_at)


def cases(dataset: Dataset, filters: Filters, unit_filter: UnitFilter) -> Iterator[Unit]:
    """Yield all units that are asked for, newest examples first."""
    for _, units in _by_revision(dataset, filters, unit_filter, None):
        yield from units


def names_of(units: Iterable[Unit]) -> dict[UUID, tuple[UUID, str]]:
    """Return the examples of units by revision: their ids, and their names in the dataset."""
    rows = Revision.objects.filter(pk__in={unit.revision for unit in units})
    return {pk: (example, name) for pk, example, name in rows.values_list("pk", "example_id", "example__external_id")}


def _by_revision(
    dataset: Dataset, filters: Filters, unit_filter: UnitFilter, start: UUID | None
) -> Iterator[tuple[UUID, list[Unit]]]:
    """Yield each example that is looked at, with its units that are asked for."""
    rows = _candidates(dataset, filters, unit_filter)
    while page := list(_older(rows, start)):
        decided = decided_tools(page) if unit_filter.gold else {}
        units: dict[UUID, list[Unit]] = {}
        for unit in units_of(dataset, filters, page):
            if unit_filter.matches(unit, decided, filters):
                units.setdefault(unit.revision, []).append(unit)
        for revision in page:
            yield revision, units.get(revision, [])
        start = page[-1]


def _older(rows: RevisionQuerySet, start: UUID | None) -> Iterator[UUID]:
    older = rows.filter(pk__lt=start) if start else rows
    return iter(older.order_by("-pk").values_list("pk", flat=True)[:AT_ONCE])


def _candidates(dataset: Dataset, filters: Filters, unit_filter: UnitFilter) -> RevisionQuerySet:
    """Return the revisions that might hold such a unit."""
    rows = Revision.objects.resolved().filter(example__dataset=dataset)
    rows = rows.filter(**{f"example__{name}": value for name, value in filters.strata.items()})
    labels = Label.objects.filter(revision=OuterRef("pk"))
    rows = rows.filter(Exists(labels))
    for person in filter(None, (filters.reviewer, filters.other, unit_filter.of)):
        rows = rows.filter(Exists(labels.filter(reviewer=person)))
    for tool in filter(None, (unit_filter.one, unit_filter.two)):
        rows = rows.filter(Exists(labels.filter(reading__tool=tool)))
    return rows
