"""List suspects: the request, and the parts of each that one person may see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

from labeling.conversation.turns import snippet
from labeling.expectations.wording import summary
from labeling.models import DatasetVersion, VersionEntry
from reports.filters.case_filters import address_query
from reports.suspects.analysis import REASONS, TITLES, WAVERED
from toolevals.json_types import JsonMapping
from toolevals.workspace.models import Role, User
from toolevals.workspace.old_names import with_new_names
from toolevals.workspace.requests import page_number

STATES: Final[Mapping[str, str]] = {
    "open": "not looked at",
    "disputed": "disputed",
    "settled": "settled, gold kept",
    "changed": "gold changed since",
}
PAGE_SIZE: Final = 25
MOST_PAGES: Final = 100_000


@dataclass(frozen=True, slots=True)
class SuspectFilter:
    """The filter of the list: a reason, a state, ids that hold a text; "" is no condition. Pages count from 1."""

    reason: str = ""
    state: str = ""
    text: str = ""
    page: int = 1

    @classmethod
    def of_address(cls, query: Mapping[str, str]) -> SuspectFilter:
        """Read an address; what it cannot mean is left out."""
        reason, state = query.get("reason", ""), query.get("state", "")
        text, page = query.get("q", "").strip()[:200], query.get("page", "1")
        number = page_number(page)
        return cls(
            reason if reason in REASONS else "",
            state if state in STATES else "",
            text,
            min(max(number, 1), MOST_PAGES),
        )

    def query(self, **changes: str) -> str:
        """Return the address of this list with these values, without a page unless one is given."""
        return address_query({"reason": self.reason, "state": self.state, "q": self.text} | changes)


@dataclass(frozen=True, slots=True)
class Row:
    """One suspect as a person is told of it; `reasons` as `suspicion.Reason.to_document` has them, strongest first."""

    rank: int
    example_id: UUID
    revision_id: UUID
    external_id: str
    score: float
    state: str
    is_resolved: bool
    reasons: tuple[JsonMapping, ...]
    # What the user says last, and the gold, in a line each; empty where not asked for.
    says: str = ""
    gold: str = ""
    # That the example was made of, where it is asked for and open to the reader.
    trace: UUID | None = None

    @property
    def state_words(self) -> str:
        return STATES[self.state]

    @property
    def can_be_disputed(self) -> bool:
        """Return whether its gold is still what the reasons speak against, and no one disputes it yet."""
        return self.is_resolved and self.state in ("open", "settled")


@dataclass(frozen=True, slots=True)
class Page:
    """Rows of a list, and how long it is."""

    rows: tuple[Row, ...]
    count: int
    pages: int


def suspects_of(version: DatasetVersion, suspect_filter: SuspectFilter, user: User, role: Role) -> Any:
    """Return the suspects that are wanted, as this person may know them."""
    from reports.models import Suspect

    suspects = Suspect.objects.ranked_for(version, user, role)
    if suspect_filter.reason == WAVERED:
        suspects = suspects.filter(tells_labels=True, wavered__isnull=False)
    elif suspect_filter.reason:
        suspects = suspects.filter(kinds__contains=f",{suspect_filter.reason},")
    if suspect_filter.state:
        suspects = suspects.filter(state=suspect_filter.state)
    if suspect_filter.text:
        suspects = suspects.filter(entry__revision__example__external_id__icontains=suspect_filter.text)
    return suspects.select_related("entry__revision__example", "entry__gold").defer(
        "entry__revision__input", "entry__gold__expectation"
    )


def page_of(version: DatasetVersion, suspect_filter: SuspectFilter, user: User, role: Role) -> Page:
    """Return the page that is wanted, the last one where there are fewer."""
    suspects = suspects_of(version, suspect_filter, user, role)
    count = suspects.count()
    pages = max(-(-count // PAGE_SIZE), 1)
    start = (min(suspect_filter.page, pages) - 1) * PAGE_SIZE
    rows = [row_of(row, start + place) for place, row in enumerate(suspects[start : start + PAGE_SIZE], 1)]
    return Page(tuple(_with_words(version, rows)), count, pages)


def _with_words(version: DatasetVersion, rows: Sequence[Row]) -> Iterator[Row]:
    entries = VersionEntry.objects.filter(version=version, revision__in=[row.revision_id for row in rows])
    shown = entries.values_list("revision_id", "revision__input", "gold__expectation")
    words = {revision: (snippet(asked), summary(gold)) for revision, asked, gold in shown}
    for row in rows:
        says, gold = words[row.revision_id]
        yield replace(row, says=says, gold=gold)


def row_of(suspect: Any, rank: int) -> Row:
    """Return what is told of one suspect of `suspects_of`."""
    revision = suspect.entry.revision
    told = [*suspect.reasons, *([suspect.wavered] if suspect.tells_labels and suspect.wavered is not None else [])]
    reasons = [{**reason, "witnesses": [with_new_names(each) for each in reason["witnesses"]]} for reason in told]
    return Row(
        rank,
        revision.example_id,
        revision.pk,
        revision.example.external_id,
        suspect.shown,
        suspect.state,
        revision.resolution in ("resolved", "set_aside"),
        tuple(reasons),
    )


def dispute_reason(row: Row) -> str:
    """Return the words of a dispute that cites the evidence; how people labelled is left out."""
    told = [reason["sentence"] for reason in row.reasons if reason["kind"] != WAVERED]
    return " ".join(["The evidence contradicts the gold.", *told])[:2000]


def reason_titles(role: Role) -> dict[str, str]:
    """Return the reasons by which this role may filter, with their titles."""
    return {name: TITLES[name] for name in REASONS if name != WAVERED or role >= Role.ADJUDICATOR}
