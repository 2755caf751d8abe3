import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grading.metrics.references.figures import REFERENCES
from toolevals.grading.metrics.means import percentile


@pytest.mark.parametrize("reference", REFERENCES["percentiles"])
def test_percentiles_are_those_of_numpy(reference):
    got = [percentile(reference["values"], share) for share in (0, 0.5, 0.9, 0.95, 0.99, 1)]
    assert got == pytest.approx(reference["percentiles"])


def test_nothing_has_no_percentile():
    assert percentile([], 0.5) is None
    assert percentile([None, float("inf")], 0.5) is None
    with pytest.raises(ValueError):
        percentile([1.0], 1.1)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.floats(0, 1), st.floats(0, 1))
def test_percentiles_rise_with_the_share(values, one, other):
    low, high = sorted((one, other))
    lower, upper = percentile(values, low), percentile(values, high)
    assert lower is not None
    assert upper is not None
    assert min(values) <= lower <= upper + 1e-6 <= max(values) + 2e-6
