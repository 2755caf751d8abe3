from random import Random

import pytest

from tests.grading.metrics.references.figures import REFERENCES
from toolevals.grading.metrics.prediction_powered import prediction_powered_mean


@pytest.mark.parametrize("reference", REFERENCES["prediction_powered"])
@pytest.mark.parametrize("name", ["plain", "tuned"])
def test_the_mean_is_that_of_the_authors_package(reference, name):
    pairs = list(zip(reference["judge"], reference["human"], strict=True))
    estimate = prediction_powered_mean(pairs, reference["judged"], tuned=name == "tuned")
    assert estimate.interval is not None
    got = (estimate.value, estimate.interval.low, estimate.interval.high)
    assert got == pytest.approx((reference[name]["value"], *reference[name]["ends"]), abs=1e-9)


def test_a_judge_that_is_too_kind_is_put_right():
    pairs = [(1.0, 1.0), (1.0, 0.0)] * 20
    estimate = prediction_powered_mean(pairs, [1.0] * 100)
    assert estimate.value == pytest.approx(0.5)
    assert estimate.count == 40


def test_a_judge_that_never_changes_its_mind_is_not_used():
    estimate = prediction_powered_mean([(1.0, 1.0), (1.0, 0.0)], [1.0, 1.0], tuned=True)
    assert estimate.value == 0.5


def test_what_is_unknown_is_left_out():
    estimate = prediction_powered_mean(
        [(1, True), (None, 1), (0, float("nan")), (False, 0)], [True, None, False, float("inf")]
    )
    assert (estimate.value, estimate.count) == (0.5, 2)


def test_too_few_cases_say_nothing():
    estimate = prediction_powered_mean([(1, 1)], [1, 0])
    assert (estimate.value, estimate.reason) == (None, "at least two labelled and two judged cases are needed")
    with pytest.raises(ValueError):
        prediction_powered_mean([], [], confidence=1)


def test_the_interval_covers_the_truth_and_tuning_never_widens_much():
    random, covered = Random(12), 0
    for _ in range(200):
        people = [random.random() < 0.6 for _ in range(350)]
        judge = [person if random.random() < 0.8 else random.random() < 0.9 for person in people]
        pairs, judged = list(zip(judge[:50], people[:50], strict=True)), judge[50:]
        plain, tuned = (prediction_powered_mean(pairs, judged, tuned=each).interval for each in (False, True))
        assert plain is not None
        assert tuned is not None
        assert tuned.high - tuned.low < 1.1 * (plain.high - plain.low)
        covered += plain.low <= 0.6 <= plain.high
    assert covered / 200 > 0.9
