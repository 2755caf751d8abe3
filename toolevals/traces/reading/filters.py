"""Tell which traces a list shows, as its address says."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from typing import Final, Self
from urllib.parse import urlencode
from uuid import UUID

from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime

from toolevals.grading.layers.troubles import ERROR_CLASSES
from toolevals.json_types import JsonMapping, JsonObject
from toolevals.traces.blindness import closed_to
from toolevals.traces.intake.models import TraceQuerySet
from toolevals.traces.judges.models import VerdictStatus, with_verdicts
from toolevals.traces.models import QuestionState, Trace
from toolevals.traces.reading.summary import words_of
from toolevals.workspace.models import Project, Role
from toolevals.workspace.paging import PAGE_SIZE, Page, page_of, sought_page_of

_EQUAL: Final[Mapping[str, str]] = {
    "agent": "agent",
    "version": "agent_version",
    "model": "model",
    "session": "session",
    "user": "end_user",
}
_LEAST: Final[Mapping[str, str]] = {
    "min_ms": "duration_ms__gte",
    "max_ms": "duration_ms__lte",
    "min_cost": "cost__gte",
}
_NUMBERS: Final = (*_LEAST, "min_call_ms")
_TIMES: Final = ("since", "until", "asked")
# An answer that is empty or partial is no error.
ERRORS: Final = tuple(name for name in ERROR_CLASSES if name not in ("empty", "partial"))
# What a rule, or a judge, said of a span; and what became of a judge's question to which there is no answer.
VERDICTS: Final[Mapping[str, str]] = {
    **dict(VerdictStatus.choices),
    **{each.value: str(each.label) for each in (QuestionState.NOT_JUDGED, QuestionState.WAITING)},
}
# What a trace says once, or not at all.
SAID_ONCE: Final = tuple(_EQUAL)
_CHOICES: Final[Mapping[str, Collection[str]]] = {"verdict": VERDICTS, "without": SAID_ONCE}
# Words of one search.
_MOST_WORDS = 12
# Of the newest traces. What fewer than one in a hundred has is found faster by its index.
_LOOK_AT = 5_000


class FilterError(ValueError):
    """A value of the address that is not of its kind: no time, no number, no judge's id, or none of a few names."""


