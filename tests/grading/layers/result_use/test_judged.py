"""The floors of precision and recall on judged conversations, and the ceiling of accusations on recorded runs."""

from tests.grading.benchmark import needs_benchmark
from tests.grading.layers.result_use.scoring import HELD_OUT, development_set, recorded, score


@needs_benchmark
def test_the_development_set() -> None:
    scores = score(development_set())
    found, total = scores.checkable
    assert total == 49
    assert scores.precision >= 0.95
    assert found / total >= 0.70
    assert scores.reported[False] == 0


def test_conversations_of_other_domains() -> None:
    scores = score(HELD_OUT)
    found, total = scores.checkable
    assert total == 33
    assert scores.wrong == 0
    assert found / total >= 0.80


@needs_benchmark
def test_rewarded_runs_are_not_accused() -> None:
    # Four files of eight: all 281, with 8 allowed, are for `python -m tests.grading.layers.result_use.scoring`.
    rewarded = [trajectory for trajectory in recorded("tau2_*gpt-4.1*") if trajectory.is_rewarded]
    assert len(rewarded) == 91
    for with_policy in (True, False):
        accused = [row[:3] for row in rewarded if row.use(with_policy=with_policy).verdict.status == "failed"]
        assert len(accused) <= 2, accused
