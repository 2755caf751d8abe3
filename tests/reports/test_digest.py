"""The digest of a week: what each section tells and opens, older weeks, files, hostile names, and who may know what."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from labeling.adjudicate.resolution import settle_due
from labeling.datasets.services import dataset_create
from labeling.imports.services import examples_import
from labeling.label.services import label_submit
from labeling.models import Revision
from reports.digest.queries import Digest, Week, digest_of
from reports.digest.table import LINE
from reports.issues.gathering import issues_due
from reports.issues.services import issue_fix
from reports.models import HeldGate, Issue, IssueEvent
from tests.fixtures.people import person
from tests.labeling.rows import NO_CALL, SHOP_TOOLS, call, row
from tests.labeling.windows import later
from tests.reports.gate_building import hold, rate
from tests.runs.building import EXAMPLES, HISTORY, STATUS, example, silence, uploaded_run, version_of
from tests.runs.building import call as made
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.services import registry_create, registry_publish
from toolevals.runs.models import Grading, Run
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Project, Role
from toolevals.workspace.projects.services import member_set

pytestmark = pytest.mark.django_db(transaction=True)
PAGE, FILE, REST = "/p/shop/digest/", "/p/shop/digest.csv", "/api/v1/projects/shop/digest/"
WRONG_TOOL = f"`{HISTORY}` called in place of `{STATUS}`"
MANY = 30


def digest(project: Project, viewer: Any, *, weeks: int = 0) -> Digest:
    until = timezone.localdate(database_now()) - timedelta(days=7 * weeks)
    return digest_of(project, viewer, Role.VIEWER, Week(until))


def told(project: Project, viewer: Any, **more: Any) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in digest(project, viewer, **more).lines:
        found.setdefault(line.section, []).append(line.words)
    return found


def move(run: Run, days: int) -> None:
    """Let a run be graded, and its issues be opened, so many days ago."""
    at = database_now() - timedelta(days=days)
    Grading.objects.filter(run=run).update(finished_at=at)
    Issue.objects.update(created_at=at)
    IssueEvent.objects.update(at=at)


@pytest.fixture
def graded(project: Any, run_jobs: Callable[..., int]) -> Any:
    """Return a function that uploads and grades a run in which some of thirty calls are of the wrong tool."""
    rows = [example(f"e{number}", "What is the shipping status of order ORD-1?", STATUS) for number in range(MANY)]
    version = version_of(project, rows)

    def make(wrong: int, name: str = "one") -> Run:
        calls = [made(f"e{number}", HISTORY if number < wrong else STATUS) for number in range(MANY)]
        run = uploaded_run(project, version, calls, model=name)
        run_jobs()
        issues_due(database_now())
        return Run.objects.get(pk=run.pk)

    return make


def test_a_week_without_anything_says_so(project, viewer, client):
    client.force_login(viewer)
    page = client.get(PAGE).content.decode()
    assert "Nothing happened in these days" in page
    assert client.get(REST).json()["lines"] == []
    assert len(b"".join(client.get(FILE)).splitlines()) == 1


def test_new_issues_and_runs_with_what_changed_are_told_and_open_their_pages(graded, project, viewer, client):
    graded(2)
    graded(14, "two")
    found = digest(project, viewer)
    assert [(line.section, line.words) for line in found.lines] == [
        ("new", WRONG_TOOL),
        ("runs", "Run 2 of agent on Core v1"),
        ("runs", "Run 1 of agent on Core v1"),
    ]
    new, second, first = found.lines
    assert new.count == 16
    assert (second.value, second.count, second.before, second.change) == (16 / 30, 30, 28 / 30, "worse")
    assert second.difference is not None
    assert second.low is not None
    assert second.low < 16 / 30
    assert (first.before, first.change, first.against) == (None, "", "")
    client.force_login(viewer)
    page = client.get(PAGE).content.decode()
    for line in found.lines:
        for address in filter(None, (line.address, line.against)):
            assert f'href="{address}"' in page
            assert client.get(address).status_code == 200


def test_an_issue_that_is_in_more_cases_than_the_week_before_is_worse(graded, project, viewer):
    move(graded(2), days=8)
    graded(14, "two")
    assert told(project, viewer) == {"worse": [WRONG_TOOL], "runs": ["Run 2 of agent on Core v1"]}
    worse = digest(project, viewer).lines[0]
    assert (worse.value, worse.before, worse.count) == (14 / 30, 2 / 30, 30)
    assert worse.p_value is not None
    assert worse.p_value < 0.001
    # A week earlier the issue was new.
    assert told(project, viewer, weeks=1) == {"new": [WRONG_TOOL], "runs": ["Run 1 of agent on Core v1"]}


def test_what_may_be_chance_is_not_worse(graded, project, viewer):
    move(graded(2), days=8)
    graded(4, "two")
    assert "worse" not in told(project, viewer)


def test_a_run_that_is_graded_again_is_not_finished_again(graded, project, viewer, run_jobs):
    from toolevals.runs.grading.services import grading_start

    run = graded(2)
    move(run, days=8)
    grading_start(run=run, actor=None)
    run_jobs()
    assert "runs" not in told(project, viewer)
    assert told(project, viewer, weeks=1)["runs"] == ["Run 1 of agent on Core v1"]


def test_fixed_back_and_failed_gates_are_told(graded, project, viewer, owner):
    first = graded(14)
    move(first, days=20)
    good = graded(0, "two")
    issue_fix(issue=Issue.objects.get(), agent=good.agent, actor=owner)
    hold(first, rate("selection", 0.96))
    assert HeldGate.objects.get().status == "failed"
    graded(3, "three")
    found = told(project, viewer)
    assert (found["fixed"], found["back"]) == ([WRONG_TOOL], [WRONG_TOOL])
    assert found["gates"] == ["Run 1 of agent failed a gate"]


def test_page_file_and_rest_tell_the_same(graded, project, viewer, client):
    graded(2)
    client.force_login(viewer)
    lines = client.get(REST).json()["lines"]
    rows = list(csv.DictReader(io.StringIO(b"".join(client.get(FILE)).decode())))
    assert [(row["section"], row["words"], row["address"]) for row in rows] == [
        (line["section"], line["words"], line["address"]) for line in lines
    ]
    assert [float(row["value"]) if row["value"] else None for row in rows] == [line["value"] for line in lines]


def test_every_column_of_the_file_is_described():
    document = (Path(__file__).resolve().parents[2] / "docs" / "tables.md").read_text()
    section = document.partition("### `digest.csv`")[2].partition("\n##")[0]
    cells = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    assert tuple(re.findall(r"`(\w+)`", " ".join(cells))) == LINE.head


@pytest.mark.parametrize("until", ["tomorrow", "2026-13-01", "9999-12-31", "0001-01-01", "<script>"])
def test_a_week_that_is_none_is_refused_by_name(until, project, viewer, client):
    client.force_login(viewer)
    page = client.get(PAGE, {"until": until})
    assert page.status_code == 422
    assert "The day " in page.content.decode()
    assert "<script>," not in page.content.decode()
    assert client.get(FILE, {"until": until}).status_code == 400
    refused = client.get(REST, {"until": until})
    assert refused.status_code == 422
    assert "/until" in refused.content.decode()
    with pytest.raises(InvalidDocument):
        Week.of_address({"until": until})


def test_weeks_lead_to_each_other(project, viewer, client):
    today = timezone.localdate(database_now())
    client.force_login(viewer)
    now = client.get(PAGE).content.decode()
    assert f"?until={today - timedelta(days=7)}" in now
    assert "Week after" not in now
    assert "Nothing happened in these days." in now
    before = client.get(PAGE, {"until": today - timedelta(days=3)}).content.decode()
    assert f'href="?until={today}" rel="next"' in before


def test_names_of_strangers_are_text(project, viewer, client, run_jobs):
    hostile = "<img src=x onerror=alert(1)>"
    rows = [
        {
            **EXAMPLES[0],
            "tools": [{**tool, "name": hostile} for tool in EXAMPLES[0]["tools"][:1]],
            "expected_tool": hostile,
        }
    ]
    run = uploaded_run(project, version_of(project, rows), [silence("status")], model="one")
    type(run.agent).objects.filter(pk=run.agent_id).update(name=f"=cmd|{hostile}")
    run_jobs()
    issues_due(database_now())
    client.force_login(viewer)
    page = client.get(PAGE).content.decode()
    assert "<img" not in page
    assert page.count("&lt;img src=x") >= 2


def test_only_members_read_it(project, viewer, client):
    client.force_login(person("Zed"))
    assert {client.get(address).status_code for address in (PAGE, FILE, REST)} == {404}
    client.force_login(viewer)
    assert {client.get(address).status_code for address in (PAGE, FILE, REST)} == {200}


@pytest.fixture
def labelled(project) -> Any:
    """Return a function that lets a person label one of three examples that two people label."""
    registry = registry_create(project=project, actor=None, slug="shop", name="Shop")
    tools = registry_publish(registry=registry, actor=None, document=SHOP_TOOLS)
    dataset = dataset_create(project=project, actor=None, slug="fresh", name="Fresh", default_tools=tools)
    examples_import(dataset=dataset, actor=None, rows=[row(f"x{number}") for number in range(3)])

    def label(name: str, by: Any, expectation: Any) -> None:
        revision = Revision.objects.get(example__external_id=name)
        label_submit(slot=revision.slots.order_by("-round")[0], actor=by, expectation=expectation)
        settle_due(later())

    return label


def test_a_reviewer_reads_nothing_of_what_another_says(project, labelled, reviewer):
    other = person("Bea")
    member_set(project=project, actor=None, user=other, role=Role.REVIEWER)
    reader = Client()
    reader.force_login(reviewer)

    def reads() -> list[Any]:
        return [reader.get(REST).json(), b"".join(reader.get(FILE))]

    before = reads()
    assert [line["words"] for line in before[0]["lines"]] == [
        "3 examples to label",
        "Fresh: 28 kinds of examples are not covered",
    ]
    labelled("x0", other, call())
    assert reads() == before


def test_a_disagreement_is_told_to_those_alone_who_decide(project, labelled, reviewer, adjudicator, owner):
    first, second = person("Bea"), person("Ben")
    for each in (first, second):
        member_set(project=project, actor=None, user=each, role=Role.REVIEWER)
    for by, expectation in ((first, call()), (second, NO_CALL)):
        labelled("x0", by, expectation)

    def reads(who: Any) -> str:
        client = Client()
        client.force_login(who)
        return " ".join(line["words"] for line in client.get(REST).json()["lines"])

    assert "1 example to decide" in reads(adjudicator)
    assert "decide" not in reads(reviewer)
    assert "Same tool" not in reads(reviewer)
    assert reads(first).startswith("2 examples to label")
