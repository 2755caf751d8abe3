"""A rate of several trials has one interval wherever it is shown, clustered by example."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.core.cache import cache
from django.db.models import F
from django.urls import reverse

from reports.cases.queries import grading_layers, verdict_counts
from reports.dialects.grade_with_dialects import dialects_read
from reports.dialects.queries import dialects_shown
from reports.filters.case_filters import Filters
from reports.filters.matrix_cells import matrix_counts, matrix_sums
from reports.judges.analysis import JudgeTotals, judge_rows
from reports.matrix.analysis import matrix_of
from reports.recovery.queries import grading_recovery
from reports.reliability.queries import grading_compounding
from reports.run.analysis import layers_of
from reports.run.tools import tools_of
from reports.trends.queries import recent_runs
from reports.trends.rates import runs_tool_trend
from tests.reports.building import Case
from tests.reports.reading import csv_rows
from toolevals.grading.metrics.clustered import ExampleSums, Rate, clustered_interval, rate
from toolevals.runs.aggregates.build import finding_counts
from toolevals.runs.aggregates.cube import Unit
from toolevals.runs.aggregates.sums import KINDS, kept_sums, verdict_rates, verdict_sums
from toolevals.runs.aggregates.trials import STEP_COLUMNS, step_rows
from toolevals.runs.models import (
    AlignedPair,
    ArgumentCount,
    ArgumentFault,
    CaseFinding,
    CaseGrade,
    Episode,
    FindingCount,
    Grading,
    JudgedCase,
    KeptSums,
    PackedCases,
    Run,
    StepCount,
    VerdictCount,
)
from toolevals.workspace.bulk import rows_insert

pytestmark = pytest.mark.django_db
RIGHT, WRONG = Case("a", "a"), Case("a", "b")
# 24 examples of four trials: 14 all right, 6 all wrong, 4 half right.
EXAMPLES = [[RIGHT] * 4] * 14 + [[WRONG] * 4] * 6 + [[RIGHT, WRONG] * 2] * 4
SUMS_OF_ALL = ExampleSums.of({(4, 4): 14, (4, 0): 6, (4, 2): 4})
WRONG_SUMS = ExampleSums.of({(4, 0): 14, (4, 4): 6, (4, 2): 4})


@pytest.fixture
def grading(build):
    cache.clear()
    return build.tried(EXAMPLES)


def test_pages_files_and_lists_say_the_same_interval(get, grading, browser_of):
    said = clustered_interval(SUMS_OF_ALL)
    # Counted as if each trial were an example it would be much narrower.
    trials = clustered_interval(ExampleSums.single(64, 96))
    assert said.high - said.low > 1.5 * (trials.high - trials.low)
    ends = pytest.approx((said.low, said.high))
    files = {
        "layers-csv": [(row["rate_low"], row["rate_high"]) for row in csv_rows(get("layers-csv", grading))[:2]],
        "tools-csv": [
            (row["recall_low"], row["recall_high"]) for row in csv_rows(get("tools-csv", grading)) if row["tool"] == "a"
        ],
        "reliability-csv": [
            (row["pass_hat_k_low"], row["pass_hat_k_high"]) for row in csv_rows(get("reliability-csv", grading))[:1]
        ],
    }
    listed = browser_of.get(reverse("runs:runs-csv", args=[grading.run.project.slug]))
    files["runs-csv"] = [(row["rate_low"], row["rate_high"]) for row in csv_rows(listed)]
    for name, rows in files.items():
        assert rows, name
        for low, high in rows:
            assert (float(low), float(high)) == ends, name
    trend = runs_tool_trend(recent_runs(Run.objects.filter(pk=grading.run_id), most=1))
    assert trend.rows[0].rates["a"].interval == said
    (margin,) = [row.recall for row in tools_of(shown_matrix(grading, Filters())).rows if row.name == "a"]
    assert (margin.interval, margin.examples) == (said, 24)


def shown_matrix(grading: Grading, filters: Filters):
    return matrix_of(matrix_counts(grading, filters), sums=matrix_sums(grading, filters))


def test_a_grading_from_before_sums_were_kept_is_summed_up_when_asked(grading):
    KeptSums.objects.filter(grading=grading, kind="verdicts").delete()
    assert verdict_sums([grading.pk])[grading.pk]["selection"] == SUMS_OF_ALL
    kept = KeptSums.objects.get(grading=grading, kind="verdicts").document
    assert ExampleSums(*kept["outcome"]) == SUMS_OF_ALL
    assert (
        verdict_rates([grading.pk], "selection")[grading.pk]["selection"] == grading_layers(grading).funnel[0].row.rate
    )


def test_one_trial_of_a_filter_counts_each_case_as_an_example(grading):
    found = shown_matrix(grading, Filters(trial=1)).recall("a")
    assert found == rate(18, 24)
    assert shown_matrix(grading, Filters(unit=Unit.MAJORITY)).recall("a").examples == 24


def test_a_cell_has_the_interval_of_how_it_falls_on_the_examples(get, build):
    cache.clear()
    other = Case("a", "c")
    grading = build.tried(
        [[RIGHT] * 4] * 20 + [[WRONG] * 4] * 3 + [[WRONG, RIGHT, RIGHT, other]] * 7 + [[other] * 4] * 6
    )
    by_hand = {
        "a": ExampleSums.of({(4, 4): 20, (4, 0): 9, (4, 2): 7}),
        "b": ExampleSums.of({(4, 4): 3, (4, 1): 7, (4, 0): 26}),
        "c": ExampleSums.of({(4, 4): 6, (4, 1): 7, (4, 0): 23}),
    }
    rows = {row["actual"]: row for row in csv_rows(get("matrix-csv", grading))}
    for name, sums in by_hand.items():
        said = clustered_interval(sums)
        ends = float(rows[name]["row_share_low"]), float(rows[name]["row_share_high"])
        assert ends == pytest.approx((said.low, said.high)), name
    # What a filter leaves is counted, and not how it falls on the examples: the widest interval stands.
    whole = shown_matrix(grading, Filters()).cell("a", "b")
    assert whole.row_sums is not None
    assert replace(whole, count=12).rate == rate(12, 144, by_hand["a"])
    assert width(rate(19, 144, by_hand["a"])) > 1.1 * width(whole.rate)


def width(found: Rate) -> float:
    assert found.interval is not None
    return found.interval.high - found.interval.low


def test_single_trials_need_no_sums(build):
    cache.clear()
    single = build.grading([RIGHT] * 18 + [WRONG] * 6)
    assert verdict_sums([single.pk]) == {}
    assert matrix_sums(single, Filters()) == {}
    assert grading_layers(single) == layers_of(verdict_counts(single))


def test_f1_over_trials_is_clustered_too(grading):
    (row,) = [row for row in tools_of(shown_matrix(grading, Filters())).rows if row.name == "a"]
    # Expected and called count four and as many as were right.
    sums = ExampleSums.of({(8, 8): 14, (4, 0): 6, (6, 4): 4})
    assert row.f1_interval == clustered_interval(sums)


def test_failures_steps_arguments_judges_tools_and_checks_are_clustered_too(get, grading):
    cases = list(CaseGrade.objects.filter(grading=grading).order_by("transcript__entry__position", "transcript__trial"))
    passed = [case.outcome == "passed" for case in cases]
    known = {"grading": grading}
    # A call beside the expected one makes the chains: only then are steps counted.
    AlignedPair.objects.bulk_create(
        AlignedPair(**known, case=case, number=1, expected="(none)", actual="x") for case in cases
    )
    AlignedPair.objects.filter(**known, expected=F("actual")).update(arguments="passed")
    rows_insert(StepCount, STEP_COLUMNS, list(step_rows(grading)))
    kind = {"tool": "a", "error_class": "5xx", "reaction": "honest_failure", "failures": 1, "errors": 1}
    Episode.objects.bulk_create(
        Episode(**known, **kind, case=case, number=0, score=right, recovered=right, identical_retries=0)
        for case, right in zip(cases, passed, strict=True)
    )
    # One wrong value in each example that has a right call.
    first = {case.transcript.entry_id: case for case, right in zip(cases, passed, strict=True) if right}
    fault = {"tool": "a", "argument": "id", "kind": "changed"}
    ArgumentFault.objects.bulk_create(ArgumentFault(**known, **fault, case=case, place=0) for case in first.values())
    ArgumentCount.objects.create(**known, **fault, count=len(first))
    CaseFinding.objects.bulk_create(
        CaseFinding(**known, case=case, family="failed_by", kind="value", tool=tool, count=1)
        for case, right in zip(cases, passed, strict=True)
        if not right
        for tool in ("a", "b")
    )
    names = ("grading_id", "family", "kind", "tool", "cases", "count")
    rows_insert(FindingCount, names, list(finding_counts(grading)))
    Grading.objects.filter(pk=grading.pk).update(judges=[{"rubric": "tone"}])
    JudgedCase.objects.bulk_create(JudgedCase(**known, case=case, rubric="tone", status=case.outcome) for case in cases)
    CaseGrade.objects.filter(**known).update(execution=F("outcome"), equivalence="passed")
    VerdictCount.objects.create(**known, column="execution", value="passed", count=sum(passed))
    PackedCases.objects.filter(**known).delete()
    grading = Grading.objects.select_related("run__project").get(pk=grading.pk)

    said = clustered_interval(SUMS_OF_ALL)
    wrong = clustered_interval(ExampleSums.of({(4, 1): 14, (2, 1): 4}))
    files = {
        "recovery-csv": ("rate", said),
        "reactions-csv": ("rate", said),
        "steps-csv": ("rate", said),
        "dialects-csv": ("rate", said),
        "proxies-csv": ("precision", said),
        "arguments-csv": ("wrong_share", wrong),
        "findings-csv": ("share", clustered_interval(WRONG_SUMS)),
    }
    for name, (column, interval) in files.items():
        row = csv_rows(get(name, grading))[0]
        assert (float(row[f"{column}_low"]), float(row[f"{column}_high"])) == pytest.approx(
            (interval.low, interval.high)
        ), name
    assert grading_recovery(grading).whole.recovery.interval == said
    chains = grading_compounding(grading)
    assert chains is not None
    assert chains.step.interval == chains.whole.interval == said
    assert kept_sums(grading, "judgements") == {("tone",): SUMS_OF_ALL}
    assert sorted(KeptSums.objects.filter(**known).values_list("kind", flat=True)) == sorted([*KINDS, "verdicts"])
    reading = dialects_read(grading)
    assert reading is not None
    found = dialects_shown(reading)
    assert found.tools[0].rate.interval == said
    # Trials count as examples nowhere.
    assert max(pair.agreement.examples for pair in found.pairs) == 24


def test_a_judges_rate_is_that_of_its_sums():
    seat = dict.fromkeys(("title", "layer", "name", "model"), "") | {"rubric": "tone", "version": 1}
    totals = JudgeTotals(64, 32, 0, 0, 0.7, 96, None, sums=SUMS_OF_ALL)
    (row,) = judge_rows([seat | {"pinned": True, "share": 1}], {"tone": totals}, {})
    assert row.rate.interval == clustered_interval(SUMS_OF_ALL)
