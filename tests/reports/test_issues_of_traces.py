"""Issues of production: failures of traces are counted once, with the same failures of runs."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from reports.issues import gathering
from reports.issues.figures import touched_by, traces_in, versions_of
from reports.issues.gathering import issue_id, issues_due
from reports.issues.services import issue_fix, issue_split, issues_merge
from reports.models import Issue, IssueTrace
from tests.reports.reading import csv_rows
from tests.runs.building import uploaded_run, version_of
from tests.traces.sending import TOOL, conversation, export, send, sender, span
from toolevals.grading.failures import Failure
from toolevals.traces.intake.retention import traces_forget
from toolevals.traces.models import Trace
from toolevals.traces.reading.services import traces_settle
from toolevals.workspace.clock import database_now

pytestmark = pytest.mark.django_db(transaction=True)
GONE = '{"error": "order not found", "code": 404}'
NOT_FOUND = Failure("tool", "tool_error", "get_order", error_class="404", error_text="error: order not found code: 404")


@pytest.fixture(autouse=True)
def at_once(settings: Any) -> None:
    """Sum traces up at once."""
    settings.TRACES_QUIET_SECONDS = 0


@pytest.fixture
def come(client: Any, project: Any, owner: Any) -> Any:
    """Return a function that sends a conversation of a number, and sums it up."""
    token = sender(project, owner)

    def make(number: int, *, version: str = "1.4.0", settle: bool = True, **said: Any) -> None:
        root = {"gen_ai.conversation.id": f"s-{number % 2}", "user.id": f"u-{number}", **said.pop("root", {})}
        send(client, token, export(*conversation(f"{number:032x}", **said, **root), version=version))
        if settle:
            traces_settle()

    return make


def modes(project: Any) -> dict[str, int]:
    issues = list(Issue.objects.in_project(project))
    return {f"{each.tool} {each.mode}".strip(): traces_in([each])[each.pk] for each in issues}


def test_errors_of_tools_and_invalid_calls_gather(come, project):
    come(1, result=GONE)
    come(2, result=GONE, arguments={"number": 7})
    come(3)
    assert modes(project) == {"get_order tool_error": 2, "get_order schema_error": 1}
    issue = Issue.objects.get(mode="tool_error")
    assert (issue.pk, issue.failure) == (issue_id(project.pk, NOT_FOUND), NOT_FOUND)
    assert issue.first_seen < issue.last_seen
    assert touched_by(issue) == type(touched_by(issue))(2, 2, 2)
    # The schema wants an id: what is missing is named by the pointer of the whole.
    assert Issue.objects.get(mode="schema_error").argument == ""


def test_what_rules_say_gathers(client, project, owner, settings):
    call = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.arguments": {"id": "7"}}
    chat = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "small-1", "gen_ai.tool.definitions": [TOOL]}
    asked = {"gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": "Where is it?"}]}]}
    answer = {"role": "assistant", "parts": [{"type": "text", "content": "No idea."}], "finish_reason": "stop"}
    spans = [
        span(1, "agent", attributes={"gen_ai.operation.name": "invoke_agent"}, ms=9000),
        *(span(n, "get", parent=1, attributes=call | {"gen_ai.tool.name": "get_order"}) for n in (2, 3, 4)),
        span(5, "drop", parent=1, attributes=call | {"gen_ai.tool.name": "drop_order"}),
        span(6, "chat", parent=1, attributes=chat | asked | {"gen_ai.output.messages": [answer]}),
    ]
    send(client, sender(project, owner), export(*spans))
    traces_settle()
    assert modes(project) == {"get_order called_in_a_loop": 1, "drop_order tool_not_offered": 1}


def test_an_error_that_only_a_span_tells_gathers(client, project, owner):
    told = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get_order"}
    failed = span(2, "get", parent=1, attributes=told, status={"code": 2, "message": "503 Service Unavailable"})
    root = span(1, "agent", attributes={"gen_ai.operation.name": "invoke_agent"}, ms=9000)
    send(client, sender(project, owner), export(root, failed))
    traces_settle()
    issue = Issue.objects.get()
    assert (issue.tool, issue.error_class, issue.error_text) == ("get_order", "5xx", "503 Service Unavailable")


def test_a_trace_that_grows_counts_once_with_what_it_says_last(client, come, project, owner):
    come(1, result=GONE)
    before = set(Issue.objects.values_list("pk", flat=True))
    late = span(9, "execute_tool get_order", trace=f"{1:032x}", parent=1, attributes={
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get_order", "gen_ai.tool.call.id": "c9",
        "gen_ai.tool.call.arguments": {"id": "8"}, "gen_ai.tool.call.result": "503 Service Unavailable",
    })  # fmt: skip
    send(client, sender(project, owner), export(late))
    traces_settle()
    assert Trace.objects.get().settled == 2
    assert sorted(modes(project).values()) == [1]
    assert IssueTrace.objects.count() == 2
    assert before < set(Issue.objects.values_list("pk", flat=True))


def test_a_worker_that_dies_while_it_sums_up_counts_nothing_twice(come, project, monkeypatch: pytest.MonkeyPatch):
    come(1, result=GONE, settle=False)

    def die(*_: Any) -> None:
        raise DatabaseError("killed")

    with monkeypatch.context() as killed:
        killed.setattr(gathering, "_reopen", die)
        with pytest.raises(DatabaseError):
            traces_settle()
    assert not Issue.objects.exists()
    Trace.objects.update(due_at=database_now())
    traces_settle()
    Trace.objects.update(due_at=database_now())
    traces_settle()
    assert modes(project) == {"get_order tool_error": 1}


def test_traces_that_are_forgotten_take_their_occurrences_along(come, project):
    come(1, result=GONE)
    issue = Issue.objects.get()
    traces_forget(database_now() + timedelta(days=31))
    assert (Trace.objects.count(), IssueTrace.objects.count(), modes(project)) == (0, 0, {"get_order tool_error": 0})
    come(2, result=GONE)
    assert (Issue.objects.get().pk, modes(project)) == (issue.pk, {"get_order tool_error": 1})


def test_merged_issues_count_a_trace_once(come, project, owner):
    come(1, result=GONE, arguments={"number": 7})
    one, other = Issue.objects.order_by("created_at", "pk").select_related("project")
    issues_merge(issue=one, other=other, actor=owner)
    assert (traces_in([one]), touched_by(one).traces) == ({one.pk: 1}, 1)
    other.refresh_from_db()
    issue_split(issue=other, actor=owner)
    assert sorted(modes(project).values()) == [1, 1]


def test_versions_are_in_the_order_in_which_they_came(come):
    for number, version in enumerate(["1.9.0", "1.9.0", "1.10.0"]):
        come(number + 1, version=version, result=GONE if number else "shipped")
    versions = versions_of(Issue.objects.select_related("project").get())
    assert [(*each, share.seen, share.cases) for each, share in versions.items()] == [
        ("shop", "1.9.0", 1, 2), ("shop", "1.10.0", 1, 1),
    ]  # fmt: skip


def test_a_failure_in_a_run_and_in_production_is_one_issue(come, project, run_jobs):
    come(1, result=GONE)
    document = {
        "messages": [
            {"role": "assistant", "tool_calls": [
                {"id": "1", "type": "function", "function": {"name": "get_order", "arguments": '{"id": "7"}'}}]},
            {"role": "tool", "tool_call_id": "1", "content": GONE},
            {"role": "assistant", "content": "It is not there."},
        ]
    }  # fmt: skip
    uploaded_run(project, version_of(project), [{"id": "status", **document}])
    run_jobs()
    issues_due(database_now())
    issue = Issue.objects.get(pk=issue_id(project.pk, NOT_FOUND))
    assert (issue.cases.count(), issue.traces.count()) == (1, 1)


def test_production_is_fixed_and_comes_back_by_the_version_alone(come, project, owner, run_jobs):
    come(1, result=GONE, version="1.4.0")
    run = uploaded_run(project, version_of(project), [], model="one")
    type(run.agent).objects.filter(pk=run.agent_id).update(name="shop", prompt_version="1.5.0")
    run_jobs()
    issues_due(database_now())
    run.refresh_from_db()
    issue = Issue.objects.get(layer="tool")
    with pytest.raises(Exception, match="tells nothing: no trace of it came"):
        issue_fix(issue=issue, agent=run.agent, actor=owner)
    come(2, version="1.5.0")
    check = issue_fix(issue=issue, agent=run.agent, actor=owner)
    assert (check.of, check.before.seen, check.before.cases, check.since.seen, check.since.cases) == (
        "traces", 1, 1, 0, 1,
    )  # fmt: skip
    come(3, result=GONE, version="1.4.0")
    issue.refresh_from_db()
    assert issue.state == "fixed"
    come(4, result=GONE, version="1.5.0")
    issue.refresh_from_db()
    assert issue.state == "regressed"
    assert issue.events.get(verb="regressed").detail["version"] == "1.5.0"
    with pytest.raises(Exception, match="has not fixed it: 1 of its traces in production fail so"):
        issue_fix(issue=issue, agent=run.agent, actor=owner)


def test_the_page_the_files_and_rest_show_the_traces(come, project, browser_of):
    come(1, result=GONE, version="1.4.0")
    come(2, result=GONE, version="1.5.0")
    issue, newest = Issue.objects.get(), Trace.objects.latest("pk")
    listed = browser_of.get(reverse("reports:issues", args=[project.slug]), {"sort": "traces"})
    assert [row.traces for row in listed.context["page"].rows] == [2]
    address = reverse("reports:issue", args=[project.slug, issue.pk])
    text = " ".join(browser_of.get(address).content.decode().split())
    assert "In 2 traces of production." in text
    assert "2 traces</a>, 2 users, 2 sessions" in text
    assert "?agent=shop&amp;version=1.5.0#tr-h" in text
    assert reverse("traces:trace", args=[project.slug, newest.pk]) in text
    of_version = browser_of.get(address, {"agent": "shop", "version": "1.5.0"})
    assert [each.pk for each in of_version.context["traces"].rows] == [newest.pk]
    file = csv_rows(browser_of.get(reverse("reports:issue-traces-csv", args=[project.slug, issue.pk])))
    assert [row["user"] for row in file] == ["u-2", "u-1"]
    answer = browser_of.get(reverse("reports-api:issue", args=[project.slug, issue.pk])).json()
    assert (answer["traces"], answer["users"], answer["sessions"], answer["cases"]) == (2, 2, 2, 0)
    assert [each["version"] for each in answer["by_version"]] == ["1.4.0", "1.5.0"]
    assert answer["newest_traces"][0]["trace_id"] == str(newest.pk)


def test_an_issue_of_many_traces_takes_no_more_queries(come, project, browser_of):
    def queries() -> int:
        address = reverse("reports:issue", args=[project.slug, Issue.objects.get().pk])
        browser_of.get(address)
        with CaptureQueriesContext(connection) as caught:
            browser_of.get(address)
        return len(caught)

    for number in (1, 2):
        come(number, result=GONE)
    few = queries()
    for number in range(3, 15):
        come(number, result=GONE)
    assert queries() <= few


def test_a_closed_trace_is_counted_and_not_named(come, project, client, reviewer, owner, run_jobs):
    from labeling.datasets.services import dataset_create
    from tests.traces.promoting import promoted

    come(1, result=GONE)
    dataset = dataset_create(project=project, actor=owner, slug="core", name="Core")
    promoted(run_jobs, dataset, owner)
    client.force_login(reviewer)
    page = client.get(reverse("reports:issue", args=[project.slug, Issue.objects.get().pk]))
    assert (page.context["touched"].traces, list(page.context["traces"].rows)) == (1, [])
    assert "closed to you while people label them" in page.content.decode()
    assert csv_rows(client.get(reverse("reports:issue-traces-csv", args=[project.slug, Issue.objects.get().pk]))) == []
