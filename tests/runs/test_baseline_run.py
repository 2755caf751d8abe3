from __future__ import annotations

import pytest

from tests.runs.building import HISTORY, REFUND, STATUS, baseline_run, cases_of, example, rows_of, version_of
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.services import registry_create, registry_publish
from toolevals.runs.agents.services import agent_ensure
from toolevals.runs.models import Connector, Transcript
from toolevals.runs.runs.services import RunParts, run_start
from toolevals.workspace.models import AuditEntry, JobState

pytestmark = pytest.mark.django_db


def test_a_run_goes_from_examples_to_counts(project, version, run_jobs):
    run = baseline_run(project, version)

    run_jobs()

    run.refresh_from_db()
    assert run.job.state == JobState.SUCCEEDED
    assert run.grading.number == 1
    assert run.grading.finished_at is not None
    cases = cases_of(run.grading)
    assert {name: (case.expected, case.actual) for (name, _), case in cases.items()} == {
        "status": (STATUS, STATUS),
        "history": (HISTORY, HISTORY),
        "refund": (REFUND, REFUND),
        "hello": ("(none)", "(none)"),
    }
    assert {case.outcome for case in cases.values()} == {"passed"}
    assert (cases["status", 0].bucket, cases["status", 0].difficulty) == ("selection", "easy")


def test_two_runs_of_the_same_baseline_give_equal_rows(project, version, run_jobs):
    runs = [baseline_run(project, version, trials=2) for _ in range(2)]

    run_jobs()

    first, second = (rows_of(run.gradings.get()) for run in runs)
    assert first == second
    assert len(first["cases"]) == 8
    assert runs[0].agent == runs[1].agent
    assert [run.number for run in runs] == [1, 2]


def test_the_threshold_is_part_of_the_agent(project, version, run_jobs):
    silent = baseline_run(project, version, threshold=1)

    run_jobs()

    assert {case.actual for case in cases_of(silent.gradings.get()).values()} == {"(none)"}
    assert silent.agent != baseline_run(project, version).agent


def test_the_agent_may_know_the_tools_in_other_words(project, version, run_jobs):
    registry = registry_create(project=project, actor=None, slug="own", name="Own")
    reworded = [
        {"name": STATUS, "description": "Gives the money for an order back.", "input_schema": {"type": "object"}},
        {"name": REFUND, "description": "Not in use.", "input_schema": {"type": "object"}},
    ]
    tools = registry_publish(registry=registry, actor=None, document=reworded)
    agent = agent_ensure(project=project, actor=None, name="baseline", connector=Connector.BASELINE, tools=tools)
    plain = baseline_run(project, version)
    run = run_start(
        RunParts(project=project, actor=None, experiment=plain.experiment, agent=agent, dataset_version=version)
    )

    run_jobs()

    assert cases_of(plain.gradings.get())["refund", 0].actual == REFUND
    assert cases_of(run.gradings.get())["refund", 0].actual == STATUS


def test_every_trial_has_a_transcript_even_across_batches(project, run_jobs):
    rows = [example(f"ex-{number:03}", f"status of order ORD-{number}", STATUS) for number in range(130)]
    run = baseline_run(project, version_of(project, rows, slug="long"), trials=4)

    run_jobs()

    assert run.job.batches.filter(task="runs.grade").count() > 1
    assert Transcript.objects.filter(run=run).count() == 520
    assert len(cases_of(run.gradings.get())) == 520


@pytest.mark.parametrize("trials", [0, 65])
def test_the_number_of_trials_is_bounded(project, version, trials):
    with pytest.raises(InvalidDocument) as caught:
        baseline_run(project, version, trials=trials)

    assert caught.value.problems[0].pointer == "/trials"


def test_another_projects_version_is_refused(project, version, owner):
    from toolevals.workspace.projects.services import project_create

    other = project_create(actor=owner, slug="other", name="Other")

    with pytest.raises(InvalidDocument) as caught:
        baseline_run(other, version)

    assert caught.value.problems[0].pointer == "/dataset_version"
    assert not other.runs.exists()


def test_a_start_leaves_one_audit_row(project, version, owner):
    run = baseline_run(project, version)

    entry = AuditEntry.objects.get(verb="run_start")
    assert (entry.target_id, entry.detail["number"]) == (run.pk, 1)
