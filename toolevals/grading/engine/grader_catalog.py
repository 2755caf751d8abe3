"""Lists every grader, matcher, profile, failure mode and tag, by name, with a sentence for pages, API and docs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from toolevals.grading.engine.case_metrics import METRICS
from toolevals.grading.values.verdict_table import FAILURES, VERDICTS
from toolevals.grading.values.verdicts import FailureTag


@dataclass(frozen=True, slots=True)
class Grader:
    """One grader. Its version changes whenever the same case may get another verdict."""

    name: str
    version: str
    level: Literal["case", "layer", "depth", "score"]
    sentence: str


GRADERS: Mapping[str, Grader] = {row.name: Grader(row.name, row.version, row.level, row.sentence) for row in VERDICTS}

# What the outcome counts, where an example does not say otherwise: where a rate of it is shown, this stands by it.
OUTCOME_COUNTS = "right tools and arguments, and the expected answer and end state where there are any"

# A value of each case beside its verdicts.
SCORES: Mapping[str, Grader] = {
    metric.name: Grader(metric.name, metric.version, "score", metric.sentence) for metric in METRICS.values()
}

MODES: Mapping[str, str] = {
    "wrong_tool": "Another tool was called instead of the expected one.",
    "hallucinated_tool": "A tool was called that is not offered.",
    "missed_call": "A call was expected and not made.",
    "refused": "A call was expected, and the agent declined in words.",
    "needless_call": "A call was made where none was expected.",
    "extra_call": "A call was made that is not expected, and no further call is allowed.",
    "disallowed_call": "A call was made that must not be.",
    "wrong_order": "Every expected tool was called, but not in the expected order.",
    "malformed_output": "A call was tried that cannot be read.",
    "schema_error": "The arguments break the tool's input schema.",
    "missing_argument": "An expected argument is missing.",
    "extra_argument": "An argument is there that is not expected.",
    "wrong_shape": "An argument has another type than the expected one.",
    "wrong_value": "An argument has the right type and another value than the expected one.",
    **{failure.mode: failure.sentence for failure in FAILURES.values()},
    "cut_off": "The conversation was cut before its end.",
    "adapter_error": "The agent could not be reached; the case is out of the scores.",
    "harness_error": "A grader crashed; the case is out of the scores.",
}


@dataclass(frozen=True, slots=True)
class TagWords:
    """The meaning of a failure tag, and what to do about it; whether its cases are in the scores."""

    meaning: str
    to_do: str
    is_scored: bool = True


TAGS: Mapping[str, TagWords] = {
    FailureTag.MALFORMED_OUTPUT: TagWords(
        "A call was tried, and neither a native tool call nor one written as JSON or Python can be read in it.",
        "Of a model that answers in text, tighten the instruction to one JSON object and nothing else. Of one that"
        " takes tools, see first whether they reach it at all: the connector may not hand them on.",
    ),
    FailureTag.WRONG_ANSWER: TagWords(
        "Calls were read and are not what was expected, or a call was expected and none was made.",
        "The case's reason says which rule failed, and its calls what was called; the mode says where to begin."
        " Numbers are compared by value, so it is a mistake of the model, or the gold is wrong: then dispute it.",
    ),
    FailureTag.ADAPTER_ERROR: TagWords(
        "The agent could not be reached: our side or the network, not the model.",
        "Check endpoint, credentials and limits, then re-run those trials.",
        is_scored=False,
    ),
    FailureTag.HARNESS_ERROR: TagWords(
        "A fault of the grading itself.",
        "Re-grade the run; if it stays, report it with the case's error.",
        is_scored=False,
    ),
}
