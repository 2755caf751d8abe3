"""Writes numbers, intervals and names as people read them: percent with one decimal, thousands, "81.6 to 87.8"."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log10
from math import floor as round_down
from typing import Final

from toolevals.grading.metrics.label_noise import LabelNoise

LONGEST_LABEL: Final = 28
# Stands between a class and what divides it: `pay · wrong`.
DIVIDER: Final = " · "


def short(name: str, longest: int = LONGEST_LABEL) -> str:
    """Return a name as a label, cut in its middle where it is long: names of one service differ at their ends.

    What divides a class is not cut: its parts differ in that alone.
    """
    if len(name) <= longest:
        return name
    whole, divider, part = name.rpartition(DIVIDER)
    end = divider + part if whole and len(part) <= longest // 2 else ""
    room = max(longest - 1 - len(end), 2)
    head = room // 3
    return f"{name[:head]}…{name[len(name) - len(end) - (room - head) :]}"


ABSENT = "–"


def percent(share: float | None) -> str:
    """Return a share of 0..1 as "85.0"; what is undefined is a dash."""
    return ABSENT if share is None else f"{100 * share:.1f}"


def whole_percent(share: float | None) -> str:
    """Return a share of 0..1 as "85", for places where there is no room for more."""
    return ABSENT if share is None else f"{100 * share:.0f}"


def span(low: float | None, high: float | None) -> str:
    """Return an interval of shares as "81.6 to 87.8"."""
    return ABSENT if low is None or high is None else f"{percent(low)} to {percent(high)}"


def amount(value: float | None) -> str:
    """Return a sum short enough for a cell: "0.012", "3.5", "128", "12.3k", "4.1M"; what is not known is a dash."""
    if value is None:
        return ABSENT
    for size, mark in ((1_000_000, "M"), (10_000, "k")):
        if abs(value) >= size:
            return f"{value / (size if mark == 'M' else 1000):.1f}{mark}"
    return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"


def amount_change(value: float | None) -> str:
    """Return a change of a sum, always with its sign: "+0.012", "−12.3k", "0"."""
    if not value:
        return ABSENT if value is None else "0"
    return ("+" if value > 0 else "−") + amount(abs(value))


def count(number: int) -> str:
    """Return a count with its thousands apart: "1,234"."""
    return f"{number:,}"


def points(share: float | None) -> str:
    """Return a difference of shares in points, always with its sign: "+5.3", "−0.4", "0.0"."""
    return ABSENT if share is None else signed(100 * share, 1)


def signed_span(low: float | None, high: float | None) -> str:
    """Return an interval of differences in points: "+2.9 to +7.7"."""
    return ABSENT if low is None or high is None else f"{points(low)} to {points(high)}"


def signed(number: float, digits: int = 0) -> str:
    """Return a number with its sign, a real minus, and at most so many digits; nothing has none."""
    text = f"{abs(number):,.{digits}f}"
    if not float(text.replace(",", "")):
        return text
    return f"{'+' if number > 0 else '−'}{text}"


def part_count(number: float) -> str:
    """Return a number of examples, or of parts of them: "12", "0.4"."""
    return count(int(number)) if number == int(number) else f"{number:,.1f}"


def signed_amount(number: float) -> str:
    """Return a change of a number of examples: "+3", "−0.4"."""
    return signed(number, 0 if number == int(number) else 1)


def p_value(value: float | None) -> str:
    """Return a p-value with as many digits as tell something: "0.26", "0.021", "0.00003", "1", "< 0.000001"."""
    if value is None:
        return ABSENT
    if value >= 0.995:
        return "1"
    if value < 1e-6:
        return "< 0.000001"
    digits = 2 if value >= 0.1 else 1 - floor(log10(value)) if value >= 0.001 else -floor(log10(value))
    return f"{value:.{digits}f}"


@dataclass(frozen=True, slots=True)
class IntervalMark:
    """The positions of the span and of the ticks at estimate and goal. `low`: the whole span lies below the goal."""

    x: str
    width: str
    dot: str
    goal: str
    low: bool


def interval_mark(value: float, low: float, high: float, *, goal: float, start: float = 0.0) -> IntervalMark:
    """Return the mark of an interval of shares on a track that runs from `start` to 1."""
    left, right = _place(low, start), _place(high, start)
    return IntervalMark(
        x=_percent(left),
        width=_percent(right - left),
        dot=_percent(_place(value, start)),
        goal=_percent(_place(goal, start)),
        low=high < goal,
    )


def track_start(lows: list[float]) -> float:
    """Return where the tracks of one table begin, so that every interval in it fits: a tenth, at most 0.6."""
    return min(0.6, round_down(10 * min(lows, default=0.6)) / 10)


def _place(share: float, start: float) -> float:
    return min(1.0, max(0.0, (share - start) / (1.0 - start)))


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def score_words(noise: LabelNoise, score: float | None) -> str:
    """Return where wrong gold could put a score of 0..1, and what that rests on; without a score nothing."""
    if score is None:
        return ""
    bounds = noise.bounds(score)
    if bounds is None:
        return f"Label noise is unknown: {noise.reason}."
    could = f"The score could be anywhere from {span(bounds.low, bounds.high)} %."
    return f"{_rests_on(noise)} {could} {_limit(noise)}"


def change_words(noise: LabelNoise) -> str:
    """Return what wrong gold could do to the difference of two scores on the same gold."""
    if noise.high is None:
        return f"Label noise is unknown: {noise.reason}."
    could = f"It could move the difference by up to {percent(min(1.0, 2 * noise.high))} points."
    return f"{_rests_on(noise)} {could} {_limit(noise)}"


def short_words(noise: LabelNoise | None) -> str:
    """Return the points by which wrong gold could move a score, as "±2.3"; empty where that is unknown."""
    return f"±{percent(noise.high)}" if noise and noise.high is not None else ""


def _rests_on(noise: LabelNoise) -> str:
    verb = "differs" if noise.differing == 1 else "differ"
    pairs = f"{count(noise.differing)} of {count(noise.pairs)} pairs of first labels {verb}"
    return f"Label noise: {pairs}, an estimate of up to {percent(noise.high)} % wrong gold."


def _limit(noise: LabelNoise) -> str:
    words = "It is a lower limit"
    if imported := noise.gold.imported:
        return f"{words}: the gold of {count(imported)} of {count(noise.gold.total)} examples was imported."
    return f"{words}."
