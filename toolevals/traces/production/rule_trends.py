"""Counts what online rules said on each day: numbers of verdicts, and the share that passed with its interval.

What rules and judges said is counted from the verdicts themselves, or as kept for a whole hour.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any, Final

from django.db import connection
from django.db.models import Count, F, Q
from django.utils import timezone

from toolevals.grading.metrics.clustered import ExampleSums, Rate, rate_of
from toolevals.traces.judges.models import JUDGE_RULE, TraceJudge
from toolevals.traces.judges.rules import JudgeRule
from toolevals.traces.judges.scores import score_judges
from toolevals.traces.models import QuestionState, SpanVerdict, TraceQuestion
from toolevals.traces.policies.rules import policy_rules
from toolevals.traces.production.kept_hours import came_within, day_number, kept_hours
from toolevals.traces.reading.filters import TraceFilter
from toolevals.traces.reading.rules import RULES, Rule
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Project

STATUSES: Final = ("passed", "failed", "unscored", "errored")
_GROUP: Final = ("rule", "judge", "agent", "of_version", "day", *STATUSES)


@dataclass(frozen=True, slots=True)
class VerdictCounts:
    """Counts the `traces` of one version of an agent that came on one day and have the same verdicts of one rule.

    `statuses` are how many verdicts each of them has, in the order of `STATUSES`. `judge` is the key of the judge whose
    verdicts they are, None for a rule.
    """

    rule: str
    judge: int | None
    agent: str
    version: str
    day: date
    statuses: tuple[int, ...]
    traces: int


def verdict_counts(
    project: Project, trace_filter: TraceFilter, days: Sequence[datetime], *, judged: bool
) -> Iterator[VerdictCounts]:
    """Yield what was said of a project's traces of the times, agent and version of a filter; `days` are its days.

    What judges said is among it where traces were `judged`. It may be in parts: several with the same names.
    """
    hours = kept_hours(project, trace_filter.times, "verdicts")
    for day, documents in hours.kept:
        for rule, agent, version, statuses, traces in documents:
            if trace_filter.agent in ("", agent) and trace_filter.version in ("", version):
                yield VerdictCounts(rule, None, agent, version, day, tuple(statuses), traces)
    equal = {"trace__agent": trace_filter.agent, "trace__agent_version": trace_filter.version}
    rows = SpanVerdict.objects.filter(project=project, **{column: value for column, value in equal.items() if value})
    for some in hours.gaps_in_parts:
        yield from counted(rows.filter(came_within(some, "trace"), judge=None), days)
    if judged:
        # Judges answer at any time later, and are asked about few traces: nothing of theirs is kept.
        yield from counted(rows.filter(came_within([trace_filter.times], "trace")).exclude(judge=None), days)


def counted(verdicts: Any, days: Sequence[datetime]) -> Iterator[VerdictCounts]:
    """Yield the counts of verdicts, a queryset of `SpanVerdict`, which the database counts. `days` are their days."""
    named = [timezone.localdate(each) for each in days]
    by_status = {status: Count("pk", filter=Q(status=status)) for status in STATUSES}
    by_trace = (
        verdicts.annotate(day=day_number(days, "trace"), agent=F("trace__agent"), of_version=F("trace__agent_version"))
        .values("rule", "judge", "agent", "of_version", "day", "trace")
        .annotate(**by_status)
        .order_by()
    )
    sql, parameters = by_trace.query.sql_with_params()
    columns = ", ".join(f'"{name}"' for name in _GROUP)
    with connection.cursor() as cursor:
        # The inner query's values are its parameters; the outer one has names of ours alone.
        cursor.execute(
            f"SELECT {columns}, COUNT(*) FROM ({sql}) AS of_traces GROUP BY {columns}",  # noqa: S608
            parameters,
        )
        for rule, judge, agent, version, day, *statuses, traces in cursor.fetchall():
            yield VerdictCounts(rule, judge, agent, version, named[int(day)], tuple(map(int, statuses)), int(traces))


def documents_of(counts: Iterable[VerdictCounts]) -> list[Any]:
    """Return counts of rules in one hour as they are kept."""
    return [[each.rule, each.agent, each.version, list(each.statuses), each.traces] for each in counts]


# Days that are shown unless others are asked for, and days at most.
DAYS: Final = 14
MOST_DAYS: Final = 92


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

    @property
    def whole(self) -> RuleDay:
        """Return the days together, as of the first of them."""
        found = RuleDay(self.rule, self.days[0].day, sum(each.not_judged for each in self.days))
        for each in self.days:
            found.counts.update(each.counts)
            found.tally.update(each.tally)
        return found


@dataclass(frozen=True, slots=True)
class ScoreTrend:
    """One of the four scores of traces over the chosen days, by the rule and by each judge that gave it."""

    title: str
    trends: tuple[RuleTrend, ...]
    has_judge: bool


def score_trends(judges: Iterable[TraceJudge], trends: Sequence[RuleTrend]) -> list[ScoreTrend]:
    """Return the four scores, also those that none of a project's judges gives."""
    found = []
    for each in score_judges(judges):
        names = (each.name, f"{JUDGE_RULE}{each.name}")
        own = tuple(trend for trend in trends if trend.rule.name in names and not trend.rule.kind)
        judged = each.judge is not None or any(trend.rule.judge for trend in own)
        found.append(ScoreTrend(each.title, own, judged))
    return found


