"""Read what a week brought, as plain lines that a page, a file, an answer or a message can show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from itertools import islice
from typing import Any, Final

from django.db.models import Min
from django.urls import reverse
from django.utils import timezone

from labeling.agreement.cache import agreement_counted
from labeling.agreement.filters import Filters as AgreementFilters
from labeling.coverage.cache import coverage_of
from labeling.coverage.counting import tools_to_cover
from labeling.coverage.quotas import quotas_of
from labeling.coverage.table import tool_rows
from labeling.examples.shown_strata import hidden_strata
from labeling.home import waiting
from labeling.label.open_tasks import counted, counted_at_home
from labeling.models import Dataset
from reports.cases.queries import grading_sums, verdict_counts
from reports.compare.layers import ALPHA
from reports.compare.queries import MOST_COMPARED, candidates_for, default_baseline, two_runs
from reports.issues.figures import Share, seen_in
from reports.issues.models import Issue, IssueEvent
from reports.models import HeldGate
from reports.run.analysis import layers_of
from toolevals.grading.metrics.comparison import fisher_fewer, holm
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.models import Run, VerdictCount
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Project, Role, User, untrashed

DAYS: Final = 7
# So many lines of a section are told, so many a page shows, and so many runs are compared with the one before.
MOST_LINES: Final = 50
MOST_SHOWN: Final = 10
MOST_PAIRS: Final = 10
MOST_CANDIDATES: Final = 50
MOST_DATASETS: Final = 20
# The sections in their order -> what they are called.
SECTIONS: Final[Mapping[str, str]] = {
    "new": "New issues",
    "worse": "Worse",
    "back": "Back",
    "fixed": "Fixed",
    "gates": "Failed gates",
    "runs": "Finished runs",
    "agreement": "Agreement",
    "next": "Label next",
}
# Those of which the sentence has no number.
OF_ONE_PERSON: Final = ("agreement", "next")


@dataclass(frozen=True, slots=True)
class Week:
    """Seven days, the last one included."""

    until: date

    @classmethod
    def of_address(cls, query: Mapping[str, str]) -> Week:
        """Return the week that ends with `until`, else the last seven days. Raises InvalidDocument."""
        today = timezone.localdate(database_now())
        if not (said := query.get("until", "")):
            return cls(today)
        try:
            until = date.fromisoformat(said)
        except ValueError:
            raise InvalidDocument.at("/until", f"is not a day, such as {today}: {said[:40]}") from None
        if not date(2000, 1, 1) <= until <= today:
            raise InvalidDocument.at("/until", f"must be from 2000-01-01 to today, {today}")
        return cls(until)

    @property
    def since(self) -> date:
        """The first day."""
        return self.until - timedelta(days=DAYS - 1)

    @property
    def before(self) -> Week:
        return Week(self.until - timedelta(days=DAYS))

    @property
    def after(self) -> Week | None:
        """The week after it, at most the last seven days; None of these."""
        today = timezone.localdate(database_now())
        return Week(min(self.until + timedelta(days=DAYS), today)) if self.until < today else None

    @property
    def times(self) -> tuple[datetime, datetime]:
        """Return when it begins, and when it is over."""
        return _midnight(self.since), _midnight(self.until + timedelta(days=1))


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime(day.year, day.month, day.day))  # noqa: DTZ001


@dataclass(frozen=True, slots=True)
class DigestLine:
    """One thing that a week brought, and where it is seen.

    `value` is a share with its interval, of `count`; `before` is what it was, `difference` the change. `change` says
    what the test of it says: better, worse, same, unclear; empty where nothing is compared. `against` is where the
    comparison is seen.
    """

    section: str
    words: str
    address: str
    at: datetime | None = None
    count: int | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    before: float | None = None
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    p_value: float | None = None
    change: str = ""
    against: str = ""


@dataclass(frozen=True, slots=True)
class DigestSection:
    """The lines of one kind; `is_cut`: there are more."""

    name: str
    lines: tuple[DigestLine, ...]
    is_cut: bool

    @property
    def title(self) -> str:
        return SECTIONS[self.name]

    @property
    def number(self) -> str:
        """The number of lines, as people read it."""
        return f"over {MOST_LINES}" if self.is_cut else str(len(self.lines))

    @property
    def shown(self) -> tuple[DigestLine, ...]:
        """The lines that the page shows."""
        return self.lines[:MOST_SHOWN]

    @property
    def more(self) -> int:
        """The number of lines that it does not show."""
        return max(len(self.lines) - MOST_SHOWN, 0)


@dataclass(frozen=True, slots=True)
class Digest:
    """Holds what a week brought, as one person may know it."""

    week: Week
    sections: tuple[DigestSection, ...]

    @property
    def lines(self) -> list[DigestLine]:
        """All lines, in the order of the sections."""
        return [line for section in self.sections for line in section.lines]

    @property
    def sentence(self) -> str:
        """The sections of which something is told, with their numbers, as a sentence."""
        parts = [
            f"{section.title[:1].lower()}{section.title[1:]}: {section.number}"
            for section in self.sections
            if section.lines and section.name not in OF_ONE_PERSON
        ]
        words = ", ".join(parts)
        return f"{words[:1].upper()}{words[1:]}." if parts else "Nothing happened in these days."


@dataclass(frozen=True, slots=True)
class _Asked:
    project: Project
    user: User | None
    role: Role
    week: Week

    def at(self, name: str, *more: object) -> str:
        return reverse(name, args=[self.project.slug, *more])


def digest_note(project: Project) -> tuple[str, str]:
    """Return what the last seven days brought to a project in a sentence, as every member may know it, and its page."""
    week = Week.of_address({})
    # The sentence has no number of these, and they tell each person something else.
    names = [name for name in SECTIONS if name not in OF_ONE_PERSON]
    return digest_of(project, None, Role.VIEWER, week, names).sentence, reverse("reports:digest", args=[project.slug])


def digest_of(
    project: Project, user: User | None, role: Role, week: Week, names: Iterable[str] = tuple(SECTIONS)
) -> Digest:
    """Return what a week brought to a project, as a member with a role may know it.

    It tells no more than the pages that its lines open: nothing of what others say of examples that are not decided.
    """
    asked = _Asked(project, user, role, week)
    sections = []
    for name in names:
        lines = tuple(islice(_READ[name](asked), MOST_LINES + 1))
        sections.append(DigestSection(name, lines[:MOST_LINES], len(lines) > MOST_LINES))
    return Digest(week, tuple(sections))


def _new(asked: _Asked) -> Iterator[DigestLine]:
    since, until = asked.week.times
    issues = list(Issue.objects.in_project(asked.project).filter(created_at__gte=since, created_at__lt=until))
    seen = seen_in(issues)
    rows = [(sum(seen[issue.pk].values()) if issue.pk in seen else 0, issue) for issue in issues]
    for count, issue in sorted(rows, key=lambda row: (-row[0], row[1].name, row[1].pk)):
        yield DigestLine("new", issue.name, asked.at("reports:issue", issue.pk), issue.created_at, count)


def _worse(asked: _Asked) -> Iterator[DigestLine]:
    """Yield the known issues that are in a larger share of the graded cases than in the week before, not by chance."""
    now, before = _graded(asked.project, asked.week), _graded(asked.project, asked.week.before)
    if not now or not before:
        return
    issues = list(Issue.objects.in_project(asked.project).filter(created_at__lt=asked.week.times[0]))
    seen = seen_in(issues)
    found: list[tuple[Issue, Share, Share]] = []
    for issue in issues:
        counts = seen.get(issue.pk, Counter())
        datasets = {dataset for number, (dataset, _) in (now | before).items() if counts[number]}
        one, other = _share(now, datasets, counts), _share(before, datasets, counts)
        if all(share.rate is not None and share.seen <= share.cases for share in (one, other)) and (
            (one.rate or 0.0) > (other.rate or 0.0)
        ):
            found.append((issue, one, other))
    p_values = holm([fisher_fewer((one.seen, one.cases), (other.seen, other.cases)) for _, one, other in found])
    told = sorted(zip(p_values, found, strict=True), key=lambda row: (row[0] or 0.0, row[1][0].name))
    for p_value, (issue, one, other) in told:
        if p_value is not None and p_value < ALPHA:
            interval = one.interval
            yield DigestLine(
                "worse",
                issue.name,
                asked.at("reports:issue", issue.pk),
                count=one.cases,
                value=one.rate,
                low=interval.low,
                high=interval.high,
                before=other.rate,
                p_value=p_value,
                change="worse",
            )


def _share(runs: Mapping[int, tuple[Any, int]], datasets: set[Any], counts: Counter[int]) -> Share:
    mine = [(number, cases) for number, (dataset, cases) in runs.items() if dataset in datasets]
    return Share(sum(counts[number] for number, _ in mine), sum(cases for _, cases in mine))


def _finished(project: Project, week: Week) -> Any:
    """Return people's runs that were graded in a week for the first time, with when: a run graded again is not new."""
    since, until = week.times
    runs = Run.objects.filter(untrashed("dataset_version__dataset"), project=project, grading__isnull=False).of_people()
    finished = runs.annotate(finished=Min("gradings__finished_at"))
    return finished.filter(finished__gte=since, finished__lt=until)


