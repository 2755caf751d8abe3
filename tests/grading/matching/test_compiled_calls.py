import pytest

from toolevals.grading.matching.compiled_calls import ALL_MATCH, ArgumentsCheck, compile_call, compile_matcher
from toolevals.grading.matching.equality import PROFILES
from toolevals.grading.values import CallExpectation
from toolevals.grading.values.matchers import (
    Absent,
    Approximately,
    Contains,
    DateEqual,
    Exact,
    Fields,
    HasPrefix,
    HasSuffix,
    Items,
    KeyOnly,
    NaturalLanguage,
    OneOf,
    Pattern,
    Range,
)

STANDARD, LOOSE = PROFILES["standard"], PROFILES["loose"]


@pytest.mark.parametrize(
    ("matcher", "passes", "fails"),
    [
        (Exact("A-1"), ["A-1", " A-1 "], ["a-1", "A-10", None, ["A-1"]]),
        (Exact(1), [1, 1.0], [True, "1", 1.5]),
        (Exact(True), [True], [1, "true"]),
        (Exact(None), [None], [0, "", False]),
        (Exact({"a": [1]}), [{"a": [1.0]}], [{"a": [1, 1]}, {"a": [1], "b": 0}, [1]]),
        (KeyOnly(), [None, 0, "", {}], []),
        (OneOf(("warm", "comfortable")), ["warm", "comfortable"], ["cool", None]),
        (OneOf((1, None)), [1.0, None], [0, "1"]),
        (Range(5, 40), [5, 40, 12.5], [4.999, 41, "12", True, None]),
        (Range(None, 0), [0, -1e300], [0.1]),
        (Range(0, None), [0, 10**40], [-1]),
        (Pattern("[0-9]{3}"), ["A-123-B", "0123"], ["12", 123, None]),
        (Pattern("^x$"), ["x"], ["ax", "x\n"]),
        (Contains("all"), ["all rooms", "hall"], ["ALL", "al", ["all"]]),
        (Contains(""), ["", "x"], [None]),
        (HasPrefix("ORD-"), ["ORD-1"], ["ord-1", "AORD-1", 3]),
        (HasSuffix(".pdf"), ["a.pdf"], ["a.PDF", "a.pdf.gz", None]),
        (Fields({"k": Exact(1), "o": Exact(2, optional=True)}), [{"k": 1}, {"k": 1, "o": 2}], [{}, {"k": 1, "x": 1}]),
        (Fields({"k": Exact(1)}, additional_fields=True), [{"k": 1, "x": 1}], [{"x": 1}]),
        (Items((Exact(1), KeyOnly())), [[1, 2], [1.0, None]], [[1], [2, 1], [1, 2, 3], {"0": 1}]),
        (Absent(), [], ["anything", None]),
        (Approximately(0.7, 0.1), [0.7, 0.8, 0.6], [0.8000001, 0.59, "0.7", True, None, [0.7], float("nan")]),
        (Approximately(200, None, 0.05), [190, 210, 200.0], [189.9, 211, float("inf")]),
        (Approximately(-200, 1, 0.05), [-190, -210], [-189, 190]),
        (Approximately(10, 3, 0.05), [7, 13], [6.9, 13.1]),
        (Approximately(0.1, 0), [0.1], [0.10000000000000002]),
        (Approximately(10**30, 1), [10**30 + 1, 10**30 - 1, 1e30], [10**30 + 2]),
        (DateEqual("2025-04-03"), ["3 April 2025", "20250403"], ["03/04/2025", "2025-04-04", 20250403, None]),
    ],
)  # fmt: skip
def test_what_each_matcher_admits(matcher, passes, fails):
    test = compile_matcher(matcher, STANDARD)
    assert [value for value in passes if test(value) is not True] == []
    assert [value for value in fails if test(value) is not False] == []


def test_criteria_in_words_are_left_to_a_judge():
    assert compile_matcher(NaturalLanguage("polite"), STANDARD)("anything") is None
    nested = Fields({"a": Exact(1), "note": NaturalLanguage("polite")})
    assert compile_matcher(nested, STANDARD)({"a": 1, "note": "please"}) is None
    assert compile_matcher(nested, STANDARD)({"a": 2, "note": "please"}) is False
    assert compile_matcher(Items((nested, Exact(1))), STANDARD)([{"a": 1, "note": ""}, 2]) is False
    assert compile_matcher(Items((nested,)), STANDARD)([{"a": 1, "note": ""}]) is None


def test_the_loose_profile_reads_numbers_in_text():
    assert compile_matcher(Range(5, 40), LOOSE)("12.5") is True
    assert compile_matcher(Range(5, 40), LOOSE)("twelve") is False
    assert compile_matcher(Exact("5"), LOOSE)(5.0) is True
    assert compile_matcher(OneOf((5,)), LOOSE)("5") is True
    assert compile_matcher(Approximately(5, 0.5), LOOSE)("5.5") is True
    assert compile_matcher(Approximately(5, 0.5), LOOSE)("5.6") is False


CALL = CallExpectation(
    "t",
    {"a": Exact("x"), "b": Range(1, 5), "c": Exact(1, optional=True), "d": Absent(), "e": NaturalLanguage("kind")},
    additional_arguments=False,
)


@pytest.mark.parametrize(
    ("arguments", "check"),
    [
        ({"a": "x", "b": 2, "e": 1}, ArgumentsCheck(unjudged=("e",))),
        ({"a": "y", "b": 2, "c": 1, "e": 1}, ArgumentsCheck(wrong=("a",), unjudged=("e",))),
        ({"a": 3, "b": "2", "c": None}, ArgumentsCheck(missing=("e",), misshapen=("a", "b", "c"))),
        ({"d": 1, "f": 1, "e": 1}, ArgumentsCheck(missing=("a", "b"), extra=("d", "f"), unjudged=("e",))),
    ],
)
def test_how_arguments_stand_to_what_is_expected(arguments, check):
    assert compile_call(CALL, STANDARD).check(arguments) == check


def test_free_arguments_are_free():
    open_call = compile_call(CallExpectation("t", {"a": Exact(1)}), STANDARD)
    assert open_call.check({"a": 1, "z": object()}) is ALL_MATCH
    assert open_call.check({"z": 1}) == ArgumentsCheck(missing=("a",))


def test_integers_and_floats_are_two_types_in_the_strict_profile_alone():
    call = CallExpectation("t", {"a": Exact(1)})
    assert compile_call(call, PROFILES["strict"]).check({"a": 1.0}) == ArgumentsCheck(misshapen=("a",))
    assert compile_call(call, STANDARD).check({"a": 2.0}) == ArgumentsCheck(wrong=("a",))
