"""Test why a dialect and we differ: every reason met once, and none where they agree."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.grading.dialects.test_catalog import REFUND, TOOLS, TRACK, calls
from toolevals.grading.dialects.catalog import DIALECTS
from toolevals.grading.dialects.disagreements import LAXER, LENIENT, REASONS, STRICTER, disagreement
from toolevals.grading.dialects.rows import comparison
from toolevals.grading.engine.grader_catalog import MODES
from toolevals.grading.engine.grading import compile_case, grade
from toolevals.grading.reading.predictions import read_prediction
from toolevals.grading.values import Expectation, ProfileName, ToolSpec

RIGHT = {"name": "track", "arguments": {"order": "A-1"}}
PAID = {"name": "refund", "arguments": {"order": "A-1", "cents": 450}}
PLAIN = Expectation.single("track", {"order": "A-1"})
OPEN = calls(ordered=[TRACK])
BOTH = calls(ordered=[TRACK, REFUND])
FREE = calls(unordered=[TRACK, REFUND])
TWICE = Expectation.from_document(
    {"kind": "calls", "alternatives": [{"unordered": [TRACK, TRACK], "additional_calls": False}]}
)


def profiled(profile: ProfileName, arguments: dict[str, Any], tool: str = "track") -> Expectation:
    document = calls(ordered=[{"tool": tool, "arguments": {name: {"exact": each} for name, each in arguments.items()}}])
    return replace(document, profile=profile)


LOOSE, FOLDED = profiled("loose", {"order": 7}), profiled("bfcl", {"order": "A-1"})
MIXED, DOTTED = profiled("loose", {"order": "A-1", "n": 5}), profiled("loose", {"order": "A-1"}, "shop.track")
STRICT, SEVEN = profiled("strict", {"order": 7}), profiled("standard", {"order": 7})
ANY = [ToolSpec(name, "", {"type": "object"}) for name in ("track", "refund", "shop.track")]


def listed(*made: dict[str, Any]) -> dict[str, Any]:
    return {"tool_calls": list(made)}


def why(name: str, expectation: Expectation, prediction: dict[str, Any], **options: str) -> str | None:
    transcript = read_prediction({"id": "x", **prediction}).transcript
    row = comparison(
        expectation, transcript, whole_talk="messages" in prediction, text=prediction.get("text"), tools=TOOLS
    )
    metrics = DIALECTS[name].metrics
    assert metrics is not None
    metric = next(iter(metrics(DIALECTS[name].chosen(options.items())).values()))
    tools = TOOLS if expectation.profile == "standard" and expectation is not SEVEN else ANY
    found = disagreement(grade(compile_case(expectation, tools), transcript), row, metric, expectation.profile)
    assert found is None or found.sentence in REASONS.values()
    return None if found is None else found.name


def other(arguments: Any, name: str = "track") -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


@pytest.mark.parametrize(
    ("name", "expectation", "prediction", "options", "reason"),
    [
        ("ai_evaluation", PLAIN, {"text": 'Well: {"name": "track", "arguments": {"order": "A-1"}}'}, {}, "reading"),
        (
            "agentevals",
            FREE,
            {"messages": [{"role": "assistant", "tool_calls": [each]} for each in (RIGHT, PAID)]},
            {},
            "messages",
        ),
        ("adk", PLAIN, listed(other({"order": "A-1 "})), {}, "white_space"),
        ("agentevals", LOOSE, listed(other({"order": "7"})), {}, "types"),
        ("agentevals", FOLDED, listed(other({"order": "a-1"})), {}, "case"),
        ("agentevals", FOLDED, listed(other({"order": "A1"})), {}, "punctuation"),
        ("agentevals", MIXED, listed(other({"order": "A-1 ", "n": "5"})), {}, "values"),
        ("agentevals", DOTTED, listed(other({"order": "A-1"}, "shop_track")), {}, "names"),
        ("agentevals", STRICT, listed(other({"order": 7.0})), {}, "lenient_numbers"),
        ("ragas", SEVEN, listed(other({"order": "7"})), {}, "lenient_types"),
        ("deepeval", SEVEN, listed(other({"order": 8})), {}, "ignores_values"),
        ("adk", OPEN, listed(other({"order": "A-1", "note": "x"})), {}, "extra_arguments"),
        ("adk", OPEN, listed(RIGHT, PAID), {}, "extra_calls"),
        ("adk", FREE, listed(PAID, RIGHT), {}, "order"),
        ("adk", OPEN, listed(PAID, other({"order": "A-1", "note": "x"})), {}, "several"),
        ("deepeval", TWICE, listed(RIGHT, RIGHT), {}, "never_full"),
        ("adk", PLAIN, listed(RIGHT, PAID), {"match_type": "IN_ORDER"}, "extra_call"),
        ("adk", BOTH, listed(PAID, RIGHT), {"match_type": "ANY_ORDER"}, "wrong_order"),
        ("adk", Expectation("no_call"), listed(RIGHT), {"match_type": "IN_ORDER"}, "needless_call"),
        ("ragas", PLAIN, listed(other({"order": "A-1", "note": "x"})), {}, "extra_argument"),
        ("deepeval", PLAIN, listed(other({"order": "A-2"})), {}, "ignores_values"),
        ("deepeval", PLAIN, listed(other({})), {}, "schema_error"),
    ],
)
def test_every_reason(name, expectation, prediction, options, reason):
    assert why(name, expectation, prediction, **options) == reason


@pytest.mark.parametrize(
    ("name", "prediction"), [("adk", listed(RIGHT)), ("adk", listed(PAID)), ("ragas", listed(other("{bad")))]
)
def test_no_reason_where_they_agree_or_the_dialect_has_no_verdict(name, prediction):
    assert why(name, PLAIN, prediction) is None


def test_no_reason_where_we_have_no_verdict():
    row = comparison(PLAIN, read_prediction({"id": "x", **listed(RIGHT)}).transcript)
    assert disagreement(grade(compile_case(PLAIN, TOOLS), None), row, lambda _: 0.0) is None


def test_the_reasons_for_being_laxer_are_modes_of_ours():
    assert set(LAXER) <= set(MODES)
    assert all(sentence.endswith(".") for sentence in REASONS.values())
    assert len(REASONS) == len(STRICTER) + len(LAXER) + len(LENIENT)
