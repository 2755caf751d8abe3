"""Acts from an issue: a gate rule, a slice of a run, a run of the newest agent, examples; and all acts by REST."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import override_settings
from django.urls import reverse

from reports.issues.gathering import issues_due
from reports.models import Issue, IssueEvent, NamedGate
from tests.reports.reading import csv_rows
from tests.runs.building import (
    HISTORY,
    REFUND,
    STATUS,
    baseline_run,
    call,
    silence,
    uploaded_run,
    version_of,
)
from tests.traces.sending import conversation, export, send, sender
from toolevals.runs.models import Run
from toolevals.traces.models import Promotion, TraceExample
from toolevals.traces.reading.services import traces_settle
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import AuditEntry, Delivery, Mention
from toolevals.workspace.notifications.services import mails_choose

pytestmark = pytest.mark.django_db
BAD = [call("status", HISTORY), call("history", HISTORY), call("refund", REFUND, order_id="ORD-2"), silence("hello")]

GOOD = [call("status", STATUS), call("history", HISTORY), call("refund", REFUND), silence("hello")]


@pytest.fixture
def issue(project: Any, run_jobs: Any) -> Issue:
    uploaded_run(project, version_of(project), BAD, model="one")
    run_jobs()
    issues_due(database_now())
    return Issue.objects.get(mode="wrong_tool")


@pytest.fixture
def at(project: Any) -> Any:
    return lambda name, *args: reverse(
        f"{'reports-api' if name.startswith('api:') else 'reports'}:{name.removeprefix('api:')}",
        args=[project.slug, *args],
    )


def test_a_gate_rule_is_added_to_a_new_gate_and_once_to_each(issue, client, adjudicator, at):
    client.force_login(adjudicator)
    assert "Add a gate rule" in client.get(at("issue", issue.pk)).content.decode()
    answer = client.post(at("issue-gate", issue.pk), {"new": "issues"})
    assert answer.headers["Location"] == at("named-gate", "issues")
    rule = {"metric": f"issue:{issue.pk}", "statistic": "failed_count", "max": 0}
    assert NamedGate.objects.get().gate == {"bounds": [rule]}
    other = Issue.objects.exclude(pk=issue.pk).get()
    client.post(at("issue-gate", other.pk), {"gate": "issues"})
    assert [each["metric"] for each in NamedGate.objects.get().gate["bounds"]] == [rule["metric"], f"issue:{other.pk}"]
    again = client.post(at("issue-gate", issue.pk), {"gate": "issues"}, follow=True).content.decode()
    assert "asks for it already: issues" in again
    assert at("named-gate", "issues") in again
    assert "the name takes letters" in client.post(at("issue-gate", issue.pk), {}, follow=True).content.decode()
    assert list(AuditEntry.objects.filter(verb="issue_gate").values_list("target_id", flat=True)) == [
        issue.pk,
        other.pk,
    ]


def test_a_slice_of_a_run_holds_the_cases_of_the_issue(issue, client, browser_of, at):
    page = browser_of.get(at("issue", issue.pk)).content.decode()
    query = {"issue": str(issue.pk)}
    assert f"{at('cases', 1)}?issue={issue.pk}" in page
    assert [row["external_id"] for row in csv_rows(browser_of.get(at("cases-csv", 1), query))] == ["status"]
    assert browser_of.get(at("matrix", 1), query).context["matrix"].total == 1
    assert [row["external_id"] for row in browser_of.get(at("api:graded-cases", 1), query).json()["results"]] == [
        "status"
    ]
    for nothing in ("00000000-0000-0000-0000-000000000000", "x"):
        assert not csv_rows(browser_of.get(at("cases-csv", 1), {"issue": nothing}))


def test_the_newest_agent_runs_again_on_the_examples_of_an_issue(issue, project, client, adjudicator, run_jobs, at):
    client.force_login(adjudicator)
    # The predictions were uploaded: there is no agent to be asked.
    assert "Run the newest agent" not in client.get(at("issue", issue.pk)).content.decode()
    assert client.get(at("issue-rerun", issue.pk)).status_code == 404
    assert "No agent that can be asked" in client.post(at("issue-rerun", issue.pk), follow=True).content.decode()
    baseline_run(project, Run.objects.get().dataset_version)
    run_jobs()
    assert "Run the newest agent on its examples" in client.get(at("issue", issue.pk)).content.decode()
    page = " ".join(client.get(at("issue-rerun", issue.pk)).content.decode().split())
    assert '<span class="num">1</span> example of' in page
    answer = client.post(at("issue-rerun", issue.pk))
    made = Run.objects.get(number=3)
    assert answer.headers["Location"] == at("run", 3)
    entry = made.dataset_version.entries.get(position=made.only[0])
    assert (len(made.only), entry.revision.example.external_id, made.agent.name) == (1, "status", "baseline")
    assert list(issue.events.order_by("at", "pk").values_list("verb", flat=True)) == ["opened", "rerun"]
    assert "of its examples" in " ".join(client.get(at("issue", issue.pk)).content.decode().split())


def test_a_reviewer_adds_no_gate_rule_and_starts_no_run(issue, client, reviewer, at):
    client.force_login(reviewer)
    assert client.post(at("issue-gate", issue.pk), {"new": "issues"}).status_code == 403
    assert client.post(at("issue-rerun", issue.pk)).status_code == 403


@pytest.fixture
def by_rest(client: Any, reviewer: Any, at: Any) -> Any:
    """Return a function that acts on an issue by REST, and returns the status and the answer."""
    client.force_login(reviewer)

    def act(issue: Issue, name: str, /, **sent: Any) -> tuple[int, Any]:
        answer = client.post(at(f"api:issue-{name}", issue.pk), sent, content_type="application/json")
        return answer.status_code, answer.json()

    return act


def test_each_act_is_done_by_rest_and_is_in_the_history(issue, project, reviewer, run_jobs, by_rest):
    good = uploaded_run(project, Run.objects.get().dataset_version, GOOD, model="two")
    run_jobs()
    issues_due(database_now())
    assert by_rest(issue, "own", owner=str(reviewer.pk))[1]["owner"] == reviewer.name
    assert by_rest(issue, "own", owner=None)[1]["owner"] == ""
    assert by_rest(issue, "name", name="Status", kind="Goal Deviation")[1]["name"] == "Status"
    status, answer = by_rest(issue, "fix", agent=str(good.agent_id))
    assert (status, answer["state"], answer["fixed_from_run"]) == (200, "fixed", 2)
    assert by_rest(issue, "reopen")[1]["state"] == "open"
    assert by_rest(issue, "accept", reason="It is cheap.")[1]["state"] == "accepted"
    other = Issue.objects.exclude(pk=issue.pk).get()
    older, newer = sorted((issue, other), key=lambda each: (each.created_at, each.pk))
    assert by_rest(issue, "merge", issue=str(other.pk))[1]["issue_id"] == str(older.pk)
    status, answer = by_rest(newer, "note", text="here")
    assert (status, "was merged" in str(answer)) == (422, True)
    assert by_rest(newer, "split")[1]["merged_into"] is None
    status, answer = by_rest(issue, "note", text="<b>")
    verbs = [each["verb"] for each in answer["history"] if each["verb"] not in ("merged", "split")]
    assert verbs == ["opened", "owned", "owned", "named", "fixed", "reopened", "accepted", "noted"]
    assert answer["history"][-1]["detail"] == {"text": "<b>"}


@override_settings(EMAIL_URL="smtp://mail.example")
def test_who_is_mentioned_in_a_note_finds_it_and_is_told(
    issue, client, project, reviewer, viewer, outsider, by_rest, at
):
    mails_choose(membership=project.memberships.get(user=viewer), actor=viewer, kinds=["mention"])
    said = f"@{viewer.name}, see @{outsider.name}"
    assert by_rest(issue, "note", text=said)[1]["history"][-1]["detail"] == {"text": said}
    assert str(viewer.pk) in str(IssueEvent.objects.get(verb="noted").detail)
    assert Delivery.objects.get().document["data"]["summary"] == "You are mentioned in a note on an issue"
    client.force_login(viewer)
    assert "mention of you" in client.get(reverse("workspace:project", args=[project.slug])).content.decode()
    mine = reverse("workspace:mention", args=[project.slug, Mention.objects.get(person=viewer).pk])
    assert client.get(mine).headers["Location"] == at("issue", issue.pk) + "#history"
    client.force_login(reviewer)
    page = client.get(at("issue", issue.pk)).content.decode()
    assert f"@{viewer.name}" in page
    assert reverse("workspace:mention-names", args=[project.slug]) in page


@pytest.mark.parametrize(
    ("act", "sent", "pointer"),
    [
        ("fix", {"agent": "00000000-0000-0000-0000-000000000000"}, "/agent"),
        ("fix", {}, "/agent"),
        ("accept", {"reason": " "}, "/reason"),
        ("own", {"owner": "00000000-0000-0000-0000-000000000000"}, "/owner"),
        ("own", {}, "/owner"),
        ("name", {"name": "a", "kind": "none"}, "/kind"),
        ("note", {"text": "a", "more": 1}, "/more"),
        ("reopen", {"more": 1}, "/more"),
        ("split", {"more": 1}, "/more"),
        ("split", {}, "/issue"),
        ("merge", {"issue": "00000000-0000-0000-0000-000000000000"}, "/issue"),
    ],
)
def test_what_an_act_cannot_take_is_refused_by_its_place(issue, by_rest, act, sent, pointer):
    status, answer = by_rest(issue, act, **sent)
    assert status == 422
    assert [each["pointer"] for each in answer["problems"]] == [pointer]
    assert issue.events.count() == 1


def test_a_viewer_acts_not_by_rest(issue, browser_of, at):
    answer = browser_of.post(at("api:issue-reopen", issue.pk), {}, content_type="application/json")
    assert answer.status_code == 403


def test_a_run_and_a_comparison_tell_which_issues_are_new_back_and_gone(issue, project, run_jobs, browser_of, at):
    version = Run.objects.get().dataset_version
    for rows, model in ((GOOD, "two"), ([BAD[0], *GOOD[1:]], "three")):
        uploaded_run(project, version, rows, model=model)
        run_jobs()
    assert f"{at('run-issues', 3)}" in browser_of.get(at("run", 3)).content.decode()
    assert f"{at('run-issues', 3)}?baseline=1" in browser_of.get(at("compare", 1, 3)).content.decode()
    assert "still being gathered" in browser_of.get(at("run-issues", 3)).content.decode()
    issues_due(database_now())

    def told(run: int, baseline: int = 0) -> Any:
        return browser_of.get(at("run-issues", run), {"baseline": str(baseline)}).context["issues"]

    def counts(run: int, baseline: int = 0) -> tuple[int, dict[str, int]]:
        found = told(run, baseline)
        return found.before, {change.name: change.count for change in found.changes}

    assert counts(1) == (0, {"new": 2})
    assert counts(2) == (1, {"gone": 2})
    assert counts(3) == (2, {"back": 1})
    assert counts(3, 1) == (1, {"gone": 1})
    assert counts(1, 3) == (3, {"new": 1})
    [change] = told(1, 3).changes
    assert change.query == "run=1&change=new&baseline=3"
    listed = browser_of.get(f"{at('issues')}?{change.query}").context["page"].rows
    assert [row.issue.pk for row in listed] == [each.pk for each in change.issues]
    assert browser_of.get(f"{at('api:issues')}?{change.query}").json()["count"] == 1


def test_the_first_page_shows_the_three_open_issues_that_matter_most(issue, project, client, reviewer, run_jobs):
    version = Run.objects.get().dataset_version
    two = [call("status", HISTORY), GOOD[1], silence("refund"), call("hello", STATUS)]
    for place in range(2):
        uploaded_run(project, version, two, model=f"two {place}")
        run_jobs()
    issues_due(database_now())
    client.force_login(reviewer)
    address = reverse("workspace:project", args=[project.slug])

    def shown() -> list[tuple[str, int]]:
        rows = client.get(address).context["look"].content.issues
        return [(row.issue.mode, row.cases) for row in rows]

    # Each is in the last five runs: in three, in two, in two, and, last, in one.
    assert shown()[0] == ("wrong_tool", 3)
    assert sorted(shown()[1:]) == [("missed_call", 2), ("needless_call", 2)]
    page = client.get(address).content.decode()
    assert "Issues that matter most" in page
    assert "cases by agent, oldest first: 1, 1, 1" in page
    # One that came back counts twice; one that is accepted is no more.
    Issue.objects.filter(mode="needless_call").update(state="regressed")
    assert shown()[0] == ("needless_call", 2)
    Issue.objects.exclude(mode="wrong_value").update(state="accepted")
    assert shown() == [("wrong_value", 1)]
    assert "came back" not in client.get(address).content.decode()


@pytest.mark.django_db(transaction=True)
def test_examples_are_made_of_the_traces_of_an_issue(project, client, owner, run_jobs, settings, at):
    settings.TRACES_QUIET_SECONDS = 0
    token = sender(project, owner)
    for number, result in enumerate(('{"error": "order not found", "code": 404}', "shipped"), start=1):
        send(client, token, export(*conversation(f"{number:032x}", result=result)))
    traces_settle()
    issue = Issue.objects.get()
    dataset = version_of(project).dataset
    client.force_login(owner)
    assert at("issue-promote", issue.pk) in client.get(at("issue", issue.pk)).content.decode()
    page = client.get(at("issue-promote", issue.pk)).content.decode()
    assert "Of 1 trace of an issue" in page
    assert client.post(at("issue-promote", issue.pk), {"turns": "x"}).status_code == 422
    sent = {"dataset": str(dataset.pk), "turns": "every"}
    answer = client.post(at("issue-promote", issue.pk), sent)
    run_jobs()
    promotion = Promotion.objects.get()
    assert answer.headers["Location"] == reverse("traces:promotion", args=[project.slug, promotion.pk])
    assert (promotion.state, promotion.made) == ("made", 1)
    assert TraceExample.objects.get().trace.trace_id.int == 1
    # While its example is labelled, the trace is closed: there is nothing to make examples of.
    assert (
        "No trace of the issue is open to you"
        in client.post(at("issue-promote", issue.pk), sent, follow=True).content.decode()
    )
    assert "began to make" in client.get(at("issue", issue.pk)).content.decode()
