"""Live runs with a policy in front of their agent, and runs that are graded with one, over HTTP and on pages."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.urls import reverse

from tests.agents.chat_server import calls, chat_server, says
from tests.reports.gate_building import checks, hold
from tests.runs.building import REFUND, STATUS, call, cases_of, example, uploaded_run, version_of
from tests.runs.live import last, live_run
from toolevals.grading.values import Transcript as Done
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.policies.services import policy_create, policy_delete, version_publish
from toolevals.runs.aggregates.packed_cases import measured_case, metric_names
from toolevals.runs.grading.services import grading_start
from toolevals.runs.models import CaseFinding, FindingCount, Transcript
from toolevals.runs.runs.requesting import RunRequest, run_request_live
from toolevals.workspace.models import JobState, Project

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("loopback")]
RULES = {
    "schema": {"kind": "schema", "mode": "enforce"},
    "desk": {"kind": "keys", "mode": "enforce", "keys": {"desk": {"allowed_tools": ["get_*"]}, "*": {}}},
    "no-refunds": {"kind": "blocked", "mode": "enforce", "tools": [REFUND]},
}
CLOSED = {
    "type": "object",
    "properties": {"order_id": {"type": "string"}},
    "required": ["order_id"],
    "additionalProperties": False,
}
TOOLS = [{"name": name, "description": "", "input_schema": CLOSED} for name in (STATUS, REFUND)]


def row(name: str, says_what: str, tool: str | None) -> dict[str, Any]:
    made = example(name, says_what, tool) | {"tools": TOOLS}
    made["input"]["simulation"] = {
        "results": [{"tool": each, "result": {"state": "sent"}} for each in (STATUS, REFUND)]
    }
    return made


@pytest.fixture
def policy(project: Any) -> Any:
    return policy_create(project=project, actor=None, slug="desk", name="Desk", document={"rules": RULES})


@pytest.fixture
def version(project: Any) -> Any:
    return version_of(
        project,
        [
            row("right", "What is the status of order ORD-1?", STATUS),
            row("mended", "Status of order ORD-1, but say it wrongly first", STATUS),
            row("tempted", "Status of ORD-1, and a refund", STATUS),
            row("wanted", "Refund order ORD-1", REFUND),
        ],
    )


def agent(body: dict[str, Any]) -> dict[str, Any]:
    """Call what the request asks for; where it is refused, do better, or say so."""
    message, asked = last(body), body["messages"][0]["content"]
    right = calls((STATUS, json.dumps({"order_id": "ORD-1"})))
    if message["role"] == "tool":
        again = "refused" in message["content"] and "Refund" not in asked
        return right if again else says("Done.")
    if "wrongly" in asked:
        return calls((STATUS, json.dumps({"order": 1})))
    if "efund" in asked:
        return calls((REFUND, json.dumps({"order_id": "ORD-1"})))
    return right


def test_invalid_and_forbidden_calls_are_refused_beside_failures(project, version, policy, run_jobs, client, owner):
    guard = {"policy": "desk", "version": policy.number}
    with chat_server(agent) as server:
        run = live_run(project, version, server, options={"strict_tools": True}, settings={"guard": guard})
        run_jobs()
    run.refresh_from_db()
    assert run.job.state == JobState.SUCCEEDED
    assert {tool["function"]["strict"] for said in server.requests for tool in said["tools"]} == {True}
    outcomes = {name: case.outcome for (name, _), case in cases_of(run.grading).items()}
    # No call that was refused is a failure; where gold expects it, no one knows what would have come.
    assert outcomes == {"right": "passed", "mended": "passed", "tempted": "passed", "wanted": "unscored"}
    recovery = {name: case.recovery for (name, _), case in cases_of(run.grading).items()}
    assert set(recovery.values()) == {"unscored"}
    made = [Done.from_document(each.document) for each in Transcript.objects.of_run(run)]
    assert [[refusal.rules for refusal in each.refusals or ()] for each in made] == [
        [],
        [("schema",)],
        [("no-refunds",)],
        [("no-refunds",)],
    ]
    assert [len(each.calls) for each in made] == [1, 1, 1, 0]
    counts = FindingCount.objects.filter(grading=run.grading, family="guard", tool="").exclude(kind="")
    assert dict(counts.values_list("kind", "cases")) == {"schema": 1, "no-refunds": 2}
    gate = {"assertions": [{"template": "guard", "conditions": ["failed_count <= 0"]}]}
    assert [check.observed for check in checks(hold(run, gate))] == [3]
    client.force_login(owner)
    page = client.get(reverse("reports:run", args=["shop", run.number])).content.decode()
    assert "Refused by the guard" in page
    assert "desk@1" in page
    listed = client.get(
        reverse("reports:cases", args=["shop", run.number]), {"found": "guard.no-refunds"}
    ).content.decode()
    assert "tempted" in listed
    assert "mended" not in listed
    case = cases_of(run.grading)["wanted", 0]
    shown = client.get(reverse("reports:case", args=["shop", run.number, case.pk])).content.decode()
    assert "The guard refused a call that is expected" in shown
    assert "no-refunds" in shown


def test_the_key_of_a_guard_decides_whose_lists_are_met(project, version, policy, run_jobs):
    guard = {"policy": "desk", "version": policy.number, "key": "desk"}
    with chat_server(agent) as server:
        run = live_run(project, version, server, settings={"guard": guard})
        run_jobs()
    rules = CaseFinding.objects.filter(grading__run=run, family="guard").values_list("kind", flat=True)
    assert set(rules) == {"schema", "desk", "no-refunds"}


def test_a_guard_that_is_not_there_or_stands_before_nothing_is_refused(project, version, policy, run_jobs):
    with chat_server(agent) as server:
        for guard, words in (
            ({"policy": "other", "version": 1}, "names no version of a policy of this project: other 1"),
            ({"policy": "desk", "version": 9}, "names no version of a policy of this project: desk 9"),
            ({"policy": "desk"}, "must be the number of a version"),
            ({"policy": "desk", "version": 1, "mode": "x"}, "is not an option here"),
        ):
            with pytest.raises(InvalidDocument, match=words) as caught:
                live_run(project, version, server, settings={"guard": guard})
            assert caught.value.problems[0].pointer.startswith("/settings/guard")
        request = RunRequest(
            experiment="live",
            dataset_version=version,
            name="Shop agent",
            connector="webhook",
            options={"url": server.url},
            settings={"guard": {"policy": "desk", "version": 1}},
        )
        with pytest.raises(InvalidDocument, match="has no call to check"):
            run_request_live(project=project, actor=None, request=request)
        run = live_run(project, version, server, settings={"guard": {"policy": "desk", "version": 1}})
        policy_delete(policy=policy.policy, actor=None)
        run_jobs()
    run.job.refresh_from_db()
    assert run.job.state == JobState.FAILED
    assert server.requests == []


def test_any_run_is_graded_with_a_policy(project, version, policy, run_jobs, client, owner):
    predictions = [call("right", STATUS), call("tempted", REFUND), call("mended", STATUS, order=1)]
    run = uploaded_run(project, version, predictions)
    run_jobs()
    run.refresh_from_db()
    before = {key: case.outcome for key, case in cases_of(run.grading).items()}
    client.force_login(owner)
    assert not CaseFinding.objects.filter(family="guard").exists()
    answer = client.post(
        f"/api/v1/projects/shop/runs/{run.number}/gradings/", {"policy": "desk"}, content_type="application/json"
    )
    assert answer.status_code == 202, answer.content
    run_jobs()
    run.refresh_from_db()
    assert (run.grading.number, str(run.grading.policy)) == (2, "desk@1")
    # A policy changes no verdict.
    assert {key: case.outcome for key, case in cases_of(run.grading).items()} == before
    found = CaseFinding.objects.filter(grading=run.grading, family="guard").values_list("kind", "tool")
    assert set(found) == {("no-refunds", REFUND), ("schema", STATUS)}
    page = client.get(reverse("reports:run", args=["shop", run.number])).content.decode()
    assert "It says what it would have refused." in page
    case = cases_of(run.grading)["tempted", 0]
    assert "no-refunds" in client.get(reverse("reports:case", args=["shop", run.number, case.pk])).content.decode()
    unknown = client.post(
        f"/api/v1/projects/shop/runs/{run.number}/gradings/", {"policy": "none"}, content_type="application/json"
    )
    assert unknown.status_code == 422
    chosen = client.post(reverse("runs:run-regrade", args=["shop", run.number]), {"policy": "desk@1"})
    assert chosen.status_code == 302
    assert run.gradings.get(number=3).policy == policy


def test_action_safety_takes_the_patterns_of_the_policy_that_a_run_is_graded_with(
    project, version, policy, run_jobs, client, owner
):
    run = uploaded_run(project, version, [call("right", STATUS)])
    run_jobs()
    client.force_login(owner)

    def safety() -> tuple[Any, str]:
        run.refresh_from_db()
        case = cases_of(run.grading)["right", 0]
        value = measured_case(case.measured, metric_names(run.grading.graders)).metrics["action_safety"]
        page = client.get(reverse("reports:case", args=["shop", run.number, case.pk])).content.decode()
        return value, page

    # A policy without patterns leaves the usual ones in their place.
    grading_start(run=run, actor=None, policy=policy)
    run_jobs()
    assert safety()[0] == ("passed", 1.0)
    own = {"kind": "patterns", "mode": "audit", "families": [], "own": [{"name": "order", "pattern": "ORD-[0-9]"}]}
    newer = version_publish(policy=policy.policy, actor=None, document={"rules": {"orders": own}})
    grading_start(run=run, actor=None, policy=newer)
    run_jobs()
    value, page = safety()
    assert value == ("failed", 0.7)
    assert "at /arguments/order_id: It matches the pattern" in page


def test_the_form_offers_guards_and_strict_tools(project, version, policy, run_jobs, client, owner):
    client.force_login(owner)
    page = client.get("/p/shop/runs/live/").content.decode()
    assert '<option value="desk@1">Desk, version 1</option>' in page
    assert 'name="guard"' not in client.get("/p/shop/runs/live/?connector=webhook").content.decode()
    with chat_server(agent) as server:
        entered = {
            "experiment": "nightly",
            "dataset_version": version.pk,
            "name": "Shop agent",
            "base_url": server.url,
            "model": "small",
            "trials": 1,
            "tools_by": "native",
            "timeout": 60,
            "concurrency": 2,
            "max_steps": 5,
            "tries": 1,
            "strict_tools": "on",
            "guard": "desk@1",
            "guard_key": "desk",
            "start": "1",
        }
        answer = client.post("/p/shop/runs/live/", entered)
        assert answer.status_code == 302, answer.content.decode()[:2000]
        run_jobs()
    run = project.runs.get()
    assert run.settings["guard"] == {"policy": "desk", "version": 1, "key": "desk"}
    assert run.agent.options["strict_tools"] is True
    assert CaseFinding.objects.filter(grading__run=run, family="guard", kind="desk").exists()


def test_a_policy_of_another_project_grades_nothing(project, version, run_jobs):
    run = uploaded_run(project, version, [call("right", STATUS)])
    run_jobs()
    run.refresh_from_db()
    other = Project.objects.create(slug="other", name="Other")
    theirs = policy_create(project=other, actor=None, slug="desk", name="Desk", document={"rules": RULES})
    with pytest.raises(InvalidDocument, match="is not a policy of this project"):
        grading_start(run=run, actor=None, policy=theirs)
