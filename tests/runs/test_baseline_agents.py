"""Test baseline agents: started once for a version, apart from people's runs, and what each does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import Count
from django.urls import reverse

from tests.runs.building import EXAMPLES, STATUS, baseline_run, cases_of, example, version_of
from toolevals.grading.values import ToolCall, ToolSpec
from toolevals.runs.baseline.baseline_agents import (
    EXPERIMENT,
    FIRST_NUMBER,
    BaselineAgent,
    baseline_agent_transcript,
    expected_of,
)
from toolevals.runs.baseline.starting import PAUSE, SETTLED, baseline_agents_due, baseline_agents_start
from toolevals.runs.models import Agent, CaseGrade, Experiment, Run, VerdictCount
from toolevals.workspace.clock import database_now

TOOLS = [ToolSpec(name=name, description="", input_schema={"type": "object"}) for name in ("a", "b", "c")]


def called(
    agent: BaselineAgent,
    example: str = "ex-1",
    *,
    tools: Sequence[ToolSpec] = TOOLS,
    frequent: Sequence[str] = ("x", "b", "a"),
) -> list[str]:
    """Return the names of the tools that a baseline agent calls."""
    calls = baseline_agent_transcript(agent, example, 0, tools, frequent).calls
    return [call.name for call in calls if isinstance(call, ToolCall)]


def test_each_baseline_agent_is_trivial():
    assert called(BaselineAgent.NONE) == []
    assert called(BaselineAgent.FREQUENT) == ["b"]
    assert called(BaselineAgent.FREQUENT, frequent=()) == ["a"]
    assert called(BaselineAgent.FREQUENT, tools=[]) == []
    assert called(BaselineAgent.NOTHING) == []
    assert baseline_agent_transcript(BaselineAgent.NOTHING, "ex", 0, TOOLS, ()).messages == ()
    assert baseline_agent_transcript(BaselineAgent.NONE, "ex", 0, TOOLS, ()).answer


def test_chance_takes_every_tool_and_none_alike_often():
    drawn = Counter(tuple(called(BaselineAgent.CHANCE, f"ex-{place}")) for place in range(4000))
    assert set(drawn) == {(), ("a",), ("b",), ("c",)}
    assert all(900 < count < 1100 for count in drawn.values())
    assert called(BaselineAgent.CHANCE, "ex-7") == called(BaselineAgent.CHANCE, "ex-7")


def test_what_a_version_expects():
    one = {"kind": "calls", "alternatives": [{"ordered": [{"tool": "b"}]}, {"ordered": [{"tool": "z"}]}]}
    choice = {"kind": "calls", "alternatives": [{"unordered": [{"one_of_calls": [{"tool": "a"}, {"tool": "z"}]}]}]}
    found = expected_of([one, one, choice, {"kind": "no_call"}])
    assert (found.tools, found.has_scenarios) == (("b", "a"), False)
    assert BaselineAgent.NOTHING not in found.baseline_agents
    chain = {"kind": "calls", "alternatives": [{"ordered": [{"any_order": [{"tool": "c"}, {"tool": "d"}]}]}]}
    assert expected_of([chain]).baseline_agents == tuple(BaselineAgent)
    assert expected_of([{"kind": "no_call", "state": {}}]).has_scenarios


@pytest.mark.django_db
def test_baseline_agents_are_graded_like_any_run(project, version, run_jobs):
    runs = {run.baseline_agent: run for run in baseline_agents_start(version=version)}
    assert list(runs) == ["none", "frequent", "chance"]
    assert baseline_agents_start(version=version) == []
    run_jobs()
    none, frequent = (cases_of(runs[kind].gradings.get()) for kind in ("none", "frequent"))
    assert [name for (name, _), case in none.items() if case.outcome == "passed"] == ["hello"]
    # Its tools are equally frequent, so the first by name: the right one of one example, but without arguments.
    assert {case.actual for case in frequent.values()} == {"get_order_history"}
    assert [name for (name, _), case in frequent.items() if case.selection == "passed"] == ["history"]
    assert {case.outcome for case in frequent.values()} == {"failed"}


@pytest.mark.django_db
def test_baseline_agents_stand_apart_from_peoples_runs(project, version, run_jobs, client, viewer):
    baseline_agents_start(version=version)
    run = baseline_run(project, version)
    assert run.number == 1
    assert baseline_run(project, version).number == 2
    assert min(Run.objects.exclude(baseline_agent="").values_list("number", flat=True)) == FIRST_NUMBER + 1
    assert {each.number for each in Run.objects.in_project(project).of_people()} == {1, 2}
    assert [agent.name for agent in Agent.objects.in_project(project)] == ["baseline"]
    assert EXPERIMENT not in Experiment.objects.in_project(project).values_list("slug", flat=True)
    client.force_login(viewer)
    listed = client.get(reverse("runs-api:runs", args=[project.slug])).json()["results"]
    assert [row["number"] for row in listed] == [2, 1]
    assert "chance" not in client.get(reverse("runs:runs", args=[project.slug])).content.decode()


@pytest.mark.django_db
def test_the_workers_start_them_for_new_versions_and_those_that_are_run_on(project, version):
    newer = version_of(project, [*EXAMPLES, example("bye", "Bye!", None)])
    now = database_now() + 2 * SETTLED
    baseline_agents_due(database_now())
    assert not Run.objects.exists()
    baseline_agents_due(now)
    assert set(Run.objects.values_list("dataset_version", flat=True)) == {newer.pk}
    baseline_run(project, version)
    baseline_agents_due(now + timedelta(minutes=1))
    assert Run.objects.filter(dataset_version=version).exclude(baseline_agent="").count() == 3
    baseline_agents_due(now + timedelta(minutes=2))
    assert Run.objects.exclude(baseline_agent="").count() == 6
    assert STATUS in Run.objects.get(dataset_version=version, baseline_agent="frequent").settings["frequent"]


@pytest.mark.django_db
def test_a_baseline_agent_in_which_our_side_broke_is_graded_again_after_a_pause(project, version, run_jobs):
    baseline_agents_start(version=version)
    run_jobs()
    run: Any = Run.objects.get(baseline_agent="none")
    case = run.grading.cases.order_by("pk")[0]
    CaseGrade.objects.filter(pk=case.pk).update(outcome="errored", execution="errored", tag="HARNESS_ERROR")
    VerdictCount.objects.create(grading=run.grading, column="execution", value="errored", count=1)
    later = database_now() + 2 * PAUSE
    baseline_agents_due(database_now())
    assert run.gradings.count() == 1
    baseline_agents_due(later)
    baseline_agents_due(later)
    assert run.gradings.count() == 2
    run_jobs()
    run.refresh_from_db()
    assert run.grading.number == 2
    assert not run.grading.cases.filter(outcome="errored").exists()
    baseline_agents_due(later + PAUSE)
    assert Run.objects.exclude(baseline_agent="").annotate(n=Count("gradings")).filter(n=1).count() == 2
    assert run.gradings.count() == 2
