"""A run proposes for examples that are still to label, and gold that rests on it does not judge its agent."""

from __future__ import annotations

import csv
import io

import pytest

from labeling.datasets.services import dataset_create
from labeling.imports.services import examples_import
from labeling.models import Dataset, Gold, LookProposal
from labeling.second_looks.pending_second_looks import calls_of
from tests.runs.building import EXAMPLES, STATUS, call, silence, uploaded_run, version_of
from toolevals.grading.reading.examples import read_example
from toolevals.grading.values import ToolCall
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.grading.services import grading_start
from toolevals.runs.second_looks.services import second_looks_propose
from toolevals.workspace.models import Project


def unlabelled(project: Project) -> Dataset:
    """Return a dataset of the same examples, without gold."""
    made = dataset_create(project=project, actor=None, slug="afresh", name="Afresh")
    plain = [{name: row[name] for name in ("id", "input", "tools")} for row in EXAMPLES]
    examples_import(dataset=made, actor=None, rows=[read_example(row) for row in plain])
    return made


def test_a_run_proposes_its_calls_for_the_same_examples_elsewhere(project, owner, run_jobs):
    version = version_of(project)
    run = uploaded_run(project, version, [call("status", STATUS, order_id="ORD-1"), silence("hello")])
    run_jobs()
    afresh = unlabelled(project)
    plan = second_looks_propose(dataset=afresh, actor=owner, run=run)
    rows = LookProposal.objects.filter(plan=plan).select_related("revision__example")
    told = {row.revision.example.external_id: calls_of(row.expectation) for row in rows}
    assert told == {"status": (ToolCall(STATUS, {"order_id": "ORD-1"}),), "hello": ()}
    assert (plan.run, plan.agent) == (run.number, run.agent.name)
    with pytest.raises(InvalidDocument, match="still to label"):
        second_looks_propose(dataset=version.dataset, actor=owner, run=run)


def test_gold_that_rests_on_an_agent_does_not_judge_it(project, owner, run_jobs):
    version = version_of(project)
    run = uploaded_run(project, version, [call("status", STATUS, order_id="ORD-1")])
    run_jobs()
    gold = version.entries.get(revision__example__external_id="status").gold
    Gold.objects.filter(pk=gold.pk).update(after_agents=f"Other\n{run.agent.name}", source="second_look")
    with pytest.raises(InvalidDocument, match="cannot be used to grade that agent: status"):
        uploaded_run(project, version, [call("status", STATUS, order_id="ORD-1")])
    assert project.runs.of_people().count() == 1
    with pytest.raises(InvalidDocument, match="status"):
        grading_start(run=run, actor=owner)
    Gold.objects.filter(pk=gold.pk).update(after_agents="Other")
    uploaded_run(project, version, [call("status", STATUS, order_id="ORD-1")])
    assert project.runs.of_people().count() == 2


def test_by_rest_an_owner_begins_and_ends_them(project, owner, adjudicator, client, run_jobs):
    version = version_of(project)
    run = uploaded_run(project, version, [call("status", STATUS, order_id="ORD-1"), silence("hello")])
    run_jobs()
    afresh = unlabelled(project)
    address = f"/api/v1/projects/{project.slug}/datasets/{afresh.slug}/second-looks/"
    client.force_login(owner)
    assert client.get(address).json() == {"plan": None}
    asked = {"run": run.number, "planted_share": 0.5, "seed": 3}
    made = client.post(address, asked, content_type="application/json")
    assert made.status_code == 200, made.content
    plan = made.json()["plan"]
    assert (plan["run"], plan["agent"], plan["proposals"], plan["seed"]) == (run.number, run.agent.name, 2, 3)
    assert plan["planted"] == LookProposal.objects.filter(is_planted=True).count()
    assert client.get(address).json() == {"plan": plan}
    assert client.post(address, {"run": 99}, content_type="application/json").status_code == 422
    assert client.post(address, asked | {"planted_share": 0.9}, content_type="application/json").status_code == 422
    assert client.delete(address).json() == {"plan": None}
    client.force_login(adjudicator)
    assert client.get(address).status_code == 403
    assert client.post(address, asked, content_type="application/json").status_code == 403


def test_a_runs_cases_without_gold_after_a_second_look_are_told_by_the_filter(project, owner, client, run_jobs):
    version = version_of(project)
    gold = version.entries.get(revision__example__external_id="status").gold
    Gold.objects.filter(pk=gold.pk).update(after_agents="Rival", source="second_look")
    run = uploaded_run(project, version, [call("status", STATUS, order_id="ORD-1"), silence("hello")])
    run_jobs()
    client.force_login(owner)
    address = f"/p/{project.slug}/runs/{run.number}/cases"

    def cases(**asked: str) -> set[str]:
        text = b"".join(client.get(f"{address}.csv", asked).streaming_content).decode()
        return {line["external_id"] for line in csv.DictReader(io.StringIO(text))}

    every, after = cases(), cases(gold="second_look")
    assert after == {"status"}
    assert cases(gold="not:second_look") == every - after
    assert len(every) > len(after)
    page = client.get(f"{address}/", {"gold": "not:second_look"}).content.decode()
    assert ">status<" not in page
    assert "hello" in page


def test_a_version_without_second_looks_is_frozen_by_page_and_by_rest(project, owner, client, run_jobs):
    version = version_of(project)
    gold = version.entries.get(revision__example__external_id="status").gold
    Gold.objects.filter(pk=gold.pk).update(after_agents="Rival", source="second_look")
    client.force_login(owner)
    place = f"datasets/{version.dataset.slug}/versions/"
    made = client.post(
        f"/api/v1/projects/{project.slug}/{place}", {"without_second_looks": True}, content_type="application/json"
    )
    assert made.status_code == 201, made.content
    assert made.json()["size"] == version.size - 1
    whole = client.post(f"/api/v1/projects/{project.slug}/{place}", {}, content_type="application/json").json()
    assert whole["size"] == version.size
    sent = client.post(f"/p/{project.slug}/{place}", {"without_second_looks": "on", "note": "without"})
    assert sent.status_code in (302, 303), sent.content
    newest = version.dataset.versions.order_by("-number").first()
    assert newest.size == version.size - 1
    held = newest.entries.values_list("revision__example__external_id", flat=True)
    assert "status" not in held
