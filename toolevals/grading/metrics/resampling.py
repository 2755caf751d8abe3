"""Draws many bootstrap resamples at once, in plain Python, for intervals of figures without a formula for theirs.

Percentile bootstrap (B. Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 7, 1979). An
example is resampled with all its trials, since trials of one example are not independent (the cluster bootstrap: A. C.
Davison and D. V. Hinkley, "Bootstrap Methods and their Application", 1997, 3.8). Of few examples an interval is too
narrow: what decides has one by formula (`clustered`, `means`).

In a resample every unit (an example with all its trials) is drawn 0, 1, 2, ... times. Units that look alike are drawn
together: of `count` like units a resample holds Poisson(count) (J. A. Hanley and B. MacGibbon, "Creating non-parametric
bootstrap samples using Poisson frequencies", Computer Methods and Programs in Biomedicine 83, 2006; N. Chamandy et al.,
"Estimating uncertainty for massive data streams", 2012). Against drawing exactly n units this leaves the size of a
resample free, which a ratio does not feel, and makes the groups independent of each other, so that the cost grows with
the number of distinct outcomes and not with n.

The draws of one group in all resamples are one large integer, 64 bits a resample. Adding two such integers adds them in
every resample at once, which is how a thousand resamples of a hundred thousand cases take a fraction of a second. Draws
are seeded: the same counts in the same order give the same resamples.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_right
from collections.abc import Iterable
from functools import lru_cache, partial
from itertools import pairwise
from math import exp, floor, lgamma, log, sqrt
from random import Random
from statistics import NormalDist

from toolevals.grading.metrics.means import percentile_of_sorted
from toolevals.grading.metrics.rates import Interval, normal_quantile

RESAMPLES = 1000
_SEED = 20_000
_LEVELS = 65_536
_LANE_BYTES = 8
# From here on a Poisson's quantiles are the normal's to within one part in a thousand of its spread.
_NORMAL_FROM = 20_000
# Up to here every quantile fits a byte, and few first bytes leave it open.
_SMALL = 24
_UNDECIDED = 255
_HIGH = [byte << 8 for byte in range(256)]


class Resamples:
    """A seeded series of resamples; each call of `weights` draws the next group of units."""

    __slots__ = ("_random", "size")

    def __init__(self, size: int = RESAMPLES, seed: int = _SEED) -> None:
        if size < 1:
            raise ValueError("at least one resample is needed")
        self.size = size
        self._random = Random(seed)  # noqa: S311 (statistics, no secret)

    def weights(self, count: int) -> int:
        """Return how many of `count` like units each resample holds, packed: add and multiply it, then `unpack`.

        Sums stay exact up to 2^64 a resample.
        """
        first, second = self._random.randbytes(self.size), self._random.randbytes(self.size)
        if count <= _SMALL:
            return self._small_weights(count, first, second)
        indices = map(int.__or__, map(_HIGH.__getitem__, first), second)
        if count >= _NORMAL_FROM:
            normal, spread = _normal_table(), sqrt(count)
            lanes = array("Q", [max(0, round(count + spread * normal[index])) for index in indices])
        else:
            least, ends = _poisson_ends(count)
            lanes = array("Q", map(least.__add__, map(partial(bisect_right, ends), indices)))
        return int.from_bytes(_in_little_order(lanes).tobytes(), "little")

    def unpack(self, packed: int) -> array[int]:
        """Return the sums, one a resample."""
        lanes = array("Q")
        lanes.frombytes(packed.to_bytes(_LANE_BYTES * self.size, "little"))
        return _in_little_order(lanes)

    def _small_weights(self, count: int, first: bytes, second: bytes) -> int:
        # A matrix has thousands of cells that hold a case or two. The first byte nearly always decides by itself.
        table, by_first = _small_tables(count)
        drawn = bytearray(first.translate(by_first))
        place = drawn.find(_UNDECIDED)
        while place >= 0:
            drawn[place] = table[first[place] << 8 | second[place]]
            place = drawn.find(_UNDECIDED, place + 1)
        lanes = bytearray(_LANE_BYTES * self.size)
        lanes[::_LANE_BYTES] = drawn
        return int.from_bytes(lanes, "little")


def _in_little_order(lanes: array[int]) -> array[int]:
    if sys.byteorder == "big":
        lanes.byteswap()
    return lanes


@lru_cache(maxsize=_SMALL + 1)
def _small_tables(mean: int) -> tuple[bytes, bytes]:
    """Return the quantiles of Poisson(mean) at (i + 1/2)/65,536, and what each first byte of an index says of them.

    That is the quantile, or that the second byte decides.
    """
    least, ends = _poisson_ends(mean)
    table = b"".join(
        bytes([least + place]) * (min(end, _LEVELS) - start)
        for place, (start, end) in enumerate(pairwise((0, *ends, _LEVELS)))
    )
    blocks = (table[start : start + 256] for start in range(0, _LEVELS, 256))
    return table, bytes(block[0] if block[0] == block[-1] else _UNDECIDED for block in blocks)


@lru_cache(maxsize=512)
def _poisson_ends(mean: int) -> tuple[int, list[int]]:
    """Return the least quantile of Poisson(mean) at (i + 1/2)/65,536, and for it and each next one the i it ends at.

    An even draw of i is a draw of the Poisson.
    """
    if mean < 0:
        raise ValueError("a count is negative")
    if mean == 0:
        return 0, []
    least = k = max(0, floor(mean - 7 * sqrt(mean)))
    mass = exp(k * log(mean) - mean - lgamma(k + 1))
    below = mass
    ends: list[int] = []
    while k <= mean + 7 * sqrt(mean) + 20:
        ends.append(floor(below * _LEVELS + 0.5))
        if ends[-1] >= _LEVELS:
            break
        k += 1
        mass *= mean / k
        below += mass
    return least, ends


@lru_cache(maxsize=1)
def _normal_table() -> list[float]:
    normal = NormalDist()
    return [normal.inv_cdf((i + 0.5) / _LEVELS) for i in range(_LEVELS)]


def bootstrap_interval(draws: Iterable[float | None], value: float, confidence: float = 0.95) -> Interval | None:
    """Return the percentile interval of a figure's draws, one a resample; None where none has the figure.

    It is widened where it would not hold the figure's `value` itself. Raises ValueError unless 0 < confidence < 1.
    """
    normal_quantile(confidence)
    ordered = sorted([draw for draw in draws if draw is not None])
    tail = (1 - confidence) / 2
    low, high = percentile_of_sorted(ordered, tail), percentile_of_sorted(ordered, 1 - tail)
    if low is None or high is None:
        return None
    return Interval(min(low, value), max(high, value))
