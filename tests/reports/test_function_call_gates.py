"""The function-call metrics of ai-evaluation in gates of runs: read from other evaluators' verdicts, or unanswered."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from reports.dialects import grade_with_dialects as making
from reports.dialects.grade_with_dialects import dialects_part, dialects_start
from reports.models import DialectReading
from tests.reports.building import Builder, Case, cases_of
from tests.reports.gate_building import checks, hold, rate
from tests.reports.gate_pages import writer
from tests.reports.reading import text
from toolevals.grading.dialects.other_verdicts import COLUMNS
from toolevals.grading.gates.results import FUNCTION_CALLS
from toolevals.runs.models import Grading
from toolevals.workspace.jobs.leases import batch_work
from toolevals.workspace.models import Batch

__all__ = ["writer"]
pytestmark = pytest.mark.django_db
ACCURACY = "function_call_accuracy"


@pytest.fixture
def grading(build: Builder) -> Grading:
    """Six right calls, three of another tool with the same arguments, one missed."""
    return build.grading(cases_of({("a", "a"): 6, ("a", "b"): 3, ("a", "(none)"): 1}))


def test_each_name_is_a_verdict_of_the_evaluator() -> None:
    columns = {column.metric: key for key, column in COLUMNS.items() if column.dialect == "ai_evaluation"}
    assert columns == FUNCTION_CALLS


def test_a_gate_asks_for_values_and_for_passes(grading: Grading) -> None:
    bounds = [
        {"metric": ACCURACY, "statistic": "avg_score", "min": 0.78},
        {"metric": ACCURACY, "min": 0.9},
        {"metric": "function_name_match", "min": 0.7},
        {"metric": "function_call_exact_match", "min": 0.6, "per": "tool"},
    ]
    held = hold(grading.run, {"bounds": bounds, "assertions": [f"{ACCURACY}.score >= 0.9 for at_least 60% of cases"]})
    # The wrong tool with the right arguments has .6 there, which is a pass.
    assert [(each.status, each.observed, each.count) for each in checks(held)] == [
        ("passed", pytest.approx((6 + 3 * 0.6) / 10), 10),
        ("passed", 0.9, 10),
        ("failed", 0.6, 10),
        ("passed", 0.6, 10),
        ("passed", 0.6, 10),
    ]
    assert len(checks(held)[2].examples) == 4


def test_they_are_no_part_of_all_metrics(grading: Grading) -> None:
    rules = {"thresholds": {"default_pass_rate": 0.1}, **rate(ACCURACY, 0.1)}
    names = {each.metric for each in checks(hold(grading.run, rules))}
    assert ACCURACY in names
    assert not names & set(FUNCTION_CALLS.values())


def test_a_run_is_compared_with_the_one_before(build: Builder, grading: Grading) -> None:
    after = build.again(grading, [[Case("a", "(none)")]] * 10)
    rule = {"regressions": [{"rule": "averages", "metrics": [ACCURACY], "max_drop": 0.1}]}
    (check,) = checks(hold(after.run, rule, baseline=str(grading.run.number)))
    assert check.status == "failed"


def test_a_large_run_that_is_not_read_is_unanswered_and_says_so(monkeypatch: Any, grading: Grading) -> None:
    monkeypatch.setattr(making, "READ_AT_ONCE", 1)
    (check,) = checks(hold(grading.run, rate(ACCURACY, 0.5)))
    assert check.status == "unanswered"
    assert check.note == (
        f"Run {grading.run.number} has no verdicts from ai-evaluation: start Other evaluators on its page, "
        "then check the gate again."
    )
    assert not DialectReading.objects.exists()
    reading = dialects_start(grading=grading, actor=None)
    works = {"reports.dialects_part": dialects_part, "reports.dialects_count": making.dialects_count}
    for batch in Batch.objects.filter(job=reading.job).order_by("stage", "pk"):
        batch_work(str(batch.pk), works[batch.task])
    assert checks(hold(grading.run, rate(ACCURACY, 0.5)))[0].status == "passed"


def test_the_form_offers_them(writer: Any, project: Any) -> None:
    page = text(writer.get(reverse("reports:named-gate-new", args=[project.slug])))
    assert [name for name in FUNCTION_CALLS if f'value="{name}"' not in page] == []
