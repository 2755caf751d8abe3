"""Counts what online rules said on each day: numbers of verdicts, and the share that passed with its interval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any, Final

from django.db import connection
from django.db.models import Case, Count, IntegerField, Q, Value, When
from django.utils import timezone

from toolevals.grading.metrics.clustered import ExampleSums, Rate, rate_of
from toolevals.traces.filters import TraceFilter
from toolevals.traces.judge_rules import JudgeRule, judge_rules
from toolevals.traces.models import QuestionState, SpanVerdict, TraceQuestion
from toolevals.traces.querysets.traces import first_id
from toolevals.traces.reading.rules import RULES, Rule
from toolevals.workspace.models import Project

# Days that are shown unless others are asked for, and days at most.
DAYS: Final = 14
MOST_DAYS: Final = 92
STATUSES: Final = ("passed", "failed", "unscored", "errored")


@dataclass(slots=True)
class RuleDay:
    """Verdicts of a rule on the traces that came on one day, and how surely the share that passed is known.

    `not_judged` counts the traces in a judge's share that it was not asked about: they are in no other number.
    """

    rule: Rule | JudgeRule
    day: date
    not_judged: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    tally: Counter[tuple[int, int]] = field(default_factory=Counter)

    @property
    def rate(self) -> Rate:
        """The share that passed among those that passed or failed, with its interval clustered by trace."""
        return rate_of(ExampleSums.of(self.tally))

    @property
    def passed(self) -> int:
        """Verdicts that passed."""
        return self.counts["passed"]

    @property
    def failed(self) -> int:
        """Verdicts that failed."""
        return self.counts["failed"]

    @property
    def unscored(self) -> int:
        """Verdicts without a score."""
        return self.counts["unscored"]

    @property
    def errored(self) -> int:
        """Rules that broke."""
        return self.counts["errored"]


@dataclass(frozen=True, slots=True)
class RuleTrend:
    """One rule over the days on which it said something, or should have, the first day first."""

    rule: Rule | JudgeRule
    days: tuple[RuleDay, ...]


def trend_filter(asked: Any) -> TraceFilter:
    """Return the days, agent and version that an address asks for; more days than `MOST_DAYS` are a problem of it."""
    said = {name: asked.get(name, "") for name in ("since", "until", "agent", "version")}
    if not said["since"]:
        last = TraceFilter.of(said).times[1]
        today = timezone.localdate() if last is None else timezone.localdate(last - timedelta(microseconds=1))
        said["since"] = str(today - timedelta(days=DAYS - 1))
    wanted = TraceFilter.of(said)
    if not wanted.problems and len(days_of(wanted)) > MOST_DAYS:
        wanted.problems["since"] = f"These are more than {MOST_DAYS} days."
    return wanted


def rule_trends(project: Project, wanted: TraceFilter) -> list[RuleTrend]:
    """Return what each rule said on each day that a filter of `trend_filter` is about; rules that said nothing are out.

    Traces that are closed to somebody count: the figures name none.
    """
    if wanted.problems:
        return []
    days = days_of(wanted)
    # By the key of a judge, or the name of a rule.
    rules: dict[int | str, Rule | JudgeRule] = {rule.name: rule for rule in RULES} | judge_rules(project)
    found: dict[tuple[int | str, int], RuleDay] = {}

    def day_of(rule: int | str, at: int) -> RuleDay:
        return found.setdefault((rule, at), RuleDay(rules[rule], timezone.localdate(days[at])))

    for name, judge, at, passed, failed, unscored, errored, count in _counted(project, wanted, days) if days else ():
        if (key := judge or name) not in rules:
            continue
        each = day_of(key, at)
        each.counts.update(
            dict(zip(STATUSES, (count * part for part in (passed, failed, unscored, errored)), strict=True))
        )
        each.tally[passed + failed, passed] += count
    for judge, at, count in _not_judged(project, wanted, days) if days else ():
        day_of(judge, at).not_judged += count
    by_rule = [(rule, [found[key, at] for at in range(len(days)) if (key, at) in found]) for key, rule in rules.items()]
    return [RuleTrend(rule, tuple(said)) for rule, said in by_rule if said]


def days_of(wanted: TraceFilter) -> list[datetime]:
    """Return the beginnings of the days, the first one where the filter begins; never many more than are allowed."""
    since, until = wanted.times
    end = until or timezone.now()
    found: list[datetime] = []
    while since is not None and since < end and len(found) <= MOST_DAYS:
        found.append(since)
        following = timezone.localdate(since) + timedelta(days=1)
        since = timezone.make_aware(datetime(following.year, following.month, following.day))  # noqa: DTZ001
    return found


def _of_traces(rows: Any, wanted: TraceFilter, days: list[datetime]) -> Any:
    """Return those rows that hang on traces of the filter, each with the number of its `day`."""
    since, until = wanted.times
    rows = rows.filter(trace__gte=first_id(since or days[0]))
    rows = rows if until is None else rows.filter(trace__lt=first_id(until))
    equal = {"trace__agent": wanted.agent, "trace__agent_version": wanted.version}
    rows = rows.filter(**{column: value for column, value in equal.items() if value})
    cases = [When(trace__lt=first_id(end), then=Value(at)) for at, end in enumerate(days[1:])]
    return rows.annotate(day=Case(*cases, default=Value(len(days) - 1), output_field=IntegerField()))


def _not_judged(project: Project, wanted: TraceFilter, days: list[datetime]) -> Iterator[tuple[int, int, int]]:
    """Yield (judge, number of the day, how many traces it was not asked about)."""
    rows = TraceQuestion.objects.filter(judge__project=project, state=QuestionState.NOT_JUDGED)
    found = _of_traces(rows, wanted, days).values("judge", "day").annotate(count=Count("pk")).order_by()
    yield from found.values_list("judge", "day", "count")


def _counted(project: Project, wanted: TraceFilter, days: list[datetime]) -> Iterator[tuple[Any, ...]]:
    """Yield (rule, judge or None, number of the day, counts by status in a trace, how many traces are so)."""
    rows = _of_traces(SpanVerdict.objects.filter(project=project), wanted, days)
    by_status = {status: Count("pk", filter=Q(status=status)) for status in STATUSES}
    by_trace = rows.values("rule", "judge", "day", "trace").annotate(**by_status).order_by()
    sql, parameters = by_trace.query.sql_with_params()
    columns = ", ".join(f'"{name}"' for name in ("rule", "judge", "day", *STATUSES))
    with connection.cursor() as cursor:
        # The inner query's values are its parameters; the outer one has names of ours alone.
        cursor.execute(
            f"SELECT {columns}, COUNT(*) FROM ({sql}) AS of_traces GROUP BY {columns}",  # noqa: S608
            parameters,
        )
        for rule, judge, *counts in cursor.fetchall():
            yield rule, judge, *map(int, counts)
