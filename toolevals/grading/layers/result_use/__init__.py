"""Tell how an agent used what its tools returned: claims, where they come from, and what is wrong with them."""

from toolevals.grading.layers.result_use.grader import grade_result_use
from toolevals.grading.layers.result_use.values import (
    FINDING_SENTENCES,
    Attribution,
    Claim,
    Finding,
    ResultFields,
    ResultUse,
)

__all__ = [
    "FINDING_SENTENCES",
    "Attribution",
    "Claim",
    "Finding",
    "ResultFields",
    "ResultUse",
    "grade_result_use",
]
