"""The difference between two texts, word by word."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from toolevals.grading.values import ToolSpec
from toolevals.registry.changes import MAX_WORDS, kind_words, schema_rows, version_changes, word_pieces

texts = st.lists(st.sampled_from(["one", "two", " ", ", ", "three.", "\n"]), max_size=12).map("".join)


@given(texts, texts)
def test_the_pieces_give_back_both_texts(before: str, after: str):
    pieces = word_pieces(before, after)
    assert "".join(piece.text for piece in pieces if piece.kind != "added") == before
    assert "".join(piece.text for piece in pieces if piece.kind != "removed") == after


def test_only_the_words_that_changed_are_marked():
    assert [(piece.text, piece.kind) for piece in word_pieces("Get one order.", "Get an order.")] == [
        ("Get ", "same"),
        ("one", "removed"),
        ("an", "added"),
        (" order.", "same"),
    ]


def test_a_very_long_text_is_replaced_as_a_whole():
    before = "word " * MAX_WORDS
    assert [piece.kind for piece in word_pieces(before, before + "more")] == ["removed", "added"]


def test_a_change_that_no_row_shows_is_named():
    old = ToolSpec("a", input_schema={"type": "object"})
    new = ToolSpec("a", input_schema={"type": "object", "minProperties": 1})
    (change,) = version_changes([old], [new])
    assert change.beside == ("another input schema, in parts that are not shown as arguments",)


def test_cost_and_output_are_compared():
    old = ToolSpec("a", cost=1.0)
    new = ToolSpec("a", output_schema={"type": "string"}, sensitive_output=("/x",), title="An a")
    (change,) = version_changes([old], [new])
    assert len(change.beside) == 4
    assert "title: An a, before: none" in change.beside


def test_types_in_words():
    assert kind_words({"anyOf": [{"type": "string"}, {"type": "null"}]}) == "string or null"
    assert kind_words({"const": 3}) == "3"
    assert kind_words({"type": ["integer", "null"]}) == "integer or null"
    assert kind_words({"type": "array", "items": {"enum": ["a"]}}) == 'list of "a"'
    assert kind_words({"enum": list(range(50))}).endswith("| …")


def test_nested_arguments_have_paths():
    schema = {"properties": {"a": {"type": "array", "items": {"properties": {"b": {"type": "object"}}}}, "c": True}}
    assert [row.path for row in schema_rows(schema)] == ["a", "a[].b", "c"]
