"""Makes a project's first page: what waits for one person, what is new since they were here, higher rooms' parts.

A lower room does not know the higher ones, so that the settings list the functions that fill the page:

- `HOME_LOOK`: `(request) -> HomePanel`, read once when the page is opened: how good the agent is, or the first steps;
- `HOME_WAITING`: `(project, role, counted) -> Iterable[PendingTask]`, `counted` of `toolevals.workspace.navigation`;
- `HOME_NEWS`: `(project, since) -> Iterable[News]`, at most MOST_NEWS + 1, the newest first;
- `HOME_PANES`: a template, and `(project) -> Content`, which the template is given as `pane`;
- `HOME_NOTES`: likewise, for what stands above all that waits.

All but the look are asked for again and again while the page is open: each reads a bounded number of rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Protocol

from django.conf import settings
from django.urls import reverse
from django.utils import timezone
from django.utils.module_loading import import_string

from toolevals.workspace.clock import database_now
from toolevals.workspace.mentions.queries import MOST as MOST_MENTIONS
from toolevals.workspace.models import Job, JobState, Project, Role, User, Visit
from toolevals.workspace.requests import ProjectRequest

# Who comes for the first time is told what happened in the last days.
FIRST_DAYS = 7
MOST_NEWS = 12
# Failed work that no one has tried again for so long waits for no one any more.
FAILED_DAYS = timedelta(days=14)
MOST_FAILED = 100
# How often an open page asks for what is new: while a run is at work, and otherwise.
BUSY_SECONDS, CALM_SECONDS = 3, 15


@dataclass(frozen=True, slots=True)
class PendingTask:
    """Work for a person at `url`: `count` of `one`, or of `many`; `at_most` is where counting stopped.

    `act` is what the button says, a verb and its object.
    """

    count: int
    one: str
    many: str
    url: str
    act: str
    at_most: int | None = None
    # The first day on which some of it is due.
    due_on: date | None = None

    @property
    def words(self) -> str:
        """Return what it is, in the number that it has."""
        return self.one if self.count == 1 else self.many

    @property
    def is_overdue(self) -> bool:
        """Tell whether the day on which some of it was due is over, by the time zone of the pages."""
        return self.due_on is not None and self.due_on < timezone.localdate(database_now())

    @property
    def number(self) -> str:
        """Return how many, as people read it."""
        return f"{self.count:,}" + (" or more" if self.count == self.at_most else "")


def due_of(counted: Mapping[str, int], name: str) -> date | None:
    """Return the first day on which something that is counted under a name is due; numbers tell it as an ordinal."""
    ordinal = counted.get(f"{name}_due", 0)
    return date.fromordinal(ordinal) if ordinal else None


@dataclass(frozen=True, slots=True)
class HomePanel:
    """The part of a higher room above the news: a template, which is given `content` as `look`."""

    template: str
    content: object


@dataclass(frozen=True, slots=True)
class News:
    """Something that happened: when, what in words, where it is seen, and by whom (empty: by itself)."""

    at: datetime
    words: str
    url: str
    by: str = ""


class Content(Protocol):
    """The content of a higher room's pane; whether any of it is at work, so that it will look otherwise soon."""

    @property
    def at_work(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Pane:
    """A part of the page that a higher room fills."""

    template: str
    content: Content


@dataclass(frozen=True, slots=True)
class Home:
    """Everything on the page that may change while it is open. `news` is cut after MOST_NEWS: then `more` is true."""

    waiting: tuple[PendingTask, ...]
    since: datetime
    is_first: bool
    news: tuple[News, ...]
    more: bool
    panes: tuple[Pane, ...]
    notes: tuple[Pane, ...]

    @property
    def seconds(self) -> int:
        """After how long the open page asks again."""
        return BUSY_SECONDS if any(pane.content.at_work for pane in (*self.notes, *self.panes)) else CALM_SECONDS


def home_of(project: Project, role: Role, counted: Mapping[str, int], since: datetime | None) -> Home:
    """Return the page's content for a person who was here last at `since`, None at their first visit."""
    moment = since or database_now() - timedelta(days=FIRST_DAYS)
    news = sorted(_news(project, moment), key=lambda each: each.at, reverse=True)
    return Home(
        tuple(each for each in _waiting(project, role, counted) if each.count),
        moment,
        since is None,
        tuple(news[:MOST_NEWS]),
        len(news) > MOST_NEWS,
        _panes(project, settings.HOME_PANES),
        _panes(project, settings.HOME_NOTES),
    )


def _panes(project: Project, listed: Iterable[tuple[str, str]]) -> tuple[Pane, ...]:
    return tuple(Pane(template, import_string(path)(project)) for template, path in listed)


def home_panel(request: ProjectRequest) -> HomePanel:
    """Return what the page shows above its news to the person who asks."""
    found: HomePanel = import_string(settings.HOME_LOOK)(request)
    return found


def _waiting(project: Project, role: Role, counted: Mapping[str, int]) -> Iterator[PendingTask]:
    for path in settings.HOME_WAITING:
        yield from import_string(path)(project, role, counted)


def waiting_for(project: Project, user: User, role: Role) -> Iterator[PendingTask]:
    """Yield what waits for a person in a project, as its first page tells them."""
    counted: dict[str, int] = {}
    for path in (*settings.COUNTED, *settings.HOME_COUNTED):
        counted |= import_string(path)(project, user, role)
    yield from (each for each in _waiting(project, role, counted) if each.count)


def _news(project: Project, since: datetime) -> Iterator[News]:
    for path in settings.HOME_NEWS:
        yield from import_string(path)(project, since)


def waiting(project: Project, role: Role, counted: Mapping[str, int]) -> Iterable[PendingTask]:
    """Return what waits in this room: mentions, and failed jobs for those who may try them again."""
    unread = counted.get("mentions", 0)
    at = reverse("workspace:mentions", args=[project.slug])
    yield PendingTask(unread, "mention of you", "mentions of you", at, "Read mentions", MOST_MENTIONS)
    if role < Role.ADJUDICATOR:
        return
    failed = (
        Job.objects.of_project(project)
        .filter(state=JobState.FAILED, created_at__gt=database_now() - FAILED_DAYS)
        .order_by()
    )
    count = failed[:MOST_FAILED].count()
    url = reverse("workspace:jobs", args=[project.slug])
    yield PendingTask(count, "failed job", "failed jobs", url, "See failed jobs", MOST_FAILED)


# Looks at the page that are closer together are one visit.
APART = timedelta(minutes=30)
# A visit is not written down more often.
_OFTEN = timedelta(minutes=1)


def visit_note(*, project: Project, user: User) -> datetime | None:
    """Note that a person looks at a project's first page; return when their visit before this one ended, if ever."""
    now = database_now()
    visit, is_new = Visit.objects.get_or_create(project=project, user=user, defaults={"seen_at": now})
    if is_new or now - visit.seen_at < _OFTEN:
        return visit.before
    if now - visit.seen_at >= APART:
        visit.before = visit.seen_at
    # Of two looks at once the first one's word holds.
    Visit.objects.filter(pk=visit.pk, seen_at=visit.seen_at).update(seen_at=now, before=visit.before)
    return visit.before


def visited_before(project: Project, user: User) -> datetime | None:
    """Return when a person's visit before this one ended, without noting anything."""
    return Visit.objects.filter(project=project, user=user).values_list("before", flat=True).first()