@dataclass(frozen=True, slots=True)
class TraceFilter:
    """The filter as the address states it; an empty field filters nothing.

    `tool`, `error`, `arguments` and `min_call_ms` are about one call: its tool, its class of error (`any` for any),
    `bad` where its arguments do not fit the schema, and how long it took at least. `rule`, `judge` and `verdict` are
    about what an online rule, or a judge by its id, said: one of `VERDICTS`. `asked` is a day on which that judge, or
    any, was asked about the trace. `without` names what a trace does not say: one of `SAID_ONCE`. `since` and `until`
    are about when a trace came: times or days, which are whole.
    """

    q: str = ""
    tool: str = ""
    error: str = ""
    arguments: str = ""
    min_call_ms: str = ""
    rule: str = ""
    judge: str = ""
    verdict: str = ""
    asked: str = ""
    agent: str = ""
    version: str = ""
    model: str = ""
    session: str = ""
    user: str = ""
    without: str = ""
    since: str = ""
    until: str = ""
    min_ms: str = ""
    max_ms: str = ""
    min_cost: str = ""
    problems: dict[str, str] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, parameters: JsonMapping) -> Self:
        """Return what an address asks for; what it says wrongly is named in `problems`, and narrows nothing down."""
        found = {name: str(parameters.get(name) or "").strip()[:200] for name in NAMES}
        if broke := str(parameters.get("broke") or "").strip()[:200]:
            # As addresses said it before a verdict could be named.
            found |= {"rule": broke, "verdict": VerdictStatus.FAILED.value}
        problems: dict[str, str] = {}
        for name in (*_NUMBERS, *_TIMES, *_CHOICES, "judge"):
            try:
                _check(name, found[name])
            except FilterError as error:
                problems[name] = str(error)
                found[name] = ""
        return cls(**found, problems=problems)

    @property
    def said(self) -> dict[str, str]:
        """Return what narrows the list down."""
        return {name: value for name in NAMES if (value := getattr(self, name))}

    @property
    def query(self) -> str:
        """The same as the query of an address."""
        return urlencode(self.said)

    @property
    def times(self) -> tuple[datetime | None, datetime | None]:
        """From when on, and until when, traces came."""
        return _moment("since", self.since), _moment("until", self.until)

    @property
    def tells(self) -> bool:
        """Return whether being in the list says what an agent did, said or took."""
        names = ("q", "rule", "judge", "verdict", "asked", *_LEAST)
        return bool(self._call() or any(getattr(self, name) for name in names))

    def traces(self, project: Project, role: Role) -> TraceQuerySet:
        """Return the project's traces that it shows to a member, each with whether it `is_closed` to them."""
        words = words_of(self.q)[:_MOST_WORDS]
        return self._shown(self._told(project), project, role).with_words(words)

    def _alike(self, project: Project) -> TraceQuerySet:
        """Return the traces of its times that are all that it says they are: what an index finds in their order."""
        found = Trace.objects.in_project(project).summed_up().between(*self.times)
        equal = {column: value for name, column in _EQUAL.items() if (value := getattr(self, name))}
        found = found.filter(**equal)
        return found.filter(**{_EQUAL[self.without]: ""}) if self.without else found

    def _told(self, project: Project) -> TraceQuerySet:
        """Return those of them that did and took what it says; their words are not looked at."""
        found = self._alike(project)
        bounds = {column: _number(name, value) for name, column in _LEAST.items() if (value := getattr(self, name))}
        found = found.filter(**bounds)
        if call := self._call():
            found = found.with_calls(project, **call)
        if not (self.rule or self.judge or self.verdict or self.asked):
            return found
        return with_verdicts(
            found,
            project,
            rule=self.rule,
            judge=UUID(self.judge) if self.judge else None,
            verdict=self.verdict,
            asked_on=timezone.localdate(asked) if (asked := _moment("asked", self.asked)) else None,
        )

    def _shown(self, traces: TraceQuerySet, project: Project, role: Role) -> TraceQuerySet:
        return traces.exclude(closed_to(project, role)) if self.tells else traces.with_closed(project, role)

    def page(self, project: Project, role: Role, before: str, size: int = PAGE_SIZE) -> Page[Trace]:
        """Return a page of them, the newest first."""
        among, rows = self._alike(project), self.traces(project, role)
        if not self.tells:
            # By their ids first: no index has whole rows, and a planner would look for those among all.
            page = page_of(among.only("pk"), before, size)
            return Page(list(rows.filter(pk__in=[each.pk for each in page.rows]).order_by("-pk")), page.older)
        newest = among.order_by("-pk").values_list("pk", flat=True).first()
        if newest is None:
            return Page([], "")

        def far() -> TraceQuerySet:
            words = words_of(self.q)[:_MOST_WORDS]
            return self._shown(self._told(project), project, role).with_words_looked_up(words, among[:_LOOK_AT])

        return sought_page_of(rows.filter(pk__lte=newest), among, before, size, far=far, look_at=_LOOK_AT)

    def _call(self) -> JsonObject:
        wanted: JsonObject = {"tool": self.tool} if self.tool else {}
        if self.error == "any":
            wanted["error_class__in"] = ERRORS
        elif self.error:
            wanted["error_class"] = self.error
        if (least := _number("min_call_ms", self.min_call_ms)) is not None:
            wanted["duration_ms__gte"] = least
        return wanted | ({"arguments_fit": False} if self.arguments == "bad" else {})


NAMES: Final = tuple(each.name for each in fields(TraceFilter) if each.name != "problems")


def _check(name: str, text: str) -> None:
    """Raise `FilterError` where a value is not of its kind."""
    if name in _NUMBERS:
        _number(name, text)
    elif name in _TIMES:
        _moment(name, text)
    elif name in _CHOICES and text and text not in _CHOICES[name]:
        raise FilterError(f"{name} is not one of {', '.join(_CHOICES[name])}: {text[:40]}")
    elif name == "judge" and text:
        try:
            UUID(text)
        except ValueError:
            raise FilterError(f"judge is not an id of a judge: {text[:40]}") from None


def _number(name: str, text: str) -> float | None:
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        raise FilterError(f"{name} is not a number: {text[:40]}") from None
    if number != number or abs(number) == float("inf"):  # noqa: PLR0124
        raise FilterError(f"{name} is not a number: {text[:40]}")
    return number


def _moment(name: str, text: str) -> datetime | None:
    """Return a time, None for no text. Raises `FilterError`."""
    if not text:
        return None
    try:
        moment, day = parse_datetime(text), parse_date(text)
        if day is not None:
            # Of a day, the beginning; of the last one, the end.
            moment = datetime(day.year, day.month, day.day) + timedelta(days=name == "until")  # noqa: DTZ001
        if moment is not None:
            return moment if timezone.is_aware(moment) else timezone.make_aware(moment)
    except (ValueError, OverflowError):
        pass
    raise FilterError(f"{name} is neither a day, such as 2026-11-26, nor a time: {text[:40]}")
