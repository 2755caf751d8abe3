"""Issues of recorded runs: the same ids and counts when half of them comes a day later, and after regrading."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from typing import Any
from uuid import UUID

import pytest

from reports.issues.figures import seen_in, traces_in
from reports.issues.gathering import issue_id, issues_due, issues_gather
from reports.models import Issue, IssueGathering, IssueTrace
from tests.grading.failures.test_recorded import FOLDER
from tests.runs.building import example, uploaded_run, version_of
from toolevals.cli.sending import Agent, conversations_read, export_of, spans_of_conversation
from toolevals.grading.failures import failed_calls
from toolevals.grading.reading.parsing.recorded import RecordedRun, tau2_runs, tau_runs
from toolevals.runs.grading.services import grading_start
from toolevals.traces.intake.services import spans_store
from toolevals.traces.intake.sorting import sorted_spans
from toolevals.traces.models import Trace
from toolevals.traces.reading.services import traces_settle
from toolevals.workspace.clock import database_now

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not FOLDER.is_dir(), reason="TOOLEVALS_BENCHMARK_DATA is not set"),
]
NAMES = (
    "tau_grok-3_retail_flaky503.slim.json.gz",
    "tau_gpt-4o_airline.slim.json.gz",
    "tau2_qwen2.5-7b_airline_1trial.slim.json.gz",
)
AGENT = Agent("shop", "1")
START = 1_795_000_000_000_000_000
# Of each file, the first so many conversations.
CONVERSATIONS = 24


def recorded(name: str) -> list[RecordedRun]:
    """Return the recorded runs of a file, at most one a task: a half is every other one."""
    read = (tau2_runs if name.startswith("tau2") else tau_runs)(
        json.loads(gzip.decompress((FOLDER / name).read_bytes()))
    )
    return [run for run in read if run.trial == 0][:CONVERSATIONS]


def expected(project: Any, runs: list[RecordedRun]) -> dict[UUID, int]:
    """Return how many conversations each error of a tool is in, by the id of its issue."""
    return Counter(
        issue_id(project.pk, failure) for run in runs for failure in dict.fromkeys(failed_calls(run.transcript))
    )


def counts(project: Any) -> dict[UUID, int]:
    issues = list(Issue.objects.in_project(project))
    in_runs, in_traces = seen_in(issues), traces_in(issues)
    return {each.pk: sum(in_runs.get(each.pk, {}).values()) + in_traces[each.pk] for each in issues}


def of_tools(project: Any, found: dict[UUID, int]) -> dict[UUID, int]:
    tools = set(Issue.objects.filter(project=project, layer="tool").values_list("pk", flat=True))
    return {pk: count for pk, count in found.items() if pk in tools}


@pytest.mark.parametrize("name", NAMES)
def test_halves_of_runs_make_the_same_issues_in_either_order_and_after_regrading(name, project, run_jobs):
    runs = recorded(name)
    version = version_of(project, [example(f"t{run.task_id}", "x", None) for run in runs])
    rows = [
        {"id": f"t{run.task_id}", "format": "native", "messages": run.transcript.to_document()["messages"]}
        for run in runs
    ]
    halves = [uploaded_run(project, version, rows[at::2], model=f"half {at}") for at in (0, 1)]
    run_jobs()
    issues_due(database_now())
    for half in halves:
        half.refresh_from_db()
    together = counts(project)
    assert of_tools(project, together) == expected(project, runs)
    Issue.objects.all().delete()
    IssueGathering.objects.all().delete()
    for half in reversed(halves):
        while issues_gather(grading=half.grading):
            pass
    assert counts(project) == together
    for half in halves:
        grading_start(run=half, actor=None)
    run_jobs()
    issues_due(database_now())
    assert not IssueGathering.objects.waiting().exists()
    assert counts(project) == together


@pytest.mark.parametrize("name", NAMES)
def test_halves_of_traces_make_the_same_issues_in_either_order_and_when_summed_up_again(name, project, settings):
    settings.TRACES_QUIET_SECONDS = 0
    conversations = [each for each in conversations_read((FOLDER / name).read_bytes()) if each.name.endswith("-0")]
    conversations = conversations[:CONVERSATIONS]

    def come(*halves: int) -> dict[UUID, int]:
        for half in halves:
            for each in conversations[half::2]:
                export = export_of(spans_of_conversation(each, AGENT, START), AGENT)
                spans_store(project=project, traces=sorted_spans(export).traces)
            traces_settle(seconds=300)
        return counts(project)

    first = come(0)
    together = come(1)
    assert first.keys() < together.keys() or first.keys() == together.keys()
    assert of_tools(project, together) == expected(project, recorded(name))
    Trace.objects.update(due_at=database_now())
    traces_settle(seconds=300)
    assert counts(project) == together
    assert IssueTrace.objects.count() == sum(together.values())
    Trace.objects.all().delete()
    Issue.objects.all().delete()
    assert come(1, 0) == together
