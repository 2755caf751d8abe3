"""A run proposes for examples that are still to label, and gold that rests on it does not judge its agent."""

from __future__ import annotations

import pytest

from labeling.models import Dataset, Gold, LookProposal
from labeling.second_looks.proposed import calls_of
from labeling.services import dataset_create, examples_import
from tests.runs.building import EXAMPLES, STATUS, call, silence, uploaded_run, version_of
from toolevals.grading.examples import read_example
from toolevals.grading.problems import InvalidDocument
from toolevals.grading.values import ToolCall
from toolevals.runs.services import grading_start
from toolevals.runs.services.second_looks import second_looks_propose
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
    assert (plan.run, plan.agent) == (run.number, run.subject.name)
    with pytest.raises(InvalidDocument, match="still to label"):
        second_looks_propose(dataset=version.dataset, actor=owner, run=run)


def test_gold_that_rests_on_an_agent_does_not_judge_it(project, owner, run_jobs):
    version = version_of(project)
    run = uploaded_run(project, version, [call("status", STATUS, order_id="ORD-1")])
    run_jobs()
    gold = version.entries.get(revision__example__external_id="status").gold
    Gold.objects.filter(pk=gold.pk).update(after_agents=f"Other\n{run.subject.name}", source="second_look")
    with pytest.raises(InvalidDocument, match=f"what {run.subject.name} proposed, and does not judge it: status"):
        uploaded_run(project, version, [call("status", STATUS, order_id="ORD-1")])
    assert project.runs.of_people().count() == 1
    with pytest.raises(InvalidDocument, match="status"):
        grading_start(run=run, actor=owner)
    Gold.objects.filter(pk=gold.pk).update(after_agents="Other")
    uploaded_run(project, version, [call("status", STATUS, order_id="ORD-1")])
    assert project.runs.of_people().count() == 2
