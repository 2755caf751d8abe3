"""The metrics of whole cases in two runs: paired by example, on the page, in the file, by REST and in lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from django.urls import reverse

from reports.compare.metrics import Values, metric_deltas
from tests.reports.building import Builder, Case
from tests.reports.reading import csv_rows, table, text
from toolevals.grading.metrics.comparison import compare_runs, holm
from toolevals.runs.models import CaseGrade, Grading

pytestmark = pytest.mark.django_db
NAMES = ("step_efficiency", "trajectory_score", "action_safety")
CASE = Case("pay", "pay")


def measure(grading: Grading, texts: Sequence[Sequence[str]], version: str = "1") -> Grading:
    """Write the metrics of a grading's cases, by example and trial."""
    Grading.objects.filter(pk=grading.pk).update(graders=[{"name": name, "version": version} for name in NAMES])
    for position, trials in enumerate(texts):
        for trial, said in enumerate(trials):
            cases = CaseGrade.objects.filter(grading=grading, transcript__trial=trial)
            assert cases.filter(transcript__entry__position=position).update(measured=said) == 1
    return Grading.objects.get(pk=grading.pk)


# Of 24 examples with two trials: twelve rise in step efficiency, one falls, the last is not scored before.
BEFORE = [["ppu 0.5 1 -", "fpu 0.25 1 -"]] * 12 + [["ppu 1 1 -"] * 2] * 11 + [["upu - 1 -"] * 2]
AFTER = [["ppu 1 1 -"] * 2] * 12 + [["ppu 0.5 1 -", "ppu 1 1 -"]] + [["ppu 1 1 -"] * 2] * 11


@pytest.fixture
def pair(build: Builder) -> tuple[Grading, Grading]:
    before = build.tried([[CASE, CASE]] * len(BEFORE))
    after = build.again(before, [[CASE, CASE]] * len(AFTER))
    return measure(before, BEFORE), measure(after, AFTER)


@pytest.fixture
def ask(browser_of: Any) -> Any:
    def fetch(name: str, before: Grading, after: Grading, **query: Any) -> Any:
        app = "reports-api" if name.startswith("api:") else "reports"
        numbers = [before.run.project.slug, before.run.number, after.run.number]
        return browser_of.get(reverse(f"{app}:{name.removeprefix('api:')}", args=numbers), query)

    return fetch


def test_means_are_paired_by_example_and_corrected_over_the_metrics(ask: Any, pair: Any) -> None:
    rows = {row["metric"]: row for row in csv_rows(ask("compare-metrics-csv", *pair))}
    # Nobody scored the third.
    assert list(rows) == ["step_efficiency", "trajectory_score"]
    row = rows["step_efficiency"]
    values = [
        {number: [float(said.split()[1]) for said in trials if said[0] != "u"] for number, trials in enumerate(side)}
        for side in (BEFORE, AFTER)
    ]
    expected = compare_runs(*values)
    assert (int(row["examples"]), int(row["left_out"]), int(row["rose"]), int(row["fell"])) == (23, 1, 12, 1)
    assert float(row["difference"]) == pytest.approx(expected.difference)
    assert expected.interval is not None
    assert float(row["difference_low"]) == pytest.approx(expected.interval.low)
    adjusted = holm([expected.p_value, 1.0])
    assert float(row["p_holm"]) == pytest.approx(adjusted[0])
    shown = ask("api:compare-metrics", *pair).json()
    assert [each["metric"] for each in shown] == list(rows)
    assert shown[0]["mean"]["interval"]["low"] == float(row["difference_low"])


def test_the_page_shows_them_and_each_number_opens_its_examples(ask: Any, pair: Any) -> None:
    page = ask("compare", *pair)
    (_, row, other) = table(page, "compare-metrics")
    assert row[0].startswith("Step efficiency")
    assert "stands" in row[0]
    assert "stands" not in other[0]
    for how, count in (("fixed", 12), ("broken", 1), ("left_out", 1), ("", 13)):
        listed = text(ask("compare-cases", *pair, of="step_efficiency", how=how))
        assert f'<span class="num">{count}</span> example' in listed
        cases = csv_rows(ask("compare-cases-csv", *pair, of="step_efficiency", how=how))
        assert len({case["revision_id"] for case in cases}) == count


def test_a_part_of_the_examples_is_compared_alone(ask: Any, pair: Any) -> None:
    assert csv_rows(ask("compare-metrics-csv", *pair, difficulty="none of it")) == []


def test_another_version_of_a_metric_is_marked_and_one_of_one_run_is_left_out(ask: Any, build: Builder) -> None:
    before = build.tried([[CASE]] * 4)
    after = build.again(before, [[CASE]] * 4)
    pair = measure(before, [["ppp 1 1 1"]] * 4), measure(after, [["ppp 1 1 1"]] * 4, version="2")
    assert "version 1, now 2: the metric changed, not necessarily the agent" in text(ask("compare", *pair))
    Grading.objects.filter(pk=after.pk).update(graders=[{"name": "tool_name_f1", "version": "1"}])
    CaseGrade.objects.filter(grading=after).update(measured="p 1")
    assert "Case metrics" not in text(ask("compare", *pair, difficulty="easy"))


def test_few_examples_never_stand() -> None:
    rise: dict[tuple[Values, Values], int] = {((0.0,), (1.0,)): 12}
    (row,) = metric_deltas({"trajectory_score": ("1", "1")}, {"trajectory_score": rise})
    assert row.p_holm is not None
    assert row.p_holm < 0.05
    assert not row.stands
