"""Turns what failed in a case into failures with a key, a name, a kind and fixes: the same failure, the same key."""

from toolevals.grading.failures.cases import failed_calls, failures_of
from toolevals.grading.failures.conversations import CallMade, failures_of_conversation
from toolevals.grading.failures.failure import LAYERS, Failure
from toolevals.grading.failures.masking import masked
from toolevals.grading.failures.taxonomy import CATEGORIES, category_of, kind_of
from toolevals.grading.failures.wording import Fixes, fixes_of, name_of

__all__ = [
    "CATEGORIES",
    "LAYERS",
    "CallMade",
    "Failure",
    "Fixes",
    "category_of",
    "failed_calls",
    "failures_of",
    "failures_of_conversation",
    "fixes_of",
    "kind_of",
    "masked",
    "name_of",
]
