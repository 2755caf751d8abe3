"""Tell what a comparison of so many examples could show at all, in words."""

from __future__ import annotations

from toolevals.grading.metrics.comparison import Comparison
from toolevals.grading.metrics.power import (
    fewest_changed,
    smallest_detectable,
    smallest_detectable_mean,
)


def can_be_found(examples: int, alpha: float) -> bool:
    """Return whether any change of so many examples is found at this alpha."""
    return examples >= fewest_changed(alpha)


def resolution(compared: Comparison, alpha: float) -> str:
    """Return the smallest difference that the compared examples can show at this alpha, as one sentence.

    Of single trials it is a difference of pass rates. Of several trials, and of scores, an example can change by any
    amount: so it is said how many have to change.
    """
    number = examples_words(compared.examples)
    if not can_be_found(compared.examples, alpha):
        verb = "is" if compared.examples == 1 else "are"
        return f"{number} {verb} too few for any difference to be significant: add examples."
    fewest = fewest_changed(alpha)
    if compared.test == "mcnemar":
        words = f"{number} can show a difference of {fewest / compared.examples:.2g} at best"
        changed = (compared.improved + compared.worsened) / compared.examples
        likely = smallest_detectable(compared.examples, changed, alpha=alpha)
        return (
            f"{words}."
            if likely is None
            else f"{words}, and one of {likely:.2g} four times in five where {changed:.0%} of them change."
        )
    words = f"{number} can show a change of {fewest} of them at best"
    likely = smallest_detectable_mean(compared.examples, compared.spread or 0.0, alpha=alpha)
    return (
        f"{words}."
        if likely is None
        else f"{words}, and at their spread a difference of {likely:.2g} four times in five."
    )


def examples_words(count: int) -> str:
    """Return `1 example`, `1,200 examples`."""
    return f"{count:,} example{'' if count == 1 else 's'}"
