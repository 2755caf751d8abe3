import json

import pytest
from hypothesis import given

from tests.grading.strategies import json_values
from toolevals.grading.documents import SCHEMA_NAMES, load_json, problems_in, schema
from toolevals.grading.problems import InvalidDocument, Problem


@given(json_values)
def test_good_json_is_read_as_it_is(value):
    text = json.dumps(value)
    assert json.dumps(load_json(text)) == text
    assert json.dumps(load_json(text.encode())) == text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": 1, "a": 2}', 'the key "a" appears twice in one object at line 1, column 10'),
        (
            '[{"b": "a:",\n "c": {"a": 1, "\\u0061": 1}}]',
            'the key "a" appears twice in one object at line 2, column 16',
        ),
        ("[true, 1.5, NaN]", "NaN is not a JSON value at line 1, column 13"),
        ("-Infinity", "-Infinity is not a JSON value at line 1, column 1"),
        ("[1e999]", "1e999 is beyond what a number can hold at line 1, column 2"),
        ("1" * 5000, "too many digits"),
        ('["a\\u0000"]', "/0: holds a NUL"),
        ('{"a": {"\\u0000": 1}}', "/a: holds a NUL"),
        ('["\\ud83d"]', "/0: holds a lone surrogate"),
        ('["\ud83d"]', "lone surrogate at character 2"),
        (b'"\xff"', "not UTF-8 at byte 1"),
        ('{"a": 1,\n "b" 2}', "not JSON at line 2, column 6"),
        ("[" * 300 + "]" * 300, "nested deeper than 200"),
        ("[" * 100_000, "nested deeper than 200"),
        ("", "not JSON at line 1, column 1"),
    ],
)
def test_bad_json_is_refused_with_its_place(text, words):
    with pytest.raises(InvalidDocument) as caught:
        load_json(text)
    assert words in str(caught.value)
    assert len(caught.value.problems) == 1


def test_limits_are_the_callers():
    assert load_json("[[1]]", max_depth=2) == [[1]]
    with pytest.raises(InvalidDocument, match="nested deeper than 1 levels"):
        load_json("[[1]]", max_depth=1)
    with pytest.raises(InvalidDocument, match="longer than 4 bytes"):
        load_json("[[1]]", max_bytes=4)


def test_a_pair_of_surrogate_escapes_is_one_character():
    assert load_json('"\\ud83d\\ude00"') == "\U0001f600"


@pytest.mark.parametrize("name", SCHEMA_NAMES)
def test_every_schema_is_itself_valid_and_refuses_a_number(name):
    import jsonschema

    jsonschema.Draft202012Validator.check_schema(schema(name))
    assert schema(name)["$id"].endswith(f"{name}:v1")
    assert problems_in(3, name)


def test_problems_carry_pointers_and_words_for_people():
    document = {
        "kind": "calls",
        "alternatives": [
            {"ordered": [{"tool": "(none)", "arguments": {"a/b": {"exact": 1, "range": [1, 2]}}}]},
        ],
    }
    problems = problems_in(document, "expectation")
    assert Problem("/alternatives/0/ordered/0/tool", "is the name of a class of the confusion matrix") in problems
    (matcher,) = [problem for problem in problems if "a~1b" in problem.pointer]
    assert matcher.pointer == "/alternatives/0/ordered/0/arguments/a~1b"
    assert matcher.message.startswith("a matcher is exactly one of exact, key_only")


def test_long_values_are_cut_in_messages():
    (problem,) = problems_in({"kind": "x" * 10_000}, "expectation")[:1]
    assert len(problem.message) <= 301
