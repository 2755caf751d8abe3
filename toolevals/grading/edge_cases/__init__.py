"""Finds edge cases of arguments: which a tool admits, which a call exercises, which failures are nothing more.

The rules are heuristics on names, formats, descriptions and values; `docs/grading.md` states each of them.
"""

from toolevals.grading.edge_cases.failures import (
    MISSING,
    argument_failure_bucket,
    call_failure_bucket,
    edge_of_difference,
    edge_of_values,
)
from toolevals.grading.edge_cases.parameters import (
    BUCKET_SENTENCES,
    EDGE_CASE_SENTENCES,
    EdgeCase,
    FailureBucket,
    applicable_kinds,
    edge_case_kinds,
)

__all__ = [
    "BUCKET_SENTENCES",
    "EDGE_CASE_SENTENCES",
    "MISSING",
    "EdgeCase",
    "FailureBucket",
    "applicable_kinds",
    "argument_failure_bucket",
    "call_failure_bucket",
    "edge_case_kinds",
    "edge_of_difference",
    "edge_of_values",
]
