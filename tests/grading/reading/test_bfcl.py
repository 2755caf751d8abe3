"""The leaderboard's entries as examples: what is right there is right here."""

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from tests.grading.benchmark import benchmark_rows, needs_benchmark
from toolevals.grading.engine.grading import compile_case, grade
from toolevals.grading.reading.bfcl import CATEGORIES, bfcl_example, bfcl_matcher
from toolevals.grading.values import Message, ToolCall, Transcript
from toolevals.grading.values.matchers import Absent, Exact, Fields, Items, OneOf
from toolevals.grading.values.problems import InvalidDocument

QUESTION = {
    "id": "multiple_7",
    "question": [[{"role": "user", "content": "How far is it?"}]],
    "function": [
        {
            "name": "geo.distance",
            "description": "Measures.",
            "parameters": {
                "type": "dict",
                "properties": {"to": {"type": "string"}, "scale": {"type": "float"}},
                "required": ["to"],
            },
        }
    ],
}
ANSWER = {"id": "multiple_7", "ground_truth": [{"geo.distance": {"to": ["Paris", "Paris, FR"], "scale": [1.0, ""]}}]}

# Where the gold of the leaderboard breaks the schema of its own function: our schema gate fails a right answer there.
ENUM, TYPE, REQUIRED = "a value that the enum lacks", "a value of another type", "a required parameter left out"
GOLD_BREAKS_ITS_SCHEMA = {
    "simple_python_200": REQUIRED,
    "live_multiple_87-38-4": ENUM,
    "live_multiple_144-56-0": REQUIRED,
    "live_multiple_152-58-6": ENUM,
    "live_multiple_507-149-4": REQUIRED,
    "live_multiple_552-153-1": TYPE,
    "live_multiple_595-158-1": TYPE,
    "live_multiple_596-158-2": TYPE,
    "live_multiple_731-167-2": TYPE,
    "live_multiple_733-167-4": TYPE,
    "live_multiple_735-167-6": TYPE,
    "live_multiple_750-169-5": ENUM,
    "live_multiple_756-169-11": ENUM,
    "live_multiple_834-178-9": REQUIRED,
    "live_multiple_835-178-10": ENUM,
    "live_multiple_871-182-8": ENUM,
    "live_multiple_947-197-0": ENUM,
    "live_multiple_964-207-0": REQUIRED,
    "live_multiple_1038-265-0": TYPE,
    "live_multiple_1041-268-0": TYPE,
    "live_simple_71-35-0": ENUM,
    "parallel_multiple_21": TYPE,
    "parallel_multiple_94": TYPE,
    "live_parallel_multiple_2-2-0": ENUM,
}
PYTHON = tuple(name for name in CATEGORIES if "java" not in name and "relevance" not in name)


def first_allowed(value: Any) -> Any:
    """The value that the first allowed ones of a nested gold make."""
    if isinstance(value, dict):
        chosen = {key: items[0] if isinstance(items, list) else items for key, items in value.items()}
        return {key: first_allowed(item) for key, item in chosen.items() if item != ""}
    return [first_allowed(item) for item in value] if isinstance(value, list) else value


def right_calls(answer: dict[str, Any]) -> Iterator[ToolCall]:
    for call in answer["ground_truth"]:
        for name, parameters in call.items():
            values = {key: first_allowed(allowed[0]) if allowed else [] for key, allowed in parameters.items()}
            yield ToolCall(name, {key: value for key, value in values.items() if value != ""})


def answered(calls: Iterable[ToolCall]) -> Transcript:
    return Transcript((Message("assistant", calls=tuple(calls)),))


