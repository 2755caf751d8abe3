"""Gates that name issues: a run passes where the issue is in none of its cases, and only where it could be."""

from __future__ import annotations

from typing import Any

import pytest

from reports.gates.cases import grading_cases
from reports.issues.gathering import issues_due
from reports.issues.services import issues_merge
from reports.models import Issue, IssueGathering
from tests.reports.gate_building import checks, hold
from tests.runs.building import EXAMPLES, HISTORY, REFUND, STATUS, call, silence, uploaded_run, version_of
from toolevals.grading.gates.documents import read_gate
from toolevals.grading.gates.evaluation import Evidence, hold_gate
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.models import Run
from toolevals.workspace.clock import database_now

pytestmark = pytest.mark.django_db
GOOD = [call("status", STATUS), call("history", HISTORY), call("refund", REFUND), silence("hello")]
BAD = [call("status", HISTORY), *GOOD[1:]]
OTHER = [*GOOD[:2], call("refund", REFUND, order_id="ORD-2"), GOOD[3]]


@pytest.fixture
def graded(project: Any, run_jobs: Any) -> Any:
    """Return a function that uploads and grades a run, whose failures are not gathered yet."""
    version = version_of(project)

    def make(rows: list[Any], model: str) -> Run:
        run = uploaded_run(project, version, rows, model=model)
        run_jobs()
        return Run.objects.get(pk=run.pk)

    return make


def never(issue: Any) -> dict[str, Any]:
    return {"bounds": [{"metric": f"issue:{issue}", "statistic": "failed_count", "max": 0}]}


@pytest.fixture
def issue(graded: Any) -> Issue:
    graded(BAD, "one")
    issues_due(database_now())
    return Issue.objects.get()


def test_a_run_passes_without_the_issue_and_fails_with_it(issue, graded):
    good, back, other = graded(GOOD, "two"), graded(BAD, "three"), graded(OTHER, "four")
    held = [hold(run, never(issue.pk)) for run in (good, back, other)]
    assert [each.status for each in held] == ["passed", "failed", "passed"]
    (check,) = checks(held[1])
    assert (check.observed, check.count, check.examples) == (1, 4, ("status",))
    assert (
        check.name == f"get_order_history called in place of get_order_status (issue {str(issue.pk)[:8]}) failed_count"
    )
    assert check.note == "Run 3 holds 1 of the 1 examples with this issue."
    # The gate gathered what it had to know.
    assert not IssueGathering.objects.waiting().exists()
    assert Issue.objects.count() == 2


def test_a_case_without_a_score_leaves_it_open(issue, graded):
    held = hold(graded(GOOD[1:], "two"), never(issue.pk))
    assert held.status == "unanswered"
    assert "depends on 1 case" in checks(held)[0].reason


def test_a_run_without_any_example_of_the_issue_answers_nothing(issue, project, run_jobs):
    run = uploaded_run(project, version_of(project, EXAMPLES[1:], slug="other"), GOOD[1:], model="two")
    run_jobs()
    held = hold(run, never(issue.pk))
    assert held.status == "unanswered"
    assert "holds 0 of the 1 examples" in checks(held)[0].note


def test_an_issue_that_was_merged_counts_with_the_one_that_it_is_in(issue, graded, owner):
    run = graded(OTHER, "two")
    issues_due(database_now())
    other = Issue.objects.exclude(pk=issue.pk).get()
    assert hold(run, never(issue.pk)).status == "passed"
    issues_merge(issue=issue, other=other, actor=owner)
    assert [hold(run, never(each)).status for each in (issue.pk, other.pk)] == ["failed", "failed"]


def test_issues_are_no_part_of_every_metric(issue, graded):
    document = never(issue.pk) | {"assertions": [{"global": True, "conditions": ["total_count <= 1000"]}]}
    without, held = hold(graded(GOOD, "two"), {"assertions": document["assertions"]}), hold(graded(GOOD, "3"), document)
    assert checks(held)[1].count == checks(without)[0].count


@pytest.mark.parametrize("name", ["00000000-0000-0000-0000-000000000000", "nothing", ""])
def test_an_issue_that_is_not_there_is_refused_by_its_place(graded, name):
    run = graded(GOOD, "one")
    with pytest.raises(InvalidDocument) as refused:
        hold(run, never(name))
    assert [problem.pointer for problem in refused.value.problems] == ["/gate/bounds/0/metric"]


def test_an_issue_that_is_gone_leaves_the_rule_open(issue, graded):
    run, document = graded(GOOD, "two"), never(issue.pk)
    held = hold(run, document)
    issue.delete()
    gate = read_gate(document)
    assert held.status == "passed"
    assert hold_gate(gate, Evidence(grading_cases(run.grading, gate))).status == "unanswered"
