"""Show rows of the agreement pages: people that the reader may see, and cases with each label's answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from labeling.agreement.cases import UnitFilter
from labeling.agreement.filters import Filters
from labeling.agreement.units import Unit
from labeling.conversation.input_text import snippet
from labeling.expectations.comparison import answer_words
from labeling.expectations.wording import summary
from labeling.models import Label, LabelAnswer, Revision
from toolevals.workspace.models import User


@dataclass(frozen=True, slots=True)
class LabelWords:
    """One label: who (may be no one), and what in words."""

    who: str
    words: str


@dataclass(frozen=True, slots=True)
class CaseRow:
    """One unit: its example's last words, what each label says and what was decided."""

    unit: Unit
    revision: Revision
    says: str
    said: tuple[LabelWords, ...]
    gold: str
    # The example shows other content now.
    superseded: bool


def subject_of(unit_filter: UnitFilter, filters: Filters) -> str:
    """Return what a list of cases is about, as a title."""
    if unit_filter.one and unit_filter.one == unit_filter.two:
        return f"Both said {unit_filter.one}"
    if unit_filter.one:
        return f"One said {unit_filter.one}, {'the other' if filters.is_pair else 'another'} {unit_filter.two}"
    if unit_filter.gold and unit_filter.of:
        name = User.objects.filter(pk=unit_filter.of).values_list("name", flat=True).first() or "somebody"
        return f"{AGAINST[unit_filter.gold]} {name}"
    if unit_filter.argument:
        verb = "differs" if unit_filter.show.endswith("differs") else "agrees"
        return f"{unit_filter.argument} of {unit_filter.tool} {verb}"
    return SHOWN.get(unit_filter.show, "All that can be compared")


SHOWN: Mapping[str, str] = {
    "tool_differs": "The tool differs",
    "tool_same": "The tool is the same",
    "label_differs": "The labels differ",
    "label_same": "The labels mean the same",
}
AGAINST: Mapping[str, str] = {
    "judged": "Decided by an adjudicator, labelled by",
    "tool_wrong": "Decided on another tool than",
    "label_wrong": "Decided differently from",
}


def case_rows(units: Sequence[Unit]) -> list[CaseRow]:
    """Return the rows of units, read together."""
    revisions = Revision.objects.with_content().in_bulk([unit.revision for unit in units])
    labels = Label.objects.select_related("reviewer").in_bulk([label.pk for unit in units for label in unit.labels])
    return [_row(unit, revisions[unit.revision], [labels[label.pk] for label in unit.labels]) for unit in units]


def _row(unit: Unit, revision: Revision, labels: Sequence[Label]) -> CaseRow:
    if revision.gold is not None:
        gold = summary(revision.gold.expectation)
    else:
        gold = str(LabelAnswer(revision.set_aside_as).label) if revision.set_aside_as else ""
    return CaseRow(
        unit=unit,
        revision=revision,
        says=snippet(revision.input),
        said=tuple(LabelWords(str(label.reviewer or "somebody"), answer_words(label)) for label in labels),
        gold=gold,
        superseded=revision.example.current_id != revision.pk,
    )
