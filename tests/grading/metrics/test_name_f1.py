import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolevals.grading.metrics.name_f1 import tool_name_f1

names = st.lists(st.sampled_from("abc"), max_size=5)


@pytest.mark.parametrize(
    ("expected", "called", "score"),
    [([], [], 1), (["a"], [], 0), ([], ["a"], 0), (["a", "b"], ["b", "a"], 1), (["a", "a"], ["a"], 2 / 3)],
)
def test_names_are_counted_as_often_as_they_occur(expected, called, score):
    assert tool_name_f1(expected, called) == pytest.approx(score)


@given(names, names)
def test_it_is_symmetric_and_1_only_for_equal_multisets(expected, called):
    score = tool_name_f1(expected, called)
    assert score == tool_name_f1(called, expected)
    assert 0 <= score <= 1
    assert (score == 1) == (sorted(expected) == sorted(called))