def _graded(project: Project, week: Week) -> dict[int, tuple[Any, int]]:
    """Return the dataset of each run of a week, and how many of its cases are no error, by its number."""
    rows = list(_finished(project, week).values_list("number", "dataset_version__dataset", "grading"))
    counted_cases = VerdictCount.objects.filter(grading__in=[row[2] for row in rows], column="outcome")
    cases: Counter[Any] = Counter()
    for grading, count in counted_cases.exclude(value="errored").values_list("grading", "count"):
        cases[grading] += count
    return {number: (dataset, cases[grading]) for number, dataset, grading in rows}


def _events(asked: _Asked, section: str, verb: str) -> Iterator[DigestLine]:
    since, until = asked.week.times
    events = IssueEvent.objects.filter(
        issue__project=asked.project, issue__merged_into=None, verb=verb, at__gte=since, at__lt=until
    )
    for event in events.select_related("issue").order_by("-at", "-pk")[: MOST_LINES + 1]:
        yield DigestLine(section, event.issue.name, asked.at("reports:issue", event.issue_id), event.at)


def _gates(asked: _Asked) -> Iterator[DigestLine]:
    since, until = asked.week.times
    held = HeldGate.objects.in_project(asked.project).filter(
        status="failed", created_at__gte=since, created_at__lt=until
    )
    for each in held[: MOST_LINES + 1]:
        gate = f"the gate {each.name}" if each.name else "a gate"
        words = f"Run {each.run.number} of {each.run.agent.name} failed {gate}"
        yield DigestLine("gates", words, asked.at("reports:gate", each.pk), each.created_at)


