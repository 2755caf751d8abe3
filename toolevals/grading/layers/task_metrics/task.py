"""Tell what is known of a task besides the run: what should come out, by which tools, in how many steps."""

from __future__ import annotations

from typing import Any

from toolevals.grading.values.patterns import compile_pattern
from toolevals.grading.values.value_classes import value_class


@value_class
class Task:
    """A task; None and empty say that no one knows, which leaves out of a metric what depends on it.

    `expected_result` is any JSON value, `expected_outcome` a description. `result_met` is how far the expected result
    was reached, 0..1, where someone else has found it out: it then stands for the comparison with `expected_result`.
    `required_tools` are names; the empty tuple says that none is needed. `expected_steps` is the length of the best
    known trajectory, `max_steps` a limit. `forbidden_patterns` must not match a call, `sensitive_patterns` nothing that
    was passed on or read. Patterns are RE2; the constructor raises ValueError where RE2 refuses one.
    """

    expected_result: Any = None
    expected_outcome: str = ""
    success_criteria: tuple[str, ...] = ()
    required_tools: tuple[str, ...] | None = None
    expected_steps: int | None = None
    max_steps: int | None = None
    forbidden_patterns: tuple[str, ...] = ()
    sensitive_patterns: tuple[str, ...] = ()
    result_met: float | None = None

    def __post_init__(self) -> None:
        for pattern in (*self.forbidden_patterns, *self.sensitive_patterns):
            compile_pattern(in_any_case(pattern))


def in_any_case(pattern: str) -> str:
    """Return the pattern without regard to case."""
    return f"(?i){pattern}"
