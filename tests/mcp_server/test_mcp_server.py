"""The MCP server over HTTP: what its tools answer of runs made by hand, and whom they refuse."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from jsonschema import Draft202012Validator

from labeling.datasets.services import dataset_create
from labeling.lint.descriptions import descriptions_lint
from labeling.lint.findings import Report
from reports.gates.services import named_gate_save
from reports.models import HeldGate
from tests.fixtures.people import member, person
from tests.reports.building import Builder, cases_of
from toolevals.mcp_server.tools import BY_NAME, TOOLS
from toolevals.registry.services import registry_create, registry_publish
from toolevals.workspace.access import rules
from toolevals.workspace.models import Project, Role, TokenScope
from toolevals.workspace.projects.services import member_set, project_create
from toolevals.workspace.tokens.services import token_create

pytestmark = pytest.mark.django_db
ACCEPT = "application/json, text/event-stream"
SHOP = [
    {"name": name, "description": f"When {name} is wanted.", "input_schema": {"type": "object"}} for name in ("a", "b")
]


class Door:
    """The server, for the holder of one token."""

    def __init__(self, project: Project, role: Role, scope: TokenScope = TokenScope.PROJECT) -> None:
        user = member(project, role)
        _, self.secret = token_create(project=project, actor=None, user=user, name="agent", role=role, scope=scope)

    def post(self, message: Any, **headers: str) -> Any:
        said = {"Authorization": f"Bearer {self.secret}", "Accept": ACCEPT} | headers
        return Client(enforce_csrf_checks=True).post("/mcp", message, content_type="application/json", headers=said)

    def ask(self, method: str, **parameters: Any) -> Any:
        response = self.post({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters})
        assert response.status_code == 200, response.content
        return response.json()["result"]

    def call(self, name: str, **arguments: Any) -> Any:
        """Return what a tool answers, held to the schema that it states."""
        result = self.ask("tools/call", name=name, arguments=arguments)
        assert not result.get("isError"), result
        Draft202012Validator(BY_NAME[name].answers).validate(result["structuredContent"])
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
        return result["structuredContent"]

    def refused(self, name: str, **arguments: Any) -> str:
        result = self.ask("tools/call", name=name, arguments=arguments)
        assert result["isError"], result
        return str(result["content"][0]["text"])


@pytest.fixture
def door(project: Project) -> Door:
    return Door(project, Role.ADJUDICATOR)


@pytest.fixture
def run(build: Builder) -> int:
    graded = build.grading(cases_of({("a", "a"): 6, ("a", "b"): 3, ("b", "b"): 8, ("b", "a"): 1}))
    return int(graded.run.number)


def test_it_introduces_itself(door):
    known = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    result = door.ask("initialize", **known)
    assert result["serverInfo"]["name"] == "toolevals"
    assert "find_confusions" in result["instructions"]
    assert door.ask("ping") == {}


def test_its_tools_are_listed_with_closed_schemas_and_hints(door):
    listed = door.ask("tools/list")["tools"]
    assert [tool["name"] for tool in listed] == list(BY_NAME)
    for tool in listed:
        assert tool["inputSchema"]["additionalProperties"] is False
        assert tool["outputSchema"]["additionalProperties"] is False
        assert tool["description"].startswith("Use "), tool["name"]
        assert tool["annotations"]["readOnlyHint"] is BY_NAME[tool["name"]].reads
        for name, schema in tool["inputSchema"]["properties"].items():
            assert schema.get("description"), f"{tool['name']}: {name}"


def test_lint_finds_nothing_in_its_own_tools():
    report = Report()
    descriptions_lint(report, [[tool.spec for tool in TOOLS]])
    assert [finding["sentence"] for finding in report.findings] == []


def test_what_tools_name_are_addresses_with_rules():
    assert {name for tool in TOOLS for name in tool.addresses} - rules().keys() == set()


def test_the_largest_confusion_comes_first_with_its_interval(door, run):
    found = door.call("find_confusions", run=run)
    assert [(each["expected"], each["called"], each["count"]) for each in found["confusions"]] == [
        ("a", "b", 3),
        ("b", "a", 1),
    ]
    first = found["confusions"][0]
    assert (first["expected_total"], first["share"]) == (9, 1 / 3)
    assert 0 < first["low"] < first["share"] < first["high"] < 1
    assert first["page"].endswith(f"/runs/{run}/matrix/cell/?expected=a&actual=b")
    assert found["accuracy"]["passed"] == 14
    assert len(door.call("find_confusions", run=run, most=1)["confusions"]) == 1


def test_a_confusion_opens_down_to_the_case(door, run):
    assert door.call("read_confusion", run=run, expected="a", called="b")["confusion"]["count"] == 3
    cases = door.call("list_cases", run=run, expected="a", called="b")
    assert len(cases["cases"]) == 3
    case = door.call("show_case", run=run, case=cases["cases"][0]["case"])
    assert (case["expected"], case["called"]) == ("a", "b")
    assert {each["name"]: each["status"] for each in case["verdicts"]}["selection"] == "failed"


def test_the_project_and_its_runs_are_listed(door, project, run):
    assert door.call("show_project")["project"] == project.slug
    (line,) = door.call("list_runs")["runs"]
    assert (line["run"], line["outcome"]["passed"]) == (run, 14)
    history = door.call("pair_history", expected="a", called="b")
    assert [(each["run"], each["confusion"]["count"]) for each in history["runs"]] == [(run, 3)]
    # One shape for a confusion, wherever it is told.
    assert history["runs"][0]["confusion"] == door.call("find_confusions", run=run)["confusions"][0]
    never = door.call("pair_history", expected="b", called="(none)")["runs"][0]["confusion"]
    assert (never["count"], never["expected_total"], never["share"]) == (0, 9, 0.0)


def test_an_empty_project_has_answers_without_entries(door, project):
    found = door.call("show_project")
    assert (found["datasets"], found["registries"], found["experiments"]) == ([], [], [])
    assert door.call("list_runs") == {"runs": [], "next": None}
    assert door.call("pair_history", expected="a", called="b")["runs"] == []
    dataset = dataset_create(project=project, actor=None, slug="core", name="Core")
    registry_create(project=project, actor=None, slug="shop", name="Shop")
    assert door.call("suggest_labels", dataset=dataset.slug)["gold"] == 0
    assert "has no version yet" in door.refused("show_tool", registry="shop", tool="a")


def test_two_runs_are_compared(door, build):
    before = build.grading(cases_of({("a", "b"): 12, ("a", "a"): 10}))
    examples = [[case] for case in cases_of({("a", "a"): 22})]
    after = build.again(before, examples)
    found = door.call("compare_runs", baseline=before.run.number, candidate=after.run.number)
    assert found["sentence"].startswith("Significantly better")
    assert (len(found["fixed"]), len(found["broken"])) == (12, 0)
    assert found["changes"][0]["p_value"] == 2 / 2**12


def test_a_draft_changes_one_description_and_no_other_tool(door, project):
    registry = registry_create(project=project, actor=None, slug="shop", name="Shop")
    registry_publish(registry=registry, actor=None, document=SHOP, format="native")
    change = {"tool": "b", "description": "When b, and nothing else, is wanted."}
    made = door.call("draft_version", registry="shop", descriptions=[change], note="b was called for a")
    assert (made["version"], made["changed"]) == (2, ["b"])
    history = door.call("show_tool", registry="shop", tool="b")
    assert [each["description"] for each in history["history"]] == [change["description"], "When b is wanted."]
    assert [each["version"] for each in door.call("show_tool", registry="shop", tool="a")["history"]] == [1]
    assert "The draft equals" in door.refused("draft_version", registry="shop", descriptions=[change], note="again")
    unknown = [{"tool": "c", "description": ""}]
    assert "has no tool c" in door.refused("draft_version", registry="shop", descriptions=unknown, note="")


def test_uploaded_predictions_cannot_be_asked_again(door, run):
    assert "predictions were uploaded" in door.refused("start_run", like_run=run)
    assert "predictions were uploaded" in door.refused("estimate_run", like_run=run)


def test_a_gate_is_decided_once_and_its_answer_asked_for_again(door, project, run, run_jobs):
    gate = {"bounds": [{"metric": "selection", "min": 0.9}]}
    named_gate_save(project=project, actor=None, name="release", gate=gate)
    begun = door.call("check_gate", run=run, gate="release")
    assert (begun["status"], begun["checks"]) == ("waiting", [])
    run_jobs()
    answer = door.call("check_gate", run=run, gate="release", check=begun["check"])
    assert (answer["check"], answer["run"], answer["status"]) == (begun["check"], run, "failed")
    assert [check["status"] for check in answer["checks"]] == ["failed"]
    assert HeldGate.objects.count() == 1


def test_a_run_whose_number_no_column_holds_is_not_found(door):
    assert door.refused("find_confusions", run=10**30).startswith("Not found")
    assert door.refused("compare_runs", baseline=10**30, candidate=1).startswith("Not found")


def test_documents_are_searched(door):
    sections = door.call("search_docs", words="exact mcnemar")["sections"]
    assert any("/docs/grading/" in each["address"] for each in sections)


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("no_such_tool", {}, "There is no tool"),
        ("find_confusions", {}, '"run" is a required property'),
        ("find_confusions", {"run": "1; DROP"}, "/run"),
        ("find_confusions", {"run": 1, "more": 1}, "'more' was unexpected"),
        ("find_confusions", {"run": 99}, "Not found"),
        ("find_confusions", {"run": -1}, "Not found"),
        ("show_case", {"run": 1, "case": "../../../tokens"}, "Not found"),
        ("show_tool", {"registry": "../tokens", "tool": "a"}, "Not found"),
        ("wait_for_job", {"job": "x"}, "Not found"),
    ],
)
def test_what_is_wrong_is_said(door, name, arguments, says):
    assert says in door.refused(name, **arguments)


@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER])
def test_who_may_not_write_by_rest_may_not_write_here(project, run, role):
    door = Door(project, role)
    registry = registry_create(project=project, actor=None, slug="shop", name="Shop")
    registry_publish(registry=registry, actor=None, document=SHOP, format="native")
    change = [{"tool": "b", "description": "Other."}]
    for name, arguments in (
        ("draft_version", {"registry": "shop", "descriptions": change, "note": ""}),
        ("start_run", {"like_run": run}),
        ("estimate_run", {"like_run": run}),
        ("check_gate", {"run": run, "gate": "release"}),
    ):
        assert "This requires the" in door.refused(name, **arguments)
    assert door.call("find_confusions", run=run)["confusions"]


def test_a_token_of_another_project_sees_nothing(run, door):
    other = project_create(actor=None, slug="other", name="Other")
    stranger = person("Stranger")
    member_set(project=other, actor=None, user=stranger, role=Role.OWNER)
    _, door.secret = token_create(project=other, actor=None, user=stranger, name="agent", role=Role.OWNER)
    assert door.call("show_project")["project"] == "other"
    assert door.refused("find_confusions", run=run).startswith("Not found")


def test_without_a_token_or_with_one_for_one_thing_nothing_is_answered(project, door):
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert door.post(message, Authorization="").status_code == 401
    assert door.post(message, Authorization="Bearer te_wrong").status_code == 401
    narrow = Door(project, Role.OWNER, TokenScope.GUARD)
    assert narrow.post(message).status_code == 403


def test_other_sites_other_methods_and_other_formats_are_refused(door):
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert door.post(message, Origin="https://evil.example").status_code == 403
    assert door.post(message, Origin="http://testserver").status_code == 200
    headers = {"Authorization": f"Bearer {door.secret}"}
    for method in (Client().get, Client().delete):
        assert method("/mcp", headers=headers).status_code == 405
    assert door.post(message, Accept="text/html").status_code == 406
    assert door.post("{").status_code == 400
