"""Gather the failures of graded cases into issues, a page at a time: killed anywhere, nothing is lost or counted twice.

A worker's regular duty calls it. How far a grading is read is written with what was found there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Final
from uuid import UUID, uuid5

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q
from django.db.models.functions import Greatest, Least

from reports.issues.models import FAILURE_FIELDS, Issue, IssueCase, IssueEvent, IssueGathering, IssueState
from toolevals.grading.failures import Failure, failures_of, kind_of, name_of
from toolevals.grading.values import Transcript
from toolevals.grading.values.verdicts import CaseGrade as Grade
from toolevals.runs.models import CaseGrade, Episode, Grading
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Project

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
    if not found:
        return
    # In one order, so that two workers never wait for each other.
    found = dict(sorted(found.items(), key=lambda item: item[0].key))
    issues = _issues(grading.run.project, found)
    kept = Issue.objects.in_bulk([issue.pk for issue in issues.values()])
    rows = [
        IssueCase(issue=kept[issues[failure].pk], case=case, grading=grading, at=case.transcript.created_at)
        for failure, several in found.items()
        for case in several
    ]
    IssueCase.objects.bulk_create(rows, ignore_conflicts=True)
    for failure, several in found.items():
        moments = [case.transcript.created_at for case in several]
        pks = {issues[failure].pk, kept[issues[failure].pk].merged_into_id} - {None}
        Issue.objects.filter(pk__in=pks).update(
            first_seen=Least(F("first_seen"), min(moments)), last_seen=Greatest(F("last_seen"), max(moments))
        )
        _reopen(pks, grading)


def _failures(case: CaseGrade) -> Iterator[Failure]:
    document = case.transcript.document
    transcript = None if document is None else Transcript.from_document(document)
    yield from failures_of(Grade.from_document(case.detail), transcript)


def _issues(project: Project, found: dict[Failure, list[CaseGrade]]) -> dict[Failure, Issue]:
    """Return the issue of each failure; those that are not there yet are opened."""
    made = {failure: _issue(project, failure, several) for failure, several in found.items()}
    there = set(Issue.objects.filter(pk__in=[issue.pk for issue in made.values()]).values_list("pk", flat=True))
    new = [issue for issue in made.values() if issue.pk not in there]
    Issue.objects.bulk_create(new, ignore_conflicts=True)
    IssueEvent.objects.bulk_create(
        (IssueEvent(id=uuid5(issue.pk, "opened"), issue=issue, verb="opened") for issue in new), ignore_conflicts=True
    )
    return made


def _issue(project: Project, failure: Failure, cases: list[CaseGrade]) -> Issue:
    moments = [case.transcript.created_at for case in cases]
    return Issue(
        id=issue_id(project, failure),
        project=project,
        key=failure.key,
        name=name_of(failure),
        kind=kind_of(failure),
        first_seen=min(moments),
        last_seen=max(moments),
        **{name: getattr(failure, name) for name in FAILURE_FIELDS},
    )


def issue_id(project: Project, failure: Failure) -> UUID:
    """Return the id of a failure's issue: the same in any order of runs, and after any number of gradings."""
    return uuid5(project.pk, failure.key)


def _reopen(issues: Iterable[Any], grading: Grading) -> None:
    """Reopen what was fixed in a run before this one, and failed in it."""
    number = grading.run.number
    back = Issue.objects.filter(pk__in=issues, merged_into=None, state=IssueState.FIXED, fixed_from__lte=number)
    for issue in back.select_for_update():
        issue.state = IssueState.REGRESSED
        issue.save(update_fields=["state"])
        IssueEvent.objects.create(issue=issue, verb="regressed", detail={"run": number})
