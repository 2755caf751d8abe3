"""Runs held against gates at the server: what is decided, what it is compared with, what is kept."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reports.gates.cases import grading_cases
from reports.gates.services import GateRequest, gate_decide, gate_hold
from reports.models import HeldGate
from tests.reports.building import Builder, Case, cases_of
from tests.reports.gate_building import checks, hold, rate
from tests.runs.building import EXAMPLES, STATUS, call, silence, uploaded_run, version_of
from tests.runs.building import cases_of as graded_cases
from tests.workspace.tasks import lost
from toolevals.cli.gate_files import graded_file
from toolevals.grading.gates.documents import read_gate
from toolevals.grading.gates.evaluation import Evidence, hold_gate
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.agents.services import agent_ensure
from toolevals.runs.models import Grading, JudgedCase, Run, Transcript
from toolevals.workspace.jobs.leases import Lease, batch_work
from toolevals.workspace.jobs.services import job_cancel
from toolevals.workspace.models import AuditEntry, Job, Project

pytestmark = pytest.mark.django_db
CELLS = {("a", "a"): 19, ("a", "b"): 1, ("(none)", "(none)"): 5}


def test_a_run_passes_and_fails(build):
    run = build.grading(cases_of(CELLS)).run
    passed, failed = hold(run, rate("selection", 0.96)), hold(run, rate("selection", 0.97))
    assert (passed.status, failed.status) == ("passed", "failed")
    (check,) = checks(failed)
    assert (check.observed, check.count, check.example_count, len(check.examples)) == (0.96, 25, 1, 1)
    assert AuditEntry.objects.filter(verb="gate_hold", target_id=failed.pk).exists()
    assert Job.objects.get(held_gate=failed).result_path.endswith(f"/gates/{failed.pk}/")


def test_what_was_not_scored_never_passes(build):
    run = build.grading([*cases_of(CELLS), Case("a", "a", status="unscored")]).run
    assert hold(run, rate("selection", 0.95)).status == "unanswered"
    assert hold(run, rate("selection", 0.9)).status == "passed"


def test_a_call_that_was_not_due_leaves_no_argument_open(build):
    run = build.grading(cases_of(CELLS)).run
    held = hold(run, rate("arguments", 1))
    assert (held.status, checks(held)[0].count) == ("passed", 19)


def test_tools_and_strata_have_bounds_of_their_own(build):
    cases = [
        *cases_of({("a", "a"): 9, ("b", "a"): 1}, difficulty="hard"),
        *cases_of({("b", "b"): 4}, difficulty="easy"),
    ]
    run = build.grading(cases).run
    strata = checks(hold(run, rate("selection", 0.95, per_stratum="difficulty")))
    assert [(check.name, check.status) for check in strata] == [
        ("selection pass_rate (difficulty easy)", "passed"),
        ("selection pass_rate (difficulty hard)", "failed"),
    ]
    tools = checks(hold(run, rate("selection", 0.9, per="tool", statistic="precision")))
    assert [round(check.observed or 0, 6) for check in tools] == [0.9, 1.0]
    assert (
        hold(run, {"bounds": [{"metric": "selection", "min": 0.9, "per_stratum": "edge_case"}]}).status == "unanswered"
    )


RIGHT = [call("status", STATUS), call("history", "get_order_history"), call("refund", "issue_refund"), silence("hello")]
SWAPPED = [call("status", "issue_refund"), *RIGHT[1:]]
OTHER = [RIGHT[0], call("history", STATUS), *RIGHT[2:]]


def graded(project: Project, run_jobs: Any, *answers: Any) -> list[Run]:
    version = version_of(project)
    runs = [uploaded_run(project, version, rows, commit=str(place)) for place, rows in enumerate(answers)]
    run_jobs()
    return [Run.objects.get(pk=run.pk) for run in runs]


REGRESSION = {
    "regressions": [{"rule": "averages", "metrics": ["selection"]}, {"rule": "cases", "metrics": ["selection"]}]
}


def test_a_regression_that_an_equal_average_hides(project, run_jobs):
    before, after = graded(project, run_jobs, SWAPPED, OTHER)
    held = hold(after, REGRESSION, baseline=str(before.number))
    averages, cases = checks(held)
    assert (averages.status, averages.observed) == ("passed", 0)
    assert (cases.status, cases.examples) == ("failed", ("history",))
    assert held.baseline_id == before.grading_id
    assert hold(after, REGRESSION, baseline=str(after.number)).status == "passed"


def test_a_baseline_by_branch_and_the_last_passing_one(project, run_jobs):
    first, second, third = graded(project, run_jobs, RIGHT, SWAPPED, OTHER)
    assert hold(third, REGRESSION, baseline="last-passing").baseline is None
    assert hold(third, REGRESSION, baseline="last-passing").status == "unanswered"
    hold(first, rate("selection", 1), branch="main")
    hold(second, rate("selection", 1), branch="main")
    assert hold(third, REGRESSION, baseline="last-passing").baseline_id == first.grading_id
    assert hold(third, REGRESSION, baseline="branch:main").baseline_id == second.grading_id
    assert hold(third, REGRESSION, baseline="branch:other").baseline is None
    # A run is never its own past.
    assert hold(second, REGRESSION, baseline="branch:main").baseline_id == first.grading_id


@pytest.mark.parametrize("said", ["77", "yesterday", "-1", "9" * 30, "branch"])
def test_a_baseline_that_is_not_there_is_refused(build, said):
    run = build.grading(cases_of(CELLS)).run
    with pytest.raises(InvalidDocument) as refused:
        hold(run, REGRESSION, baseline=said)
    assert refused.value.problems[0].pointer == "/baseline"


def test_a_baseline_on_another_dataset_is_refused(build):
    one, other = build.grading(cases_of(CELLS)).run, build.grading(cases_of(CELLS)).run
    with pytest.raises(InvalidDocument, match="another dataset"):
        hold(one, REGRESSION, baseline=str(other.number))


def test_no_gate_knows_a_baseline_agent(build):
    run = build.grading(cases_of(CELLS)).run
    Run.objects.filter(pk=run.pk).update(baseline_agent="none")
    with pytest.raises(InvalidDocument, match="baseline agent"):
        hold(run, rate("selection", 0.5))
    assert not HeldGate.objects.exists()


def test_a_baseline_agent_is_read_beside_a_rate(build):
    mine, other = build.grading(cases_of(CELLS)), build.grading(cases_of({("a", "a"): 10, ("b", "a"): 10}))
    Run.objects.filter(pk=other.run_id).update(baseline_agent="frequent", dataset_version=mine.dataset_version)
    document = {"bounds": [{"metric": "tool_name_match", "min": 0.9}, {"metric": "selection", "min": 0, "per": "tool"}]}
    whole, *tools = checks(hold(mine.run, document))
    assert whole.note == "Best baseline agent: 50.0% (always the most frequent tool)."
    assert {check.note for check in tools} == {""}


def test_a_wrong_gate_is_told_where(build):
    run = build.grading(cases_of(CELLS)).run
    with pytest.raises(InvalidDocument) as refused:
        gate_hold(run=run, actor=None, request=GateRequest({"bounds": [{"metric": "outcome"}]}))
    assert refused.value.problems[0].pointer == "/gate/bounds/0"


def slice_of(build: Builder, run: Run, marks: list[str]) -> Grading:
    """Return a consistency slice of the run's agent: each text one example's trials, p or f."""
    tried = [[Case("a", "a" if mark == "p" else "b") for mark in text] for text in marks]
    grading = build.tried(tried)
    Run.objects.filter(pk=grading.run_id).update(
        preset="consistency", agent=run.agent, dataset_version=run.dataset_version
    )
    return grading


def test_the_consistency_slice_is_asked_of_release_candidates(build):
    run = build.grading(cases_of(CELLS)).run
    document = {**rate("selection", 0.5), "consistency": [{"metric": "outcome", "k": 2, "min": 0.9}]}
    assert [check.status for check in checks(hold(run, document))] == ["passed", "skipped"]
    assert hold(run, document, release_candidate=True).status == "unanswered"
    bad = slice_of(build, run, ["pp", "pf"])
    held = hold(run, document, release_candidate=True)
    assert (held.status, held.consistency_id, checks(held)[1].observed) == ("failed", bad.pk, 0.5)
    good = slice_of(build, run, ["pp", "pp"])
    assert hold(run, document, release_candidate=True).consistency_id == good.pk
    with pytest.raises(InvalidDocument, match="consistency"):
        hold(run, rate("selection", 0.5), release_candidate=True)


def test_a_slice_is_named_and_another_agents_is_refused(build):
    run = build.grading(cases_of(CELLS)).run
    document = {**rate("selection", 0.5), "consistency": [{"metric": "outcome", "k": 2, "min": 0.9}]}
    own, other = slice_of(build, run, ["pp"]), build.tried([[Case("a", "a"), Case("a", "a")]])
    held = hold(run, document, release_candidate=True, consistency=own.run.number)
    assert f"run {own.run.number} of {run.agent.name}" in checks(held)[1].note
    Run.objects.filter(pk=other.run_id).update(
        dataset_version=run.dataset_version,
        agent=agent_ensure(project=run.project, actor=None, name="another", connector="upload"),
    )
    with pytest.raises(InvalidDocument, match="another agent") as refused:
        hold(run, document, release_candidate=True, consistency=other.run.number)
    assert refused.value.problems[0].pointer == "/consistency"


def test_judges_are_read_and_marked_where_their_model_is_an_alias(build):
    grading = build.grading(cases_of({("a", "a"): 4}))
    seat = {"rubric": "tone", "version": 1, "name": "Tone", "model": "judge-latest", "pinned": False}
    Grading.objects.filter(pk=grading.pk).update(judges=[seat])
    JudgedCase.objects.bulk_create(
        JudgedCase(case=case, grading=grading, rubric="tone", status=status)
        for case, status in zip(grading.cases.all(), ["passed", "passed", "failed", "unscored"], strict=True)
    )
    (check,) = checks(hold(grading.run, rate("judged:tone", 0.5)))
    assert (check.status, check.count, round(check.observed or 0, 3)) == ("passed", 3, 0.667)
    assert "judge-latest is not pinned" in check.note


def test_the_server_and_a_file_decide_alike(project, run_jobs, tmp_path):
    answers = [*SWAPPED[:2], call("refund", "issue_refund", order_id="ORD-2"), silence("hello")]
    (run,) = graded(project, run_jobs, answers)
    bounds = [{"metric": "selection", "min": 0, "per_stratum": name} for name in ("bucket", "difficulty")]
    bounds += rate("tool_name_f1", 0.5, statistic="avg_score")["bounds"]
    document = {"thresholds": {"default_pass_rate": 0.5}, "bounds": bounds}
    held = hold(run, document)
    file = tmp_path / "rows.jsonl"
    rows = [{**example, **answer} for example, answer in zip(EXAMPLES, answers, strict=True)]
    file.write_text("\n".join(map(json.dumps, rows)))
    here = {case.example: case for case in graded_file(str(file)).cases}
    there = {case.example: case for case in grading_cases(held.grading, read_gate(document))}
    # Those that only count where they are named are read only then.
    assert {name: {each: case.scores[each] for each in case.asked(None)} for name, case in here.items()} == {
        name: dict(case.scores) for name, case in there.items()
    }
    assert {name: (case.tool, case.called, case.strata) for name, case in here.items()} == {
        name: (case.tool, case.called, case.strata) for name, case in there.items()
    }
    assert len(graded_cases(held.grading)) == len(here)


def test_it_is_decided_from_a_few_queries(build, django_assert_max_num_queries):
    few, many = build.grading(cases_of(CELLS)), build.grading(cases_of({("a", "a"): 400}))
    gate = read_gate({"thresholds": {"default_pass_rate": 0.5}})
    for grading in (few, many):
        with django_assert_max_num_queries(8):
            grading_cases(grading, gate)


def test_an_unscored_case_counts_under_the_tool_that_its_gold_expects(project, run_jobs, django_assert_max_num_queries):
    before, after = graded(project, run_jobs, RIGHT, RIGHT[1:])
    rules = {**rate("selection", 0.1, per="tool"), "regressions": [{**RULE, "per": "tool"}]}
    held = hold(after, rules, baseline=str(before.number))
    found = {check.name: check for check in checks(held)}
    assert held.status == "unanswered"
    assert found[f"selection pass_rate (tool {STATUS})"].examples == ("status",)
    of_tool = found[f"selection against the run before, by cases (tool {STATUS})"]
    assert (of_tool.status, of_tool.examples) == ("unanswered", ("status",))
    assert not [name for name in found if "not known" in name]
    with django_assert_max_num_queries(9):
        cases = grading_cases(held.grading, read_gate(rules))
    assert {case.example: case.tool for case in cases}["status"] == STATUS


RULE = {"rule": "cases", "metrics": ["selection"]}


@pytest.mark.parametrize("cancelled_at", [20, 40])
def test_it_tells_its_progress_and_ends_where_the_job_is_cancelled(build, monkeypatch, cancelled_at):
    monkeypatch.setattr("reports.gates.cases.TOLD", 10)
    run = build.grading(cases_of(CELLS)).run
    bounds = rate("selection", 0.95)["bounds"] * 4
    held = gate_hold(run=run, actor=None, request=GateRequest({"bounds": bounds}))
    job = Job.objects.get(held_gate=held)
    batch = job.batches.get()
    assert batch.size == 50
    told: list[int] = []
    progress = Lease.progress

    def cancelled(lease: Lease, done: int) -> None:
        told.append(done)
        if done == cancelled_at:
            job_cancel(job=job, actor=None)
        progress(lease, done)

    monkeypatch.setattr(Lease, "progress", cancelled)
    batch_work(str(batch.pk), gate_decide)
    held.refresh_from_db()
    # 25 cases are read, and then decided on by four rules and the thresholds.
    assert told == [done for done in (10, 20, 25, 25, 30, 35, 40) if done <= cancelled_at]
    assert held.result is None


def test_a_worker_that_dies_is_followed_by_one_that_decides(build, monkeypatch):
    run = build.grading(cases_of(CELLS)).run
    held = gate_hold(run=run, actor=None, request=GateRequest(rate("selection", 0.95)))
    job = Job.objects.get(held_gate=held)
    batch = job.batches.get()
    with monkeypatch.context() as patch:
        patch.setattr(Lease, "progress", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            batch_work(str(batch.pk), gate_decide)
    lost(batch.pk)
    batch_work(str(batch.pk), gate_decide)
    held.refresh_from_db()
    assert (held.status, checks(held)[0].count) == ("passed", 25)


def test_errored_cases_are_named_where_they_leave_a_check_open(project, run_jobs):
    (run,) = graded(project, run_jobs, [*RIGHT[:3], {"id": "hello", "error": "HTTP 429: the provider is busy."}])
    (check,) = checks(hold(run, rate("selection", 1.0)))
    assert check.status == "unanswered"
    assert check.note.endswith(
        "1 case is errored, and says: The agent could not be reached: HTTP 429: the provider is busy."
    )


def test_what_cases_take_is_read_of_their_conversations_alike_on_the_server_and_in_a_file(project, run_jobs, tmp_path):
    took = [{"usage": {"input_tokens": 900, "output_tokens": 100}, "latency_ms": 500.0 * place} for place in range(4)]
    answers = [{**answer, **more} for answer, more in zip(RIGHT, took, strict=False)]
    (run,) = graded(project, run_jobs, answers)
    bounds = [
        {"metric": "outcome", "statistic": name, "max": limit}
        for name, limit in (("tokens", 1000), ("latency_p95", 1200), ("cost", 1))
    ]
    held = hold(run, {"bounds": bounds})
    tokens, latency, cost = checks(held)
    assert (tokens.status, tokens.observed, tokens.count) == ("passed", 1000.0, len(answers))
    assert (latency.status, latency.examples) == ("failed", (EXAMPLES[3]["id"],))
    # No prices were given, so that nobody knows what it cost: every case is named.
    assert (cost.status, cost.observed, cost.example_count) == ("unanswered", None, len(answers))
    file = tmp_path / "rows.jsonl"
    rows = [{**example, **answer} for example, answer in zip(EXAMPLES, answers, strict=True)]
    file.write_text("\n".join(map(json.dumps, rows)))
    here = hold_gate(read_gate({"bounds": bounds}), Evidence(graded_file(str(file)).cases))
    assert here.checks == checks(held)
    Transcript.objects.filter(run=run, trial=0).update(cost=0.5)
    assert checks(hold(run, {"bounds": bounds}))[2].status == "passed"