def _runs(asked: _Asked) -> Iterator[DigestLine]:
    runs = _finished(asked.project, asked.week).select_related(
        "project", "agent", "experiment", "dataset_version__dataset", "grading__dataset_version__dataset__project"
    )
    for place, run in enumerate(runs.order_by("-number")[: MOST_LINES + 1]):
        rate = layers_of(verdict_counts(run.grading), grading_sums(run.grading)).outcome.rate
        version = run.grading.dataset_version
        line = DigestLine(
            "runs",
            f"Run {run.number} of {run.agent.name} on {version.dataset.name} v{version.number}",
            asked.at("reports:run", run.number),
            run.finished,
            rate.total,
            rate.value,
            rate.low,
            rate.high,
        )
        yield _compared(asked, line, run) if place < MOST_PAIRS else line


def _compared(asked: _Asked, line: DigestLine, run: Run) -> DigestLine:
    """Return the line of a run with what changed since the run before; as it is where that cannot be told."""
    before = default_baseline(run, candidates_for(run, MOST_CANDIDATES))
    if before is None or max(run.size, before.size) > MOST_COMPARED:
        return line
    pair = two_runs(Run.objects.filter(project=run.project_id), before.number, run.number)
    if pair is None or pair.refusal:
        return line
    delta = pair.comparison.layer("outcome")
    if delta is None:
        return line
    found = delta.compared
    return replace(
        line,
        before=found.before,
        difference=found.difference,
        difference_low=found.interval.low if found.interval else None,
        difference_high=found.interval.high if found.interval else None,
        p_value=found.p_value,
        change=delta.change,
        against=asked.at("reports:compare", before.number, run.number),
    )


def _datasets(project: Project) -> list[Dataset]:
    return list(Dataset.objects.filter(project=project).order_by("-created_at", "-pk")[:MOST_DATASETS])


def _agreement(asked: _Asked) -> Iterator[DigestLine]:
    """Yield how far people chose the same tool on examples that are decided, whose last label came in the week."""
    filters = AgreementFilters(since=asked.week.since, until=asked.week.until)
    for dataset in _datasets(asked.project):
        agreement = agreement_counted(dataset, filters, actor=asked.user).agreement
        if agreement is None or not agreement.units:
            continue
        same = agreement.tool.percent
        yield DigestLine(
            "agreement",
            f"Same tool on decided examples of {dataset.name}",
            f"{asked.at('labeling:agreement', dataset.slug)}?{filters.query()}",
            count=agreement.units,
            value=same.value,
            low=same.interval.low if same.interval else None,
            high=same.interval.high if same.interval else None,
        )


def _next(asked: _Asked) -> Iterator[DigestLine]:
    """Yield what waits for the person now, and what examples lack; an older week has nothing to label next."""
    if asked.user is None or asked.role < Role.REVIEWER or asked.week.after is not None:
        return
    counts = counted(asked.project, asked.user, asked.role) | counted_at_home(asked.project, asked.user, asked.role)
    for task in waiting(asked.project, asked.role, counts):
        if task.count:
            yield DigestLine("next", f"{task.number} {task.words}", task.url, count=task.count)
    for dataset in _datasets(asked.project):
        found = coverage_of(dataset, actor=asked.user).told(hidden_strata(dataset, asked.role)).counts
        if found is None:
            continue
        rows = tool_rows(found, quotas_of(dataset), tools_to_cover(dataset, found))
        lacking = sum(bool(cell.wanted and cell.lacking) for row in rows for cell in row.cells)
        if lacking:
            kinds = "kind of example is" if lacking == 1 else "kinds of examples are"
            words = f"{dataset.name}: {lacking:,} {kinds} not covered"
            yield DigestLine("next", words, asked.at("labeling:coverage", dataset.slug), count=lacking)


_READ: Final[Mapping[str, Callable[[_Asked], Iterator[DigestLine]]]] = {
    "new": _new,
    "worse": _worse,
    "back": lambda asked: _events(asked, "back", "regressed"),
    "fixed": lambda asked: _events(asked, "fixed", "fixed"),
    "gates": _gates,
    "runs": _runs,
    "agreement": _agreement,
    "next": _next,
}
