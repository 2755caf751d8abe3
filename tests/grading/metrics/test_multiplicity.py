import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grading.metrics.references.figures import REFERENCES
from toolevals.grading.metrics.comparison import benjamini_hochberg, holm

p_values = st.lists(st.floats(0, 1), max_size=12)


@pytest.mark.parametrize("reference", REFERENCES["multiplicity"])
def test_the_adjusted_values_are_those_of_statsmodels(reference):
    assert holm(reference["p_values"]) == pytest.approx(reference["holm"])
    assert benjamini_hochberg(reference["p_values"]) == pytest.approx(reference["fdr_bh"])


def test_a_case_by_hand():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert benjamini_hochberg([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.04, 0.04])


def test_a_test_without_a_p_value_does_not_count():
    assert holm([None, 0.02, None]) == [None, 0.02, None]
    assert benjamini_hochberg([None, 0.02, None]) == [None, 0.02, None]
    assert holm([]) == benjamini_hochberg([]) == []


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_no_p_value_is_outside_0_and_1(adjust):
    with pytest.raises(ValueError):
        adjust([0.5, 1.1])


@given(p_values)
def test_adjusting_raises_and_keeps_the_order(values):
    for strict, loose, raw in zip(holm(values), benjamini_hochberg(values), values, strict=True):
        assert strict is not None
        assert loose is not None
        assert raw <= loose + 1e-12 <= strict + 2e-12 <= 1 + 3e-12
    order = sorted(range(len(values)), key=values.__getitem__)
    for adjusted in (holm(values), benjamini_hochberg(values)):
        ordered = [adjusted[place] or 0 for place in order]
        assert ordered == sorted(ordered)
