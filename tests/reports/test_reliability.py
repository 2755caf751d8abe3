"""Reliability over trials: page, files and interface say the same, from counts."""

from __future__ import annotations

from collections import Counter
from http import HTTPStatus

import pytest
from django.core.cache import cache
from django.urls import reverse

from labeling.models import Example
from reports.reliability.analysis import calculation, compounding_of, drawn_ks, reliability_of
from tests.fixtures.people import member
from tests.reports.building import Case
from tests.reports.reading import csv_rows, embedded, table, text
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.runs.aggregates.trials import (
    GROUPS,
    STEP_COLUMNS,
    step_rows,
    tallies_store,
    trial_rows,
    trial_tallies,
    verdict_tallies,
)
from toolevals.runs.models import AlignedPair, CaseGrade, Grading, KeptSums, PackedCases, StepCount, TrialCount
from toolevals.workspace.bulk import rows_insert
from toolevals.workspace.models import Role

pytestmark = pytest.mark.django_db
RIGHT, WRONG = Case("a", "a", bucket="one", difficulty="hard"), Case("a", "b", bucket="one", difficulty="hard")
OTHER = Case("b", "b", bucket="two")
LOST, BROKEN = Case("b", "b", status="unscored", bucket="two"), Case("b", "b", status="errored", bucket="two")
EXAMPLES = [
    [RIGHT, RIGHT, RIGHT, RIGHT],
    [RIGHT, WRONG, RIGHT, WRONG],
    [WRONG, WRONG, WRONG, WRONG],
    [OTHER, OTHER, LOST, BROKEN],
]


@pytest.fixture
def grading(build):
    cache.clear()
    return build.tried(EXAMPLES)


def test_the_curve_is_worked_out_over_examples(get, grading):
    rows = {(row["kind"], row["name"], row["k"]): row for row in csv_rows(get("reliability-csv", grading))}
    one, four = rows["run", "", "1"], rows["run", "", "4"]
    # Means over examples: (1 + 1/2 + 0 + 1)/4, and of the three with four scored trials (1 + 0 + 0)/3.
    assert (float(one["pass_hat_k"]), one["examples"]) == (0.625, "4")
    assert float(four["pass_hat_k"]) == pytest.approx(1 / 3)
    assert four["examples"] == "3"
    assert float(four["pass_at_k"]) == pytest.approx(2 / 3)
    assert (rows["bucket", "two", "4"]["pass_hat_k"], rows["bucket", "two", "4"]["examples"]) == ("", "0")
    assert rows["tool", "a", "4"]["pass_hat_k_low"] == rows["difficulty", "hard", "4"]["pass_hat_k_low"]


def test_page_file_and_interface_agree(get, grading):
    page = get("reliability", grading)
    html = text(page)
    assert "62.5 % of trials pass; all 4 trials of an example pass in 33.3 % of examples." in html
    assert '<span class="num">1</span> sometimes' in html
    said = get("api:reliability", grading).json()["trials"]
    curve = table(page, "curve")[1:]
    assert [row[3] for row in curve] == [f"{100 * point['pass_hat_k']['value']:.1f}" for point in said["curve"]]
    assert said["examples"] == {"always": 2, "sometimes": 1, "never": 1, "unscored": 0}
    assert [row[0] for row in table(page, "groups")[1:]] == ["a", "b"]
    charted = embedded(page, "trend-data")["reliability-chart"]["data"]
    assert charted[5]["y"] == [pytest.approx(100 * point["pass_hat_k"]["value"]) for point in said["curve"]]


def test_tallies_are_the_same_whenever_they_are_counted(grading):
    plain: dict[str, dict[str, Counter[tuple[int, int]]]] = {}
    for row in TrialCount.objects.filter(grading=grading):
        for kind, name in (("", ""), *((kind, getattr(row, kind)) for kind in GROUPS)):
            plain.setdefault(kind, {}).setdefault(name, Counter())[row.passed + row.failed, row.passed] += 1
    # At the first look of a grading from before they were kept, as they were kept then, and when a grading finishes.
    assert trial_tallies(grading) == trial_tallies(grading) == plain
    kept = KeptSums.objects.filter(grading=grading, kind="trials")
    assert kept.delete()[0] == 1
    tallies_store(grading, list(trial_rows(grading)))
    assert kept.exists()
    assert trial_tallies(grading) == plain


