"""Work out what wrong gold could do to a score: how much gold is wrong at least, as far as double labels tell."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Final

from toolevals.grading.metrics.rates import Interval, wilson

TOO_FEW: Final = "too few examples have two labels"


@dataclass(frozen=True, slots=True)
class GoldCounts:
    """The number of examples with gold from one label, from labels that agree, from a decision, and from elsewhere."""

    single: int = 0
    agreed: int = 0
    decided: int = 0
    imported: int = 0

    @property
    def labelled(self) -> int:
        """Return how many have gold that people made here."""
        return self.single + self.agreed + self.decided

    @property
    def total(self) -> int:
        """Return how many there are."""
        return self.labelled + self.imported


@dataclass(frozen=True, slots=True)
class LabelNoise:
    """The share of wrong gold, 0..1: its estimate, and the upper end of its 95 % interval.

    Both are None where they are unknown, and `reason` says why in a few words. `differing` of `pairs` pairs of first
    labels differ; `gold` is what the share is of.
    """

    share: float | None
    high: float | None
    pairs: int
    differing: int
    gold: GoldCounts
    reason: str = ""

    def bounds(self, score: float | None) -> Interval | None:
        """Return the score less and plus the upper end, held in 0..1: no gold that is wrong can move it further."""
        if score is None or self.high is None:
            return None
        return Interval(max(0.0, score - self.high), min(1.0, score + self.high))


def label_noise(gold: GoldCounts, pairs: int, differing: int) -> LabelNoise:
    """Return the share of wrong gold that independent labels explain, a lower limit of label noise.

    The model has two labels of an example, each wrong with the same probability e, independent of the other and of the
    example; two wrong labels are alike. It is that of A. P. Dawid and A. M. Skene ("Maximum likelihood estimation of
    observer error-rates using the EM algorithm", Applied Statistics 28, 1979) with one error rate for everyone and two
    answers, so that a share d of pairs differs with d = 2e(1 - e), and e = (1 - sqrt(1 - 2d)) / 2, or 1/2 where d
    exceeds 1/2. Gold of a single label is wrong with e; so is a decision, which is another person's label. Gold that
    two labels agree on is wrong with e² / (e² + (1 - e)²). The share of wrong gold is their mean over all examples.
    Imported gold counts as right in it: nothing is known of it. The upper end takes that of Wilson's interval for d;
    the share rises with d, so that it covers as that interval does.

    People who err alike agree, and are not seen: the true share may be larger, so this is a lower limit. Unknown
    without pairs, without gold that was labelled, and where more gold was imported than labelled. Raises ValueError
    unless 0 <= differing <= pairs.
    """
    if not 0 <= differing <= pairs:
        raise ValueError(f"{differing} of {pairs} pairs is not a proportion")
    reason = _unknown(gold, pairs)
    if reason:
        return LabelNoise(None, None, pairs, differing, gold, reason)
    share, high = (_wrong(gold, part) for part in (differing / pairs, wilson(differing, pairs).high))
    return LabelNoise(share, high, pairs, differing, gold)


def error_rate(differing: float) -> float:
    """Return the probability that a label is wrong, 0..1/2, by the share of pairs that differ, under the same model."""
    return (1 - sqrt(max(0.0, 1 - 2 * differing))) / 2


def _unknown(gold: GoldCounts, pairs: int) -> str:
    if not gold.total:
        return "there is no gold"
    if not gold.labelled:
        return "all gold was imported"
    if gold.imported > gold.labelled:
        return "most gold was imported"
    return "" if pairs else TOO_FEW


def _wrong(gold: GoldCounts, differing: float) -> float:
    error = error_rate(differing)
    both = error * error / (error * error + (1 - error) ** 2)
    return ((gold.single + gold.decided) * error + gold.agreed * both) / gold.total
