"""Places failures in a taxonomy of five categories and thirty kinds.

The names are those of Future AGI's flat list of trace errors, without its umbrella entry "Hallucinations".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from toolevals.grading.failures.failure import TOOL, Failure

# Category -> its kinds. Some have no rule of ours: people choose them for an issue.
CATEGORIES: Final[Mapping[str, tuple[str, ...]]] = {
    "Factuality & Grounding": (
        "Language-only", "Tool-related", "Context Hallucination", "Unsupported Summary/Answer",
        "Incorrect Chunk Attribution",
    ),
    "Tool & API Usage": (
        "Missing Tool Call", "Incorrect Tool Arguments", "Invalid Output Format", "Tool Output Misinterpretation",
        "Redundant Tool Call", "Tool Definition Issues", "Environment Setup Errors",
    ),
    "Planning & Orchestration": (
        "No Final Answer", "Subtask Confusion", "Skipped Reasoning Steps", "Looping Plan", "Wrong Tool Selection",
        "Goal Deviation", "Task Orchestration Failure",
    ),
    "Instruction & Output Adherence": (
        "Instruction Ignored", "Format Mismatch", "Over-Apologizing/Verbosity", "Tone Mismatch",
        "Incorrect Response Length",
    ),
    "Safety, Moderation & Compliance": (
        "Unsafe Content", "PII Leakage", "Bias Detected", "Compliance Failure", "Harmful Advice", "Resource Abuse",
    ),
}  # fmt: skip
_BY_MODE: Final[Mapping[str, str]] = {
    "wrong_tool": "Wrong Tool Selection",
    "hallucinated_tool": "Tool-related",
    "tool_not_offered": "Tool-related",
    "called_in_a_loop": "Looping Plan",
    "over_limit": "Resource Abuse",
    "missed_call": "Missing Tool Call",
    "refused": "Missing Tool Call",
    "needless_call": "Redundant Tool Call",
    "extra_call": "Redundant Tool Call",
    "disallowed_call": "Compliance Failure",
    "wrong_order": "Task Orchestration Failure",
    "malformed_output": "Invalid Output Format",
    "missing_fact": "No Final Answer",
    "wrong_state": "Goal Deviation",
    "cut_off": "No Final Answer",
    "identical_retry": "Looping Plan",
    "looped": "Looping Plan",
    "fabricated_success": "Unsupported Summary/Answer",
    "gave_up": "Task Orchestration Failure",
}
_BY_LAYER: Final[Mapping[str, str]] = {
    "selection": "Wrong Tool Selection",
    "arguments": "Incorrect Tool Arguments",
    "result_use": "Tool Output Misinterpretation",
    "recovery": "Skipped Reasoning Steps",
    "answer": "No Final Answer",
    "execution": "Goal Deviation",
    "outcome": "Task Orchestration Failure",
}
# What a tool's error is about: the request as it was made, a limit, or the tool and what it stands on.
_BY_ERROR: Final[Mapping[str, str]] = {
    "400": "Incorrect Tool Arguments",
    "404": "Incorrect Tool Arguments",
    "429": "Resource Abuse",
    "unknown": "Incorrect Tool Arguments",
}


def kind_of(failure: Failure) -> str:
    """Return the kind of a failure, one of the thirty."""
    if failure.layer == TOOL:
        return _BY_ERROR.get(failure.error_class, "Environment Setup Errors")
    return _BY_MODE.get(failure.mode) or _BY_LAYER[failure.layer]


def category_of(kind: str) -> str:
    """Return the category of a kind; empty where it is none of the thirty."""
    return next((category for category, kinds in CATEGORIES.items() if kind in kinds), "")
