"""The dialects on our own rows: what is expected, what was done, what they have no form for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.grading import strategies as drawn
from tests.grading.dialects.test_parity import VERSIONS
from toolevals.grading.dialects.catalog import DIALECTS, DialectScores, WrongOptionError, no_scores, score
from toolevals.grading.dialects.rows import Comparison, NoFormError, comparison
from toolevals.grading.reading.predictions import read_prediction
from toolevals.grading.values import Expectation, Message, ToolSpec, Transcript

DOCS = Path(__file__).parents[3] / "docs"
SCORED = [dialect for dialect in DIALECTS.values() if dialect.metrics]
TRACK = {"tool": "track", "arguments": {"order": {"exact": "A-1"}}}
REFUND = {"tool": "refund", "arguments": {"order": {"exact": "A-1"}, "cents": {"exact": 450}}}
TOOLS = [
    ToolSpec("track", "", {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]}),
    ToolSpec(
        "refund", "", {"type": "object", "properties": {"order": {"type": "string"}, "cents": {"type": "integer"}}}
    ),
]


def calls(**trajectory: Any) -> Expectation:
    return Expectation.from_document({"kind": "calls", "alternatives": [trajectory]})


def made(*names: str, **arguments: Any) -> Transcript:
    return read_prediction(
        {"id": "x", "tool_calls": [{"name": name, "arguments": arguments} for name in names]}
    ).transcript


def scores(name: str, row: Comparison, **options: str) -> DialectScores:
    dialect = DIALECTS[name]
    assert dialect.metrics is not None
    return score(dialect.metrics(dialect.chosen(options.items())), row)


def only(name: str, row: Comparison, **options: str) -> Any:
    """Return the one score of a dialect with one metric."""
    (value,) = scores(name, row, **options).metrics.values()
    return value


def test_the_versions_are_those_of_the_vectors():
    assert {name: (each.package, each.version) for name, each in DIALECTS.items() if each.metrics} == VERSIONS
    assert all(name == dialect.name for name, dialect in DIALECTS.items())


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=lambda each: each.name)
def test_every_dialect_metric_and_option_is_documented(dialect):
    meanings = (DOCS / "grading.md").read_text("utf-8")
    assert f"### `{dialect.name}`" in meanings
    assert f"`{dialect.package}` {dialect.version}" in meanings
    for name in (*dialect.prints, *(option.name for option in dialect.options)):
        assert f"`{name}`" in meanings
    assert f"`{dialect.name}`" in (DOCS / "command-line.md").read_text("utf-8")


@pytest.mark.parametrize("dialect", SCORED, ids=lambda each: each.name)
def test_the_metrics_are_among_what_is_printed(dialect):
    assert set(dialect.metrics(dialect.chosen([]))) <= set(dialect.prints)


@pytest.mark.parametrize("dialect", SCORED, ids=lambda each: each.name)
def test_a_right_call_has_the_full_score_and_a_missed_one_none(dialect):
    expected = Expectation.single("track", {"order": "A-1"})
    metrics = dialect.metrics(dialect.chosen([]))
    right = score(metrics, comparison(expected, made("track", order="A-1"), tools=TOOLS))
    assert set(right.metrics.values()) == {1}
    assert (right.error, right.unscored) == (None, None)
    missed = score(metrics, comparison(expected, Transcript((Message("assistant", "Soon."),)), tools=TOOLS))
    assert set(missed.metrics.values()) == {0}


@pytest.mark.parametrize(
    ("expectation", "words"),
    [
        (Expectation("some_call"), "some_call"),
        (Expectation.from_document({"kind": "calls", "alternatives": [{"ordered": [TRACK]}] * 2}), "2 alternatives"),
        (calls(ordered=[TRACK], disallowed=[REFUND]), "disallowed"),
        (calls(ordered=[TRACK], unordered=[REFUND]), "mixes"),
        (
            calls(ordered=[{"tool": "track", "arguments": {"order": {"key_only": True}}}]),
            "order of track is a key_only",
        ),
        (calls(ordered=[{"tool": "track", "arguments": {"a": {"exact": 1, "optional": True}}}]), "may be left out"),
    ],
)
def test_what_has_no_form_is_named(expectation, words):
    with pytest.raises(NoFormError, match=words):
        comparison(expectation, made("track"))


@pytest.mark.parametrize(
    ("transcript", "words"), [(None, "No prediction"), (Transcript(error="refused"), "not be reached: refused")]
)
def test_a_row_without_an_answer_is_unscored(transcript, words):
    with pytest.raises(NoFormError, match=words):
        comparison(Expectation("no_call"), transcript)
    metrics: Mapping[str, Any] = {"one": None}
    assert no_scores(metrics, "Because.") == DialectScores({"one": None}, unscored="Because.")


def test_no_call_is_an_empty_list_which_the_tools_score_each_in_its_way():
    row = comparison(Expectation("no_call"), Transcript((Message("assistant", "Hello."),)), tools=TOOLS)
    assert scores("ragas", row).metrics == {"tool_call_accuracy": 1.0, "tool_call_f1": 0.0}
    assert only("adk", row) == only("deepeval", row) == 1.0
    assert only("agentevals", row) is True
    assert set(scores("ai_evaluation", row).metrics.values()) == {0.0}


def test_a_call_that_cannot_be_read_is_unscored_where_there_is_no_form_for_it():
    expected = Expectation.single("track", {})
    transcript = read_prediction({"id": "x", "tool_calls": [{"name": "track", "arguments": "{bad"}]}).transcript
    row = comparison(expected, transcript, tools=TOOLS)
    assert "cannot be read" in (scores("ragas", row).unscored or "")
    # These two read arguments themselves: one raises, the other takes them for none.
    assert scores("agentevals", row).error == "JSONDecodeError"
    assert scores("ai_evaluation", row).metrics["function_call_exact_match"] == 1.0


def test_calls_in_one_list_are_cut_as_the_expected_ones_and_messages_are_not():
    expected = calls(ordered=[TRACK, {"any_order": [TRACK, REFUND]}])
    arguments = {"track": {"order": "A-1"}, "refund": {"order": "A-1", "cents": 450}}
    listed = [{"name": name, "arguments": arguments[name]} for name in ("track", "refund", "track")]
    flat = read_prediction({"id": "x", "tool_calls": listed}).transcript
    assert only("agentevals", comparison(expected, flat)) is True
    one_by_one = [{"role": "assistant", "tool_calls": [call]} for call in listed]
    talk = read_prediction({"id": "x", "messages": one_by_one}).transcript
    assert only("agentevals", comparison(expected, talk, whole_talk=True)) is False
    assert only("agentevals", comparison(expected, talk, whole_talk=True), trajectory_match_mode="unordered") is True
    unordered = calls(unordered=[REFUND, TRACK, TRACK])
    assert only("agentevals", comparison(unordered, flat)) is True


def test_text_goes_to_the_tool_that_reads_it_as_it_came():
    text = "shop.track(order='A-1')"
    transcript = read_prediction({"id": "x", "text": text}).transcript
    row = comparison(Expectation.single("track", {"order": "A-1"}), transcript, text=text, tools=TOOLS)
    # It drops what stands before the last dot, and our own reading keeps it.
    assert scores("ai_evaluation", row).metrics["function_call_exact_match"] == 1.0
    assert scores("ragas", row).metrics["tool_call_accuracy"] == 0.0


@pytest.mark.parametrize("tools", [None, [ToolSpec("track", "", {"properties": {"order": {"anyOf": []}}})]])
def test_a_metric_that_wants_definitions_is_unscored_without_them(tools):
    found = scores(
        "ai_evaluation", comparison(Expectation.single("track", {"order": 1}), made("track", order=1), tools=tools)
    )
    assert found.metrics["parameter_validation"] is None
    assert found.metrics["function_call_exact_match"] == 1.0
    assert found.unscored


def test_what_the_original_raises_is_named():
    big = 10**400
    row = comparison(Expectation.single("track", {"order": big}), made("track", order=big), tools=TOOLS)
    found = scores("ai_evaluation", row)
    assert found.error == "OverflowError"
    assert found.metrics["function_call_exact_match"] is None
    assert found.metrics["function_name_match"] == 1.0


@pytest.mark.parametrize(
    ("name", "option", "text", "words"),
    [
        ("ragas", "strict", "true", "no option strict: it has strict_order"),
        ("bfcl", "strict", "true", "no option strict: it has simulators"),
        ("ragas", "strict_order", "1", "true | false, not 1"),
        ("adk", "match_type", "exact", "EXACT | IN_ORDER | ANY_ORDER"),
        ("ai_evaluation", "name_weight", "NaN", "a number"),
        ("ai_evaluation", "name_weight", "true", "a number"),
        ("agentevals", "tool_args_match_overrides", "[1]", "a JSON object"),
    ],
)
def test_a_wrong_option_is_refused(name, option, text, words):
    with pytest.raises(WrongOptionError, match=words.replace("|", r"\|")):
        DIALECTS[name].chosen([(option, text)])


def test_options_are_read():
    chosen = DIALECTS["agentevals"].chosen(
        [("trajectory_match_mode", "subset"), ("tool_args_match_overrides", '{"f": ["a"]}')]
    )
    assert chosen == {
        "trajectory_match_mode": "subset",
        "tool_args_match_mode": "exact",
        "tool_args_match_overrides": {"f": ["a"]},
    }
    assert DIALECTS["ai_evaluation"].chosen([("value_weight", "1")])["value_weight"] == 1


@settings(max_examples=50)
@given(st.sampled_from(SCORED), drawn.expectations, drawn.transcripts, st.booleans(), st.none() | drawn.text)
def test_no_row_crashes_a_dialect(dialect, expectation, transcript, talk, text):
    try:
        row = comparison(expectation, transcript, whole_talk=talk, text=text, tools=TOOLS)
    except NoFormError:
        return
    found = score(dialect.metrics(dialect.chosen([])), row)
    assert json.dumps(found.metrics)
    for value in found.metrics.values():
        assert value is None or 0 <= value <= 1
    assert found.error or found.unscored or None not in found.metrics.values()
