"""Every metric of the catalogue is reached from every door: files, gates, pytest, pages, the interface, trends."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.urls import reverse

from reports.gates.cases import grading_cases
from tests.reports.gate_building import checks, hold
from tests.reports.reading import csv_rows
from tests.runs.building import TOOLS, uploaded_run, version_of
from toolevals.cli.gate_files import graded_file
from toolevals.cli.main import main
from toolevals.cli.pytest_evaluation import Evaluation, MarkerOptions
from toolevals.grading.engine.case_metrics import METRICS
from toolevals.grading.engine.grader_catalog import SCORES
from toolevals.grading.gates.documents import read_gate
from toolevals.grading.gates.results import FUNCTION_CALLS
from toolevals.grading.layers.task_metrics import TASK_METRICS
from toolevals.grading.values.verdicts import CaseGrade as CoreGrade
from toolevals.grading.values.verdicts import Verdict
from toolevals.runs.aggregates.packed_cases import measured_case, measured_text
from toolevals.runs.models import CaseGrade, Grading, MetricCount, Run

pytestmark = pytest.mark.django_db

FACT = {
    "kind": "calls",
    "alternatives": [{"unordered": [{"tool": TOOLS[0]["name"]}, {"tool": TOOLS[1]["name"]}]}],
    "answer": {"contains": ["sent"]},
}
ROWS = [
    {
        "id": name,
        "input": {"messages": [{"role": "user", "content": "Where is order ORD-1?"}]},
        "tools": TOOLS,
        "expectation": FACT,
    }
    for name in ("both", "half", "mute")
]


def made(name: str, calls: int, answer: str, result: str) -> dict[str, Any]:
    """Return a prediction that makes some of the calls, thinking aloud, and answers."""
    messages: list[dict[str, Any]] = []
    for place, tool in enumerate(TOOLS[:calls]):
        call = {"id": f"c{place}", "name": tool["name"], "arguments": {"order_id": "ORD-1"}}
        messages += [
            {"role": "assistant", "content": "First I look, because I need to know.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{place}", "content": result},
        ]
    return {"id": name, "messages": [*messages, {"role": "assistant", "content": answer}]}


ANSWERS = [
    made("both", 2, "It is sent.", '{"status": "sent"}'),
    made("half", 1, "", '{"error": {"code": 500, "message": "server error"}}'),
]


@pytest.fixture
def graded(project: Any, run_jobs: Any) -> Grading:
    """A run of three examples: one as expected, half of one, and one without a prediction."""
    run = uploaded_run(project, version_of(project, ROWS), ANSWERS)
    run_jobs()
    return Grading.objects.select_related("run__project").get(run=Run.objects.get(pk=run.pk))


@pytest.fixture
def file(tmp_path: Any) -> Any:
    answers = {answer["id"]: answer for answer in ANSWERS}
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f"{json.dumps({**row, **answers.get(row['id'], {})})}\n" for row in ROWS))
    return path


def test_the_catalogue_has_every_metric_of_a_task_and_of_expected_calls():
    assert (
        set(SCORES)
        == set(METRICS)
        == {*TASK_METRICS, "tools_all_pass", "tools_percentage_pass", "tool_name_f1", "guard"}
    )


def test_every_metric_is_in_what_the_command_line_prints(file, capsys):
    for form, part in (("jsonl", '"{}"'), ("csv", ",{}"), ("table", "{} ")):
        assert main(["grade", str(file), "--format", form]) == 0
        printed = capsys.readouterr().out
        assert [name for name in METRICS if part.format(name) not in printed] == [], form


def test_every_metric_is_reached_by_a_gate_and_by_pytest_and_both_say_the_same(graded, file):
    every = (*METRICS, *FUNCTION_CALLS)
    bounds = [{"metric": name, "statistic": "avg_score", "min": 0} for name in every]
    bounds += [{"metric": name, "statistic": "avg_score", "min": 0} for name in ("recovery", "shape", "answer")]
    # What nobody predicted could be anything: the scored cases decide.
    document = {"bounds": bounds, "unscored": {"minimum_share": 0.5}}
    (held,) = [hold(graded.run, document)]
    evaluation = Evaluation.read(MarkerOptions(str(file)), file.parent)
    for check in checks(held):
        # No guard was asked: `tests.runs.test_guarded_run` asks one.
        assert check.status == ("unanswered" if check.metric == "guard" else "passed"), check
        assert evaluation.figure(check.metric, "avg_score").observed == check.observed
    here = graded_file(str(file)).cases
    there = grading_cases(graded, read_gate(document))
    assert [dict(case.scores) for case in here] == [dict(case.scores) for case in there]
    for one, other in zip(here, there, strict=True):
        assert {name: one.mark(name) for name in one.scores} == {name: other.mark(name) for name in other.scores}


def test_every_metric_is_on_the_pages_and_in_their_files(graded, get):
    run, words = graded.run, {name: name.replace("_", " ").capitalize() for name in METRICS}
    case = graded.cases.get(transcript__entry__revision__example__external_id="half")
    experiment = reverse("reports:trends", args=[run.project.slug, run.experiment.slug])
    pages = {
        "dialects": get("dialects", graded).content.decode(),
        "case": get("case", graded, case.pk).content.decode(),
        "trends": get("run", graded).client.get(experiment).content.decode(),
    }
    for page, html in pages.items():
        assert [name for name in METRICS if words[name] not in html and name not in html] == [], page
    assert {row["name"] for row in csv_rows(get("metrics-csv", graded))} == set(METRICS)
    assert {row["name"] for row in get("api:metrics", graded).json()} == set(METRICS)
    (half,) = [row for row in csv_rows(get("cases-csv", graded)) if row["external_id"] == "half"]
    assert (half["tools_percentage_pass"], half["tools_all_pass"]) == ("0.5", "0.0")
    assert set(get("api:graded-cases", graded).json()["results"][0]["metrics"]) == set(METRICS)
    trends = csv_rows(get("run", graded).client.get(f"{experiment.rstrip('/')}.csv"))
    assert set(METRICS) <= {row["name"] for row in trends}


def test_a_mean_is_of_the_values_and_each_number_opens_its_cases(graded, get):
    counts = {count.metric: count for count in MetricCount.objects.filter(grading=graded)}
    share = counts["tools_percentage_pass"]
    assert (share.passed, share.failed, share.unscored, share.examples, share.mean) == (1, 1, 1, 2, 0.75)
    assert share.low is not None
    assert share.high is not None
    assert share.low < 0.75 < share.high
    for name, count in counts.items():
        for status in ("passed", "failed", "unscored", "errored"):
            listed = csv_rows(get("cases-csv", graded, column=name, status=status))
            assert len(listed) == getattr(count, status), (name, status)
    # A grading from before keeps no values: nothing is listed, and nothing breaks.
    Grading.objects.filter(pk=graded.pk).update(graders=[{"name": "outcome", "version": "1"}])
    CaseGrade.objects.filter(grading=graded).update(measured="")
    MetricCount.objects.filter(grading=graded).delete()
    assert csv_rows(get("cases-csv", graded, column="action_safety", status="passed")) == []
    assert "Case metrics" not in get("dialects", graded).content.decode()
    assert get("case", graded, graded.cases.order_by("pk")[0].pk).status_code == 200
    old = grading_cases(graded, read_gate({"bounds": [{"metric": "answer", "statistic": "avg_score", "min": 0.5}]}))
    assert [case.scores.get("recovery") for case in old] == [None, 0.0, None]


def test_the_kept_text_gives_back_its_values():
    metrics = {
        "a": Verdict("passed", 1.0),
        "b": Verdict("failed", 1 / 3),
        "c": Verdict("unscored"),
        "d": Verdict("errored", None, "crashed"),
    }
    verdicts = {"shape": Verdict("failed", 2 / 3), "schema": Verdict("failed", 0.0), "answer": Verdict("passed", 1.0)}
    text = measured_text(metrics, CoreGrade(verdicts))
    assert text.startswith("pfue 1 0.3333333333333333 - - shape=0.66666")
    found = measured_case(text, tuple(metrics))
    assert found.metrics == {name: (each.status, each.value) for name, each in metrics.items()}
    assert found.verdicts == {"shape": 2 / 3}
    assert measured_case("", ()).metrics == {}