def trend_filter(parameters: Any) -> TraceFilter:
    """Return the days, agent and version that an address asks for; more days than `MOST_DAYS` are a problem of it."""
    said = {name: parameters.get(name, "") for name in ("since", "until", "agent", "version")}
    if not said["since"]:
        last = TraceFilter.of(said).times[1]
        today = (
            timezone.localdate(database_now()) if last is None else timezone.localdate(last - timedelta(microseconds=1))
        )
        said["since"] = str(today - timedelta(days=DAYS - 1))
    trace_filter = TraceFilter.of(said)
    if not trace_filter.problems and len(days_of(trace_filter)) > MOST_DAYS:
        trace_filter.problems["since"] = f"These are more than {MOST_DAYS} days."
    return trace_filter


def rule_trends(
    project: Project, trace_filter: TraceFilter, trace_judges: Iterable[TraceJudge] | None = None
) -> list[RuleTrend]:
    """Return what each rule said on each day that a filter of `trend_filter` is about; rules that said nothing are out.

    Traces that are closed to someone count: the figures name none. `trace_judges` are the project's, where they are
    read already.
    """
    if trace_filter.problems:
        return []
    days = days_of(trace_filter)
    # By the key of a judge, or the name of a rule.
    of_project = TraceJudge.objects.in_project(project) if trace_judges is None else trace_judges
    judges = {each.pk: JudgeRule.of(each) for each in of_project}
    rules: dict[int | str, Rule | JudgeRule] = {rule.name: rule for rule in (*RULES, *policy_rules(project))} | judges
    rule_days: dict[tuple[int | str, int], RuleDay] = {}

    def day_of(rule: int | str, at: int) -> RuleDay:
        return rule_days.setdefault((rule, at), RuleDay(rules[rule], timezone.localdate(days[at])))

    if not days:
        return []
    numbers = {timezone.localdate(each): at for at, each in enumerate(days)}
    # Hours have the same few numbers of verdicts over and over.
    traces = Counter[tuple[int | str, date, tuple[int, ...]]]()
    for counts in verdict_counts(project, trace_filter, days, judged=bool(judges)):
        traces[counts.judge or counts.rule, counts.day, counts.statuses] += counts.traces
    for (key, day, statuses), count in traces.items():
        if key not in rules:
            continue
        each = day_of(key, numbers[day])
        each.counts.update({name: part * count for name, part in zip(STATUSES, statuses, strict=True)})
        passed, failed, *_ = statuses
        each.tally[passed + failed, passed] += count
    for judge, at, count in _not_judged(project, trace_filter, days) if judges else ():
        day_of(judge, at).not_judged += count
    by_rule = [
        (rule, [rule_days[key, at] for at in range(len(days)) if (key, at) in rule_days]) for key, rule in rules.items()
    ]
    return [RuleTrend(rule, tuple(said)) for rule, said in by_rule if said]


def days_of(trace_filter: TraceFilter) -> list[datetime]:
    """Return the beginnings of the days, the first one where the filter begins; never many more than are allowed."""
    since, until = trace_filter.times
    end = until or database_now()
    days: list[datetime] = []
    while since is not None and since < end and len(days) <= MOST_DAYS:
        days.append(since)
        following = timezone.localdate(since) + timedelta(days=1)
        since = timezone.make_aware(datetime(following.year, following.month, following.day))  # noqa: DTZ001
    return days


def _not_judged(project: Project, trace_filter: TraceFilter, days: list[datetime]) -> Iterator[tuple[int, int, int]]:
    """Yield (judge, number of the day, how many traces it was not asked about)."""
    rows: Any = TraceQuestion.objects.filter(came_within([trace_filter.times], "trace"), judge__project=project)
    equal = {"trace__agent": trace_filter.agent, "trace__agent_version": trace_filter.version}
    rows = rows.filter(state=QuestionState.NOT_JUDGED, **{column: value for column, value in equal.items() if value})
    found = rows.annotate(day=day_number(days, "trace")).values("judge", "day").annotate(count=Count("pk")).order_by()
    yield from found.values_list("judge", "day", "count")
