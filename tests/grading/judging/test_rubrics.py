"""Rubrics as documents, and what answers are worth."""

from __future__ import annotations

import pytest

from toolevals.grading.judging import GATES, SHIPPED, Judgement, JudgementRequest, Rubric
from toolevals.grading.judging.materials import MOST_FIELDS, OF_CASE, fields_of
from toolevals.grading.values import ToolResult
from toolevals.grading.values.documents import schema
from toolevals.grading.values.problems import InvalidDocument

DOCUMENT = SHIPPED["task_completion"].to_document()


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_rubrics_are_documents_that_come_back(name):
    rubric = SHIPPED[name]
    assert rubric.name == name
    assert Rubric.from_document(rubric.to_document()) == rubric


def test_the_schema_names_every_gate_and_input():
    properties = schema("rubric")["properties"]
    assert properties["gate"]["enum"] == list(GATES)
    gates = {name for gate in GATES.values() for name in gate.inputs}
    assert set(properties["inputs"]["items"]["enum"]) == set(OF_CASE) | gates


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"name": "Bad name"}, "/name"),
        ({"gate": "always"}, "/gate"),
        ({"inputs": ["expected"]}, "/inputs/0"),
        ({"inputs": []}, "/inputs"),
        ({"text": "short"}, "/text"),
        ({"answer_schema": {"type": 5, "required": ["score"]}}, "/answer_schema/type"),
        ({"answer_schema": {"$ref": "http://x.example/", "required": ["score"]}}, "/answer_schema/$ref"),
        ({"answer_schema": {"type": "object"}}, "/answer_schema/required"),
        ({"scoring": "used"}, "/inputs"),
        ({"scale": {"values": [0, 0.5], "passes_from": 1}}, "/scale/passes_from"),
    ],
)
def test_what_is_wrong_with_a_rubric_is_named(change, pointer):
    with pytest.raises(InvalidDocument) as caught:
        Rubric.from_document({**DOCUMENT, **change})
    assert caught.value.problems[0].pointer == pointer


@pytest.mark.parametrize(
    "answer", [{"score": 1}, {"reason": "x"}, {"reason": "x", "score": 0.7}, {"reason": "x", "score": "1"}, [], None]
)
def test_an_answer_that_is_not_the_rubrics_has_no_value(answer):
    with pytest.raises(InvalidDocument):
        SHIPPED["task_completion"].value_of(answer, {})


def test_a_score_has_to_be_on_the_scale():
    loose = Rubric.from_document({**DOCUMENT, "answer_schema": {"type": "object", "required": ["score"]}})
    for score in (0.7, True, "1", None, 2):
        with pytest.raises(InvalidDocument):
            loose.value_of({"score": score}, {})
    assert loose.value_of({"score": 0.5}, {}) == 0.5


def test_equal_inputs_are_one_question():
    rubric = SHIPPED["natural_language"]
    one = JudgementRequest(rubric, {"criteria": "a", "value": {"x": 1, "y": 2}})
    other = JudgementRequest(rubric, {"value": {"y": 2, "x": 1}, "criteria": "a"})
    assert one.digest == other.digest
    assert one.digest != JudgementRequest(rubric, {"criteria": "a", "value": {"x": 1, "y": 3}}).digest
    made = Judgement.of_answer(one, {"score": 1, "reason": "So it is."}, model="m", pinned=False)
    assert (made.value, made.reason, made.inputs, made.pinned) == (1.0, "So it is.", one.digest, False)


def test_fields_have_names_of_their_own_and_are_bounded():
    results = [ToolResult(None, '{"a/b": [1, {"c": null}], "d": {}}', False), ToolResult(None, "one\n\ntwo", False)]
    assert fields_of(results) == [
        {"field": "0/a~1b/0", "value": 1},
        {"field": "0/a~1b/1/c", "value": None},
        {"field": "1/0", "value": "one"},
        {"field": "1/1", "value": "two"},
    ]
    assert len(fields_of([ToolResult(None, str(list(range(5_000))), False)])) == MOST_FIELDS