def test_every_trial_opens_its_case(get, grading):
    html = text(get("reliability", grading))
    for case in CaseGrade.objects.filter(grading=grading):
        assert f"/cases/{case.pk}/" in html
    assert (html.count("pip-x"), html.count("pip-o"), html.count("pip-e")) == (6, 1, 1)
    assert [row[2:] for row in table(get("reliability", grading), "trial-rows")[1:]] == [
        ["4 of 4", "", ""],
        ["2 of 4", "", ""],
        ["0 of 4", "", ""],
        ["2 of 2", "1", "1"],
    ]


@pytest.mark.parametrize(("how", "found"), [("always", 2), ("sometimes", 1), ("never", 1), ("unscored", 0), ("x", 4)])
def test_examples_are_picked_by_how_they_came_out(get, grading, how, found):
    assert len(csv_rows(get("trials-csv", grading, how=how))) == found
    assert len(get("api:trials", grading, how=how).json()["results"]) == found
    assert len(table(get("reliability", grading, how=how), "trial-rows")[1:]) == found


def test_another_k_is_in_the_address(get, grading):
    page = get("reliability", grading, k=2)
    assert "pass^2 %" in text(page)
    assert get("api:reliability", grading, k=99).json()["trials"]["k"] == 4


def counted(grading: Grading, name: str) -> dict[str, dict[str, Counter[tuple[int, int]]]]:
    """Tallies of one verdict, from the cases themselves."""
    found: dict[str, dict[str, Counter[tuple[int, int]]]] = {}
    for row in TrialCount.objects.filter(grading=grading):
        cases = CaseGrade.objects.filter(grading=grading, transcript__entry=row.entry_id)
        said = Counter(cases.values_list(name, flat=True))
        for kind, named in (("", ""), *((kind, getattr(row, kind)) for kind in GROUPS)):
            found.setdefault(kind, {}).setdefault(named, Counter())[
                said["passed"] + said["failed"], said["passed"]
            ] += 1
    return found


@pytest.mark.parametrize("name", VERDICT_NAMES)
def test_any_verdict_is_tallied_as_its_cases_say(grading, name):
    assert verdict_tallies(grading, name, GROUPS) == counted(grading, name)


def test_any_verdict_can_be_asked_for(get, grading):
    CaseGrade.objects.filter(grading=grading).update(equivalence="unscored")
    first = CaseGrade.objects.filter(grading=grading).order_by("transcript__entry__position", "transcript__trial")[:6]
    CaseGrade.objects.filter(pk__in=[case.pk for case in first[:4]]).update(equivalence="passed")
    CaseGrade.objects.filter(pk__in=[case.pk for case in first[4:]]).update(equivalence="failed")
    PackedCases.objects.filter(grading=grading).delete()
    asked = {"of": "equivalence"}
    page = get("reliability", grading, **asked)
    assert "66.7 %" not in text(page)
    assert "50.0 % of trials pass; all 4 trials of an example pass in 100.0 % of examples." in text(page)
    said = get("api:reliability", grading, **asked).json()["trials"]
    assert said["examples"] == {"always": 1, "sometimes": 0, "never": 1, "unscored": 2}
    rows = {(row["kind"], row["k"]): row for row in csv_rows(get("reliability-csv", grading, **asked))}
    assert (float(rows["run", "1"]["pass_hat_k"]), rows["run", "4"]["examples"]) == (0.5, "1")
    # Which examples, and how many trials of each, are those of the verdict.
    listed = [row[2:] for row in table(page, "trial-rows")[1:]]
    assert listed == [["4 of 4", "", ""], ["0 of 2", "2", ""], ["0 of 0", "4", ""], ["0 of 0", "4", ""]]
    for how, found in (("always", 1), ("never", 1), ("sometimes", 0), ("unscored", 2)):
        assert len(table(get("reliability", grading, how=how, **asked), "trial-rows")[1:]) == found
        assert len(csv_rows(get("trials-csv", grading, how=how, **asked))) == found
    assert [row["passed"] for row in csv_rows(get("trials-csv", grading, **asked))] == ["4", "0", "0", "0"]
    assert get("api:trials", grading, **asked).status_code == 422
    # What is no verdict counts as not asked.
    assert "62.5 % of trials pass" in text(get("reliability", grading, of="reward"))