def entries(category: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    answers = {row["id"]: row for row in benchmark_rows(f"possible_answer/BFCL_v4_{category}.json")}
    return [(row, answers[row["id"]]) for row in benchmark_rows(f"BFCL_v4_{category}.json")]


@needs_benchmark
@pytest.mark.parametrize("category", PYTHON)
def test_a_right_answer_passes_unless_the_gold_breaks_its_own_schema(category):
    failed = {}
    for question, answer in entries(category):
        example = bfcl_example(question, answer, category)
        assert example.expectation is not None
        assert isinstance(example.tools, list)
        result = grade(compile_case(example.expectation, example.tools), answered(right_calls(answer)))
        if result.outcome.status != "passed":
            failed[example.external_id] = result.mode
    known = {name for name in GOLD_BREAKS_ITS_SCHEMA if name.rpartition("_")[0] == category}
    assert failed == dict.fromkeys(known, "schema_error")


@needs_benchmark
def test_every_entry_of_every_category_is_read():
    count = 0
    for category in CATEGORIES:
        answers = {}
        if "relevance" not in category:
            answers = {row["id"]: row for row in benchmark_rows(f"possible_answer/BFCL_v4_{category}.json")}
        for question in benchmark_rows(f"BFCL_v4_{category}.json"):
            example = bfcl_example(question, answers.get(question["id"]), category)
            assert example.external_id == question["id"]
            count += 1
    assert count == 3641


def test_an_entry_becomes_an_example():
    example = bfcl_example(QUESTION, ANSWER, "multiple")
    assert example.external_id == "multiple_7"
    assert example.input == {"messages": [{"role": "user", "content": "How far is it?"}]}
    assert example.strata == {"bucket": "selection", "category": "multiple"}
    assert example.expectation is not None
    assert example.expectation.profile == "bfcl"
    (trajectory,) = example.expectation.alternatives
    (call,) = trajectory.calls
    assert (call.tool, trajectory.additional_calls, call.additional_arguments) == ("geo.distance", False, False)
    assert call.arguments == {"to": OneOf(("Paris", "Paris, FR")), "scale": Exact(1.0, optional=True)}
    assert isinstance(example.tools, list)
    assert example.tools[0].input_schema["properties"]["scale"] == {"type": "number"}


@pytest.mark.parametrize(
    ("name", "arguments", "passes"),
    [
        ("geo.distance", {"to": "paris"}, True),
        ("geo_distance", {"to": "Paris FR", "scale": 1}, True),
        ("geo.distance", {"to": "London"}, False),
        ("geo.distance", {"to": "Paris", "scale": 2}, False),
        ("geo.distance", {"scale": 1.0}, False),
        ("geo.distance", {"to": "Paris", "unit": "km"}, False),
    ],
)
def test_answers_are_graded_by_allowed_values(name, arguments, passes):
    example = bfcl_example(QUESTION, ANSWER, "multiple")
    assert example.expectation is not None
    assert isinstance(example.tools, list)
    result = grade(compile_case(example.expectation, example.tools), answered([ToolCall(name, arguments)]))
    assert (result.outcome.status == "passed") is passes
    assert (result.expected, result.actual) == ("geo.distance", "geo.distance")


def test_irrelevance_and_relevance_need_no_answer():
    for category in ("irrelevance", "live_irrelevance"):
        example = bfcl_example(QUESTION, None, category)
        assert example.expectation is not None
        assert example.expectation.kind == "no_call"
        assert example.strata == {"bucket": "no_call", "category": category}
    relevant = bfcl_example(QUESTION, None, "live_relevance").expectation
    assert relevant is not None
    assert relevant.kind == "some_call"


@pytest.mark.parametrize(
    ("allowed", "matcher"),
    [
        (["a"], Exact("a")),
        (["a", "b"], OneOf(("a", "b"))),
        ([5, ""], Exact(5, optional=True)),
        (["a", ""], OneOf(("a", ""), optional=True)),
        ([""], Absent()),
        ([], Exact([], optional=True)),
        ([None, ""], Exact(None, optional=True)),
        ([[1, 2]], Exact([1, 2])),
        ([{"k": ["x", "y"], "o": [1, ""]}], Fields({"k": OneOf(("x", "y")), "o": Exact(1, optional=True)})),
        (["", {}], Fields({}, optional=True)),
        ([[{"k": ["x"]}, {"k": ["y"]}]], Items((Fields({"k": Exact("x")}), Fields({"k": Exact("y")})))),
        ([{"k": ["x", "y"]}, {"n": [1, ""]}], OneOf(({"k": "x"}, {"k": "y"}, {"n": 1}, {}))),
    ],
)
def test_allowed_values_become_matchers(allowed, matcher):
    assert bfcl_matcher(allowed) == matcher


@pytest.mark.parametrize(
    ("question", "answer", "category", "pointer"),
    [
        (QUESTION, ANSWER, "exec_simple", ""),
        ([], ANSWER, "multiple", ""),
        (QUESTION, None, "multiple", ""),
        ({**QUESTION, "id": 7}, ANSWER, "multiple", "/id"),
        ({**QUESTION, "question": [["hello"]]}, ANSWER, "multiple", "/question/0/0"),
        (
            {**QUESTION, "function": [{"name": "f", "parameters": {"type": "dict", "properties": 3}}]},
            ANSWER,
            "multiple",
            "/function/0/parameters/properties",
        ),
        (QUESTION, {"ground_truth": [{}]}, "multiple", "/ground_truth/0"),
        (QUESTION, {"ground_truth": [{"f": []}]}, "multiple", "/ground_truth/0/f"),
        (QUESTION, {"ground_truth": [{"f": {"a": "x"}}]}, "multiple", "/ground_truth/0/f/a"),
    ],
)
def test_an_entry_of_another_form_is_refused(question, answer, category, pointer):
    with pytest.raises(InvalidDocument) as caught:
        bfcl_example(question, answer, category)
    assert caught.value.problems[0].pointer == pointer
