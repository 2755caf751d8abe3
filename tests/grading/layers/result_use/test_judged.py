"""The floors of precision and recall on judged conversations, and the ceiling of accusations on recorded runs."""

from pathlib import Path

import pytest

from tests.grading.benchmark import needs_benchmark
from tests.grading.layers.result_use.scoring import HELD_OUT, earned, judged, recorded, score, table

_DOCS = Path(__file__).parents[4] / "docs" / "grading.md"


# The second set is by another author.
@needs_benchmark
@pytest.mark.parametrize(("name", "found"), [("result_use_dev", 21), ("result_use_dev2", 8)])
def test_the_development_sets(name: str, found: int) -> None:
    scores = score(judged(name))
    assert scores.precision >= 0.95
    assert scores.checkable[0] >= found
    assert scores.wrongly_passed <= 1
    assert scores.reported[False] == 0


@needs_benchmark
def test_the_table_in_the_docs_both_ways_round() -> None:
    lines = _DOCS.read_text("utf-8").splitlines()
    assert [line for line in table() if line not in lines] == []


@needs_benchmark
def test_a_rule_that_one_set_alone_speaks_for_is_switched_off_on_it() -> None:
    first, second = judged("result_use_dev"), judged("result_use_dev2")
    assert {"wrong_unit", "flipped_digits"} <= earned(first)
    assert "wrong_unit" not in earned(second)
    assert score(first, earned(second)).right < score(first).right


def test_conversations_of_other_domains() -> None:
    scores = score(HELD_OUT)
    found, total = scores.checkable
    assert (scores.wrong, total) == (0, 33)
    assert found >= 16
    assert scores.wrongly_passed <= 2


@needs_benchmark
def test_rewarded_runs_are_not_accused() -> None:
    # Four files of eight: all 281 are for `python -m tests.grading.layers.result_use.scoring`.
    rewarded = [trajectory for trajectory in recorded("tau2_*gpt-4.1*") if trajectory.is_rewarded]
    assert len(rewarded) == 91
    for with_policy in (True, False):
        accused = [row[:3] for row in rewarded if row.use(with_policy=with_policy).verdict.status == "failed"]
        assert not accused