def test_any_stratum_can_be_asked_for(get, grading):
    entries = TrialCount.objects.filter(grading=grading).order_by("pk").values("entry__revision__example")
    Example.objects.filter(pk__in=entries[:2]).update(category="orders")
    said = get("api:reliability", grading, stratum="category").json()["trials"]
    groups = {(each["kind"], each["name"]): each["rate"]["value"] for each in said["groups"]}
    assert groups["category", "orders"] == 0.75
    assert ("bucket", "one") not in groups
    assert "orders" in text(get("reliability", grading, stratum="category"))


def test_the_calculator_is_in_the_address(get, grading):
    html = text(get("reliability", grading, success="95", steps="8", goal="90"))
    assert "66.3 %" in html
    assert "98.7 %" in html
    assert text(get("reliability", grading, success="nan", steps="0", goal="1e9"))


def test_one_trial_says_nothing_of_reliability(get, build):
    grading = build.grading([RIGHT, WRONG])
    assert "Reliability needs more than one trial." in text(get("reliability", grading))
    assert get("api:reliability", grading).json() == {"trials": None, "steps": None}
    assert csv_rows(get("reliability-csv", grading)) == []
    assert csv_rows(get("trials-csv", grading)) == []


@pytest.mark.parametrize("role", Role)
def test_a_new_run_is_offered_to_those_who_may_start_one(client, build, role):
    grading = build.grading([RIGHT, WRONG])
    client.force_login(member(grading.run.project, role))
    new = reverse("runs:new", args=[grading.run.project.slug])
    page = client.get(reverse("reports:reliability", args=[grading.run.project.slug, grading.run.number]))
    may_start = role >= Role.ADJUDICATOR
    assert (f'href="{new}"' in text(page), client.get(new).status_code == HTTPStatus.OK) == (may_start, may_start)


def test_steps_compound_beside_what_was_measured(get, build):
    grading = build.grading([RIGHT, RIGHT, WRONG])
    for case in CaseGrade.objects.filter(grading=grading):
        right = case.outcome == "passed"
        AlignedPair.objects.filter(case=case).update(arguments="passed" if right else "unscored")
        AlignedPair.objects.bulk_create(
            AlignedPair(grading=grading, case=case, number=number, expected="a", actual="a", arguments="passed")
            for number in range(1, 6)
        )
    rows_insert(StepCount, STEP_COLUMNS, step_rows(grading))
    (row,) = csv_rows(get("steps-csv", grading))
    # Seventeen of eighteen expected calls are right, two of three cases.
    assert (row["steps"], row["passed"], row["cases"]) == ("6", "2", "3")
    assert float(row["predicted"]) == pytest.approx((17 / 18) ** 6)
    assert 'class="num">3</b> of <span class="num">3</span> scored cases need more than five calls' in text(
        get("reliability", grading)
    )


def test_chains_count_scored_cases_only():
    found = compounding_of([(2, 2, 2, "passed", 3), (2, 1, 7, "failed", 1), (2, 0, 0, "errored", 5)])
    assert found is not None
    assert (found.step.passed, found.step.total) == (7, 8)
    assert (found.cases, found.longer, found.whole.passed) == (4, 1, 3)
    assert compounding_of([(0, 0, 1, "failed", 1)]) is None
    sum_ = calculation(0.95, 8, 0.95)
    assert sum_.whole == pytest.approx(0.6634, abs=1e-4)


def test_many_trials_are_drawn_at_some_k():
    assert drawn_ks(3) == (1, 2, 3)
    assert drawn_ks(64) == (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48, 64)
    found = reliability_of({(20, 20): 5, (0, 0): 2}, {}, trials=20, k=11)
    assert [point.k for point in found.curve] == [1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 16, 20]
    assert (found.came_out.always, found.came_out.unscored) == (5, 2)
    assert found.variance is not None
    assert found.variance.consistency is None


def test_its_cost_does_not_grow_with_the_cases(get, build, django_assert_max_num_queries):
    cache.clear()
    grading = build.tried(EXAMPLES * 12)
    get("reliability", grading)
    with django_assert_max_num_queries(14):
        page = get("reliability", grading)
    assert len(table(page, "trial-rows")[1:]) == 30
    assert "More examples" in text(page)
