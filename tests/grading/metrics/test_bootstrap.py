from hypothesis import given
from hypothesis import strategies as st

from toolevals.grading.metrics.resampling import bootstrap_interval

shares = st.floats(0, 1)


@given(st.lists(shares, min_size=2, max_size=20), st.floats(0.5, 0.9), st.floats(0.91, 0.99))
def test_more_confidence_never_narrows(draws, low, high):
    narrow, wide = bootstrap_interval(draws, draws[0], low), bootstrap_interval(draws, draws[0], high)
    assert narrow is not None
    assert wide is not None
    assert wide.low <= narrow.low <= narrow.high <= wide.high


def test_draws_without_the_figure_have_no_interval():
    assert bootstrap_interval([None, None], 0.5) is None
