import json

import pytest
from hypothesis import given

from tests.grading.strategies import json_values
from toolevals.grading.values.documents import SCHEMA_NAMES, load_json, problems_in, require_json, schema
from toolevals.grading.values.problems import InvalidDocument, Problem


@given(json_values)
def test_good_json_is_read_as_it_is(value):
    text = json.dumps(value)
    assert json.dumps(load_json(text)) == text
    assert json.dumps(load_json(text.encode())) == text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": 1, "a": 2}', '/a: the key "a" appears twice in one object at line 1, column 10'),
        (
            '[{"b": "a:",\n "c": {"a": 1, "\\u0061": 1}}]',
            '/0/c/a: the key "a" appears twice in one object at line 2, column 16',
        ),
        ("[true, 1.5, NaN]", "/2: NaN is not a JSON value at line 1, column 13"),
        ("-Infinity", "-Infinity is not a JSON value at line 1, column 1"),
        ("[1e999]", "/0: 1e999 is beyond what a number can hold at line 1, column 2"),
        ("[1,\n " + "1" * 4301 + "]", "/1: an integer has more than 4,300 digits at line 2, column 2"),
        ('{"a": 1, "a": [NaN]}', 'the key "a" appears twice in one object at line 1, column 10'),
        ('{"b": [[], {"c": 1}], "a": {"d": "]", "e/": NaN}}', "/a/e~1: NaN is not a JSON value at line 1, column 45"),
        ('{"a": NaN, "a": 1}', "/a: NaN is not a JSON value at line 1, column 7"),
        ("[NaN1", "NaN is not a JSON value at line 1, column 2"),
        ("[1e999x", "1e999 is beyond what a number can hold at line 1, column 2"),
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


def test_integers_are_exact_up_to_the_limit():
    for text in ("9" * 4300, "-" + "9" * 4300, str(2**64)):
        assert load_json(text) == int(text)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"a": [1, float("nan")]}, "/a/1: is nan, which is not a JSON value"),
        ([10**4300], "/0: is an integer of more than 4,300 digits"),
        ([-(10**4300)], "/0: is an integer of more than 4,300 digits"),
        ({"a": {1: 2}}, "/a: has a key that is not text"),
        ({"a": b"x"}, "/a: is a bytes, not JSON"),
        (["a\0"], "/0: holds a NUL"),
        ({"\ud800": 1}, "holds a lone surrogate"),
        (json.loads("[" * 201 + "]" * 201), "nested deeper than 200 levels"),
    ],
)
def test_a_value_that_json_text_could_not_give_is_refused_with_its_place(value, words):
    with pytest.raises(InvalidDocument) as caught:
        require_json(value)
    assert words in str(caught.value)


@given(json_values)
def test_a_value_that_was_read_is_never_refused(value):
    require_json(load_json(json.dumps(value)))


def test_a_value_as_deep_as_can_be_read_is_not_refused():
    require_json(load_json("[" * 200 + "]" * 200))


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


@pytest.mark.parametrize(
    "value", ["\ud800", json.loads("[" * 500 + "]" * 500), {1: 2}, float("inf"), b"x", 10**5000], ids=range(6)
)
def test_what_no_json_holds_is_a_problem_and_no_error(value):
    assert problems_in({"messages": value}, "transcript")


def test_long_values_are_cut_in_messages():
    (problem,) = problems_in({"kind": "x" * 10_000}, "expectation")[:1]
    assert len(problem.message) <= 301
