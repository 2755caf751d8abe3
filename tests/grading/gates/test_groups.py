import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grading.strategies import json_values
from toolevals.grading.gates.rules import MetricGroup, read_group
from toolevals.grading.values.problems import InvalidDocument

figures = st.dictionaries(st.sampled_from("abc"), st.floats(0, 1) | st.none())


def test_a_group_is_a_weighted_mean():
    group = read_group({"name": "tools", "metrics": ["selection", "shape"], "weights": {"selection": 3}})
    value = group.value({"selection": 1.0, "shape": 0.5, "other": 0.0})
    assert (value.value, value.scored, value.unscored) == (0.875, ("selection", "shape"), ())


def test_unscored_metrics_leave_their_place_to_the_others():
    group = MetricGroup("tools", ("a", "b", "c"), {"a": 2.0})
    value = group.value({"a": 0.5, "b": None, "c": 0.8})
    assert value.value == pytest.approx(0.6)
    assert (value.scored, value.unscored) == (("a", "c"), ("b",))
    empty = group.value({"b": None, "c": float("nan")})
    assert (empty.value, empty.scored, empty.unscored) == (None, (), ("a", "b", "c"))


@pytest.mark.parametrize(("aggregate", "value"), [("mean", 0.4), ("minimum", 0.1), ("maximum", 0.7)])
def test_metrics_can_become_one_in_three_ways(aggregate, value):
    group = read_group({"name": "g", "metrics": ["a", "b"], "aggregate": aggregate})
    assert group.value({"a": 0.1, "b": 0.7}).value == pytest.approx(value)


@pytest.mark.parametrize(
    ("document", "place"),
    [
        ({"name": "g", "metrics": []}, "/metrics"),
        ({"name": "", "metrics": ["a"]}, "/name"),
        ({"name": "g", "metrics": ["a", "a"]}, "/metrics"),
        ({"name": "g", "metrics": ["a"], "weights": {"b/c": 1}}, "/weights/b~1c"),
        ({"name": "g", "metrics": ["a"], "weights": {"a": 0}}, "/weights/a"),
        ({"name": "g", "metrics": ["a"], "weights": {"a": 2}, "aggregate": "minimum"}, "/weights"),
        ({"name": "g", "metrics": ["a"], "aggregate": "sum"}, "/aggregate"),
        ({"metrics": ["a"]}, ""),
    ],
)
def test_faults_are_named_by_place(document, place):
    with pytest.raises(InvalidDocument) as error:
        read_group(document)
    assert place in [problem.pointer for problem in error.value.problems]


@given(json_values)
def test_any_json_is_read_or_refused(value):
    for document in (value, {"name": "g", "metrics": value}, {"name": "g", "metrics": ["a"], "weights": value}):
        try:
            found: tuple[object, ...] = read_group(document).metrics
        except InvalidDocument as error:
            found = error.problems
        assert found


@given(figures, st.sampled_from(["mean", "minimum", "maximum"]))
def test_the_group_stands_among_its_metrics(values, aggregate):
    value = MetricGroup("g", ("a", "b", "c"), aggregate=aggregate).value(values)
    known = [each for each in values.values() if each is not None]
    assert (value.value is None) == (not known)
    if value.value is not None:
        assert min(known) - 1e-12 <= value.value <= max(known) + 1e-12
