"""Give templates figures of agreement in words: a rate never without its count and its interval."""

from __future__ import annotations

from django import template

from toolevals.grading.metrics.rates import Estimate, wilson
from toolevals.presentation.numbers import percent, span

register = template.Library()


@register.simple_tag
def rate(part: int, whole: int) -> str:
    """Return a share with Wilson's interval: "60.0 % (38.7 to 78.1)"; empty where nothing was counted."""
    if not whole:
        return ""
    interval = wilson(part, whole)
    return f"{percent(part / whole)} % ({span(interval.low, interval.high)})"


@register.filter
def estimate_words(estimate: Estimate) -> str:
    """Return a coefficient with its interval: "0.74 (0.60 to 0.85)"; why there is none, where it is undefined."""
    if estimate.value is None:
        return estimate.reason
    if estimate.interval is None:
        return _two_digits(estimate.value)
    low, high = _two_digits(estimate.interval.low), _two_digits(estimate.interval.high)
    return f"{_two_digits(estimate.value)} ({low} to {high})"


def _two_digits(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")
