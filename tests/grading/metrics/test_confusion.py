import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grading.metrics.references.figures import REFERENCES
from toolevals.grading.metrics.confusion import ClassMetrics, ConfusionMatrix
from toolevals.grading.values.verdicts import NONE, UNKNOWN_TOOL, UNPARSED

STATUS, HISTORY, ETA = "get_order_status", "get_order_history", "get_shipping_eta"
# A published matrix of 300 calls.
PUBLISHED = {
    (STATUS, STATUS): 142,
    (STATUS, HISTORY): 18,
    (STATUS, ETA): 3,
    (STATUS, NONE): 1,
    (HISTORY, HISTORY): 47,
    (ETA, STATUS): 9,
    (ETA, HISTORY): 1,
    (ETA, ETA): 22,
    (NONE, STATUS): 4,
    (NONE, HISTORY): 2,
    (NONE, NONE): 51,
}

classes = st.sampled_from(["a", "b", NONE, UNKNOWN_TOOL, UNPARSED])
cases = st.lists(st.tuples(st.sampled_from(["a", "b", NONE]), classes), max_size=30)


def test_a_published_matrix_gives_its_figures():
    matrix = ConfusionMatrix(PUBLISHED)
    assert matrix.total == 300
    assert matrix.accuracy == pytest.approx(0.8733, abs=5e-5)
    f1 = {metrics.name: metrics.f1 for metrics in matrix.per_class}
    assert f1[STATUS] == pytest.approx(0.8903, abs=5e-5)
    assert f1[HISTORY] == pytest.approx(0.8174, abs=5e-5)
    assert f1[ETA] == pytest.approx(0.7719, abs=5e-5)
    assert f1[NONE] == pytest.approx(0.9358, abs=5e-5)
    assert matrix.macro_f1 == pytest.approx(0.8538, abs=5e-5)
    recall = {metrics.name: metrics.recall for metrics in matrix.per_class}
    assert [recall[name] for name in (STATUS, HISTORY, ETA, NONE)] == pytest.approx(
        [0.866, 1.0, 0.688, 0.895], abs=5e-4
    )


def test_names_that_were_read_apart_are_one_class():
    again = "".join(list(STATUS))
    assert again is not STATUS
    assert ConfusionMatrix({(STATUS, again): 3, (STATUS, ETA): 1}).accuracy == 0.75


@pytest.mark.parametrize("reference", REFERENCES["confusion"])
def test_every_rate_is_that_of_scikit_learn(reference):
    matrix = ConfusionMatrix.of_cases(map(tuple, reference["cases"]))
    for each in matrix.per_class:
        # Where a rate has no denominator the reference says nought.
        got = [each.precision or 0, each.recall or 0, each.f1 or 0, each.support]
        assert got == pytest.approx(reference["per_class"][each.name])
    assert [matrix.macro_f1, matrix.micro_f1] == pytest.approx([reference["macro"][-1], reference["micro"][-1]])


def test_classes_are_tools_by_name_and_then_the_three_others():
    matrix = ConfusionMatrix.of_cases([("b", UNPARSED), (NONE, "a"), ("b", UNKNOWN_TOOL), ("b", NONE)])
    assert matrix.classes == ("a", "b", NONE, UNKNOWN_TOOL, UNPARSED)


def test_what_has_no_denominator_is_none():
    assert ClassMetrics("a", 0, 2, 0).recall is None
    assert ClassMetrics("a", 0, 2, 0).f1 == 0
    assert ClassMetrics("a", 2, 0, 0).precision is None
    assert ClassMetrics("a", 0, 0, 0).f1 is None
    empty = ConfusionMatrix({("a", "b"): 0})
    assert (empty.accuracy, empty.macro_f1, empty.micro_f1, empty.classes) == (None, None, None, ())


def test_averages_leave_out_what_is_never_expected():
    matrix = ConfusionMatrix({("a", "a"): 3, ("a", UNKNOWN_TOOL): 1, (NONE, NONE): 1, (NONE, UNPARSED): 1})
    f1_a, f1_none = 6 / 7, 2 / 3
    assert matrix.macro_f1 == pytest.approx((f1_a + f1_none) / 2)
    assert matrix.micro_f1 == pytest.approx(2 * 4 / (6 + 4))


def test_a_tool_that_was_called_but_never_expected_counts_as_nought():
    assert ConfusionMatrix({("a", "a"): 1, (NONE, "b"): 1}).macro_f1 == pytest.approx((1 + 0 + 0) / 3)


@given(cases)
def test_the_counts_of_the_classes_add_up(rows):
    matrix = ConfusionMatrix.of_cases(rows)
    assert sum(metrics.support for metrics in matrix.per_class) == len(rows)
    assert sum(metrics.predicted for metrics in matrix.per_class) == len(rows)


@given(cases)
def test_micro_f1_is_accuracy_where_every_class_is_averaged(rows):
    rows = [(expected, actual) for expected, actual in rows if actual not in (UNKNOWN_TOOL, UNPARSED)]
    matrix = ConfusionMatrix.of_cases(rows)
    assert matrix.micro_f1 == pytest.approx(matrix.accuracy)


def test_a_negative_count_is_refused():
    with pytest.raises(ValueError):
        ConfusionMatrix({("a", "b"): -1})
