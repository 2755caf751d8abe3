"""Issues: what is gathered into them, that nothing counts twice, and what people do with them."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import DatabaseError

from labeling.models import Dataset
from reports.issues import gathering
from reports.issues.figures import by_agent, fix_check, seen_in
from reports.issues.gathering import issues_due, issues_gather
from reports.issues.services import (
    issue_accept,
    issue_fix,
    issue_name,
    issue_note,
    issue_own,
    issue_reopen,
    issue_split,
    issues_merge,
)
from reports.models import Issue, IssueCase, IssueEvent, IssueGathering
from tests.runs.building import HISTORY, REFUND, STATUS, call, silence, uploaded_run, version_of
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.grading.services import grading_start
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import AuditEntry

pytestmark = pytest.mark.django_db(transaction=True)
WRONG_TOOL = f"`{HISTORY}` called in place of `{STATUS}`"
WRONG_ORDER_ID = f"`order_id` of `{REFUND}` differs from gold"
GOOD = [call("status", STATUS), call("history", HISTORY), call("refund", REFUND), silence("hello")]
BAD = [call("status", HISTORY), call("history", HISTORY), call("refund", REFUND, order_id="ORD-2"), silence("hello")]


@pytest.fixture
def graded(project: Any, run_jobs: Any) -> Any:
    """Return a function that uploads a run, grades it and gathers its failures."""
    version = version_of(project)

    def make(rows: list[Any], name: str = "one") -> Any:
        run = uploaded_run(project, version, rows, model=name)
        run_jobs()
        issues_due(database_now())
        return run

    return make


def counts(project: Any) -> dict[str, dict[int, int]]:
    issues = list(Issue.objects.in_project(project))
    seen = seen_in(issues)
    return {issue.name: dict(seen.get(issue.pk, {})) for issue in issues}


def named(name: str) -> Issue:
    return Issue.objects.select_related("project").get(name=name)


def verbs(issue: Issue) -> list[str]:
    return list(issue.events.order_by("at", "pk").values_list("verb", flat=True))


def test_failed_cases_gather_into_named_issues(graded, project):
    graded(BAD)
    graded(BAD, "two")
    assert counts(project) == {WRONG_TOOL: {1: 1, 2: 1}, WRONG_ORDER_ID: {1: 1, 2: 1}}
    issue = named(WRONG_TOOL)
    assert (issue.layer, issue.mode, issue.tool, issue.kind) == (
        "selection", "wrong_tool", STATUS, "Wrong Tool Selection",
    )  # fmt: skip
    assert issue.first_seen < issue.last_seen
    assert verbs(issue) == ["opened"]
    assert [(each.name, each.run, each.share.seen, each.share.cases) for each in by_agent(issue)] == [
        ("agent", 1, 1, 4),
        ("agent", 2, 1, 4),
    ]


def test_a_run_without_failures_makes_no_issue(graded, project):
    graded(GOOD)
    assert counts(project) == {}
    assert not IssueGathering.objects.waiting().exists()


def test_grading_again_counts_no_case_twice_and_keeps_the_ids(graded, project, run_jobs):
    run = graded(BAD)
    before = counts(project), set(Issue.objects.values_list("pk", flat=True))
    run.refresh_from_db()
    grading_start(run=run, actor=None)
    run_jobs()
    issues_due(database_now())
    assert (counts(project), set(Issue.objects.values_list("pk", flat=True))) == before
    assert IssueCase.objects.count() == 4


def test_a_worker_that_dies_within_a_page_leaves_nothing_and_counts_nothing_twice(
    project, run_jobs, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(gathering, "PAGE", 1)
    run = uploaded_run(project, version_of(project), BAD, model="one")
    run_jobs()
    run.refresh_from_db()
    assert issues_gather(grading=run.grading) == 1

    def die(*_: Any) -> None:
        raise DatabaseError("killed")

    with monkeypatch.context() as killed:
        killed.setattr(gathering, "_reopen", die)
        with pytest.raises(DatabaseError):
            issues_gather(grading=run.grading)
    assert Issue.objects.count() == IssueCase.objects.count() == 1
    while issues_gather(grading=run.grading):
        pass
    assert counts(project) == {WRONG_TOOL: {1: 1}, WRONG_ORDER_ID: {1: 1}}


def test_gathering_the_same_page_again_adds_nothing(graded, project):
    graded(BAD)
    IssueGathering.objects.update(after=None, finished_at=None)
    issues_due(database_now())
    assert counts(project) == {WRONG_TOOL: {1: 1}, WRONG_ORDER_ID: {1: 1}}
    assert all(verbs(issue) == ["opened"] for issue in Issue.objects.all())


def test_a_deleted_run_counts_no_more(graded, project):
    run = graded(BAD)
    type(run).objects.filter(pk=run.pk).update(deleted_at=database_now())
    assert counts(project) == {WRONG_TOOL: {}, WRONG_ORDER_ID: {}}


def test_fixed_is_held_against_the_runs_since(graded, project, owner):
    bad = graded(BAD)
    issue = named(WRONG_TOOL)
    with pytest.raises(InvalidDocument, match="has not fixed it: 1 of 4 cases since run 1 fail so"):
        issue_fix(issue=issue, agent=bad.agent, actor=owner)
    good = graded(GOOD, "two")
    check = issue_fix(issue=issue, agent=good.agent, actor=owner)
    assert ((check.before.seen, check.before.cases), (check.since.seen, check.since.cases)) == ((1, 4), (0, 4))
    # One of eight cases fails so: by luck it is in the first half every other time.
    assert check.luck == pytest.approx(0.5)
    assert (named(WRONG_TOOL).state, named(WRONG_TOOL).fixed_from) == ("fixed", 2)
    assert AuditEntry.objects.get(verb="issue_fix").detail["agent"] == "agent"


def test_a_return_reopens_what_was_fixed_and_tells_once(graded, project, owner):
    graded(BAD)
    good = graded(GOOD, "two")
    issue_fix(issue=named(WRONG_TOOL), agent=good.agent, actor=owner)
    graded(GOOD, "three")
    assert named(WRONG_TOOL).state == "fixed"
    graded(BAD, "four")
    graded(BAD, "five")
    issue = named(WRONG_TOOL)
    assert issue.state == "regressed"
    assert verbs(issue) == ["opened", "fixed", "regressed"]
    assert IssueEvent.objects.get(verb="regressed").detail == {"run": 4}
    assert (fix_check(issue, issue.fixed_in, 2).since.seen, fix_check(issue, issue.fixed_in, 2).since.cases) == (2, 16)


def test_an_older_run_that_is_graded_later_reopens_nothing(graded, project, owner, run_jobs):
    bad = graded(BAD)
    good = graded(GOOD, "two")
    issue_fix(issue=named(WRONG_TOOL), agent=good.agent, actor=owner)
    bad.refresh_from_db()
    grading_start(run=bad, actor=None)
    run_jobs()
    issues_due(database_now())
    assert named(WRONG_TOOL).state == "fixed"


def test_merged_issues_count_a_case_once_under_the_older_id(graded, project, owner):
    graded([call("status", HISTORY), call("refund", REFUND, order_id="ORD-2", limit="1"), *GOOD[1:2], GOOD[3]])
    first, second = named(WRONG_ORDER_ID), Issue.objects.get(mode="extra_argument")
    older = issues_merge(issue=second, other=first, actor=owner)
    assert older.pk == min((first, second), key=lambda issue: (issue.created_at, issue.pk)).pk
    assert counts(project)[older.name] == {1: 1}
    assert len(counts(project)) == 2
    newer = Issue.objects.get(merged_into=older)
    graded(BAD, "two")
    assert counts(project)[older.name] == {1: 1, 2: 1}
    with pytest.raises(InvalidDocument, match="merged already"):
        issues_merge(issue=newer, other=named(WRONG_TOOL), actor=owner)
    issue_split(issue=newer, actor=owner)
    assert len(counts(project)) == 3
    assert verbs(older)[-2:] == ["merged", "split"]
    with pytest.raises(InvalidDocument, match="was not merged"):
        issue_split(issue=newer, actor=owner)


def test_each_act_is_in_the_history_and_in_the_audit_log(graded, project, owner):
    graded(BAD)
    issue = named(WRONG_TOOL)
    issue_own(issue=issue, actor=owner, owner=owner)
    issue_name(issue=issue, actor=owner, name="  Status   asked of the history ", kind="Goal Deviation")
    issue_note(issue=issue, actor=owner, text="Seen twice.")
    issue_accept(issue=issue, actor=owner, reason="It costs nothing.")
    issue_reopen(issue=issue, actor=owner)
    issue.refresh_from_db()
    assert (issue.name, issue.kind, issue.owner) == ("Status asked of the history", "Goal Deviation", owner)
    assert verbs(issue) == ["opened", "owned", "named", "noted", "accepted", "reopened"]
    assert AuditEntry.objects.filter(target_id=issue.pk).count() == 5
    graded(BAD, "two")
    issue.refresh_from_db()
    assert issue.name == "Status asked of the history"


@pytest.mark.parametrize(
    ("act", "values"),
    [
        (issue_accept, {"reason": " "}),
        (issue_note, {"text": "x" * 2001}),
        (issue_name, {"name": "", "kind": "Goal Deviation"}),
        (issue_name, {"name": "x" * 301, "kind": "Goal Deviation"}),
        (issue_name, {"name": "x", "kind": "Bad luck"}),
    ],
)
def test_what_makes_no_sense_is_refused(graded, owner, act, values):
    graded(BAD)
    with pytest.raises(InvalidDocument):
        act(issue=named(WRONG_TOOL), actor=owner, **values)
    assert verbs(named(WRONG_TOOL)) == ["opened"]


def test_half_that_arrives_a_day_later_has_the_same_ids(graded, project, owner):
    graded(BAD[:1])
    first = set(Issue.objects.values_list("pk", flat=True))
    graded(BAD)
    together = set(Issue.objects.values_list("pk", flat=True))
    assert first < together
    Issue.objects.all().delete()
    IssueGathering.objects.all().delete()
    issues_due(database_now())
    assert set(Issue.objects.values_list("pk", flat=True)) == together
    assert Dataset.objects.count() == 1
