"""Gather the failures of graded cases and of traces into issues: killed anywhere, nothing is lost or counted twice.

A worker's regular duty reads cases, a page at a time; how far a grading is read is written with what was found there.
Failures of a trace are written in the transaction that sums it up.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID, uuid5

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from reports.issues.figures import is_version
from reports.issues.models import (
    FAILURE_FIELDS,
    Issue,
    IssueCase,
    IssueEvent,
    IssueGathering,
    IssueState,
    IssueTrace,
)
from toolevals.grading.failures import Failure, failures_of, kind_of, name_of
from toolevals.grading.values import Transcript
from toolevals.grading.values.verdicts import CaseGrade as Grade
from toolevals.json_types import JsonObject
from toolevals.runs.models import CaseGrade, Episode, Grading
from toolevals.traces.intake.models import came_at
from toolevals.traces.models import Trace
from toolevals.workspace.clock import database_now

# Cases in one transaction, and in one turn of the duty.
PAGE: Final = 100
TURN: Final = 1_000


def issues_due(_now: datetime) -> None:
    """Gather what is waiting, some cases in a turn: it is the sweeper's thread that calls."""
    left = TURN
    while left > 0 and (grading := IssueGathering.objects.waiting().select_related("run__project").first()):
        while left > 0 and (read := issues_gather(grading=grading)):
            left -= read
        left -= 1


@transaction.atomic
def issues_gather(*, grading: Grading) -> int:
    """Gather the next page of a grading's failed cases and return how many were read; 0 where all were read before."""
    IssueGathering.objects.bulk_create([IssueGathering(grading=grading)], ignore_conflicts=True)
    gathering = IssueGathering.objects.select_for_update().get(pk=grading.pk)
    if gathering.finished_at is not None:
        return 0
    cases = list(_failed(grading, gathering.after)[:PAGE])
    _store(grading, cases)
    gathering.after = cases[-1].pk if cases else gathering.after
    gathering.finished_at = database_now() if len(cases) < PAGE else None
    gathering.save(update_fields=["after", "finished_at"])
    return len(cases)


def _failed(grading: Grading, after: UUID | None) -> Any:
    """Return the cases in which something failed, in order."""
    failed = Q(outcome="failed") | Q(result_use="failed") | Q(recovery="failed")
    errors = Exists(Episode.objects.filter(grading=grading, case=OuterRef("pk"), errors__gt=0))
    cases = CaseGrade.objects.filter(failed | errors, grading=grading).exclude(outcome="errored")
    cases = cases if after is None else cases.filter(pk__gt=after)
    return cases.select_related("transcript").order_by("pk")


def _store(grading: Grading, cases: Iterable[CaseGrade]) -> None:
    found: dict[Failure, list[CaseGrade]] = defaultdict(list)
    for case in cases:
        for failure in _failures(case):
            found[failure].append(case)
    moments = {failure: [case.transcript.created_at for case in several] for failure, several in found.items()}
    issues = _issues_seen(grading.run.project_id, moments)
    rows = [
        IssueCase(issue=issues[failure], case=case, grading=grading, at=case.transcript.created_at)
        for failure, several in found.items()
        for case in several
    ]
    IssueCase.objects.bulk_create(rows, ignore_conflicts=True)
    number = grading.run.number
    back = (each for each in _fixed(issues.values()) if each.fixed_from is not None and each.fixed_from <= number)
    _reopen(back, {"run": number})


def trace_gather(*, trace: Trace, agent: str, version: str, failures: Sequence[Failure]) -> None:
    """Gather the failures of a trace that is summed up, in that transaction; what was gathered of it before goes.

    A fixed issue comes back where the trace is of the very version of the agent that it was fixed in.
    """
    if trace.settled:
        IssueTrace.objects.filter(trace=trace).delete()
    issues = _issues_seen(trace.project_id, {failure: [came_at(trace.pk)] for failure in failures})
    IssueTrace.objects.bulk_create(
        (IssueTrace(issue=issue, trace=trace) for issue in issues.values()), ignore_conflicts=True
    )
    back = (each for each in _fixed(issues.values()) if each.fixed_in and is_version(each.fixed_in, agent, version))
    _reopen(back, {"trace": str(trace.pk), "agent": agent, "version": version})


def _failures(case: CaseGrade) -> Iterator[Failure]:
    document = case.transcript.document
    transcript = None if document is None else Transcript.from_document(document)
    yield from failures_of(Grade.from_document(case.detail), transcript)


def _issues_seen(project: UUID, moments: Mapping[Failure, Sequence[datetime]]) -> dict[Failure, Issue]:
    """Return the issue of each failure, locked, with when it was seen; those that are not there yet are opened."""
    made = {failure: _issue(project, failure, several) for failure, several in moments.items()}
    there = set(Issue.objects.filter(pk__in=[issue.pk for issue in made.values()]).values_list("pk", flat=True))
    # In one order, so that two workers never wait for each other.
    new = sorted((issue for issue in made.values() if issue.pk not in there), key=lambda issue: issue.pk)
    Issue.objects.bulk_create(new, ignore_conflicts=True)
    IssueEvent.objects.bulk_create(
        (IssueEvent(id=uuid5(issue.pk, "opened"), issue=issue, verb="opened") for issue in new), ignore_conflicts=True
    )
    kept = _locked({issue.pk for issue in made.values()})
    for failure, several in moments.items():
        issue = kept[made[failure].pk]
        for each in (issue, kept.get(issue.merged_into_id)):
            if each is not None:
                each.first_seen, each.last_seen = min(each.first_seen, *several), max(each.last_seen, *several)
    Issue.objects.bulk_update(kept.values(), ["first_seen", "last_seen"])
    return {failure: kept[issue.pk] for failure, issue in made.items()}


def _locked(wanted: set[UUID]) -> dict[UUID, Issue]:
    """Return issues, and those that they were merged into, locked in the order of their ids."""
    if not wanted:
        return {}
    merged = Issue.objects.filter(pk__in=wanted, merged_into__isnull=False).values_list("merged_into", flat=True)
    rows = Issue.objects.filter(pk__in=wanted | set(merged)).order_by("pk")
    return {issue.pk: issue for issue in rows.select_for_update()}


def _issue(project: UUID, failure: Failure, moments: Sequence[datetime]) -> Issue:
    return Issue(
        id=issue_id(project, failure),
        project_id=project,
        key=failure.key,
        name=name_of(failure),
        kind=kind_of(failure),
        first_seen=min(moments),
        last_seen=max(moments),
        **{name: getattr(failure, name) for name in FAILURE_FIELDS},
    )


def issue_id(project: UUID, failure: Failure) -> UUID:
    """Return the id of a failure's issue: the same in any order of runs, and after any number of gradings."""
    return uuid5(project, failure.key)


def _fixed(issues: Iterable[Issue]) -> Any:
    """Return the fixed ones among issues; one that was merged stands for the one that it was merged into."""
    wanted = {issue.merged_into_id or issue.pk for issue in issues}
    return Issue.objects.filter(pk__in=wanted, state=IssueState.FIXED).select_related("fixed_in") if wanted else ()


def _reopen(issues: Iterable[Issue], detail: JsonObject) -> None:
    """Reopen what was fixed and failed again."""
    for issue in issues:
        issue.state = IssueState.REGRESSED
        issue.save(update_fields=["state"])
        IssueEvent.objects.create(issue=issue, verb="regressed", detail=detail)
