"""Test why the leaderboard's checker and our grading differ: every reason, and one for each row on which they do."""

import json
from collections import Counter
from typing import Any

import pytest

from tests.grading.benchmark import SAMPLE, benchmark_rows, needs_benchmark
from toolevals.grading.dialects.bfcl_disagreements import bfcl_disagreement
from toolevals.grading.values.problems import InvalidDocument

FUNCTION = {
    "name": "geo.distance",
    "description": "Measures.",
    "parameters": {
        "type": "dict",
        "properties": {
            "to": {"type": "string"},
            "scale": {"type": "float"},
            "stops": {"type": "array", "items": {"type": "string"}},
            "area": {"type": "dict"},
        },
        "required": ["to"],
    },
}
ALLOWED: dict[str, Any] = {
    "to": ["Paris", "Lyon"],
    "scale": [1.0, ""],
    "stops": [["A", "B"], ""],
    "area": [{"of": ["City", ""], "km": [5]}, ""],
}


def row(*made: dict[str, Any], gold: tuple[dict[str, Any], ...] = (ALLOWED,), **changed: Any) -> dict[str, Any]:
    return {
        "id": "x",
        "category": "simple_python" if len(gold) == 1 else "parallel",
        "functions": [FUNCTION],
        "possible_answer": [{"geo.distance": allowed} for allowed in gold],
        "prediction": [{"geo.distance": arguments} for arguments in made],
        **changed,
    }


def why(given: dict[str, Any]) -> str | None:
    found = bfcl_disagreement(given)
    return None if found is None else found.name


EITHER, ONE = {"to": ["Paris", "Lyon"]}, {"to": ["Paris"]}
PARIS, LYON = {"to": "Paris"}, {"to": "Lyon"}


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (row(PARIS), None),
        (row({"to": "Nice"}), None),
        (row({}), None),
        (row(prediction="geo.distance()"), None),
        (row(prediction=[{"geo_distance": PARIS}], underscore_names=False), "values"),
        # Where the row does not say it, its calls tell.
        (row(prediction=[{"geo_distance": PARIS}]), None),
        (row(prediction=[{"geo_distance": PARIS}], underscore_names=True), None),
        (row({"to": "Paris", "stops": ["A", 1]}), None),
        (row({"to": "lyon", "stops": {"$tuple": ["a", "B"]}}), "values"),
        (row({"to": "Paris", "area": {"km": 5.0, "of": "city"}, "scale": 1}), None),
        # The first expected call takes the first call that will do, and leaves none for the second.
        (row(PARIS, LYON, gold=(EITHER, ONE)), "order"),
        (
            row(
                gold=(EITHER, ONE),
                prediction=[{"geo_distance": PARIS}, {"geo_distance": LYON}],
                underscore_names=False,
            ),
            "several",
        ),
        (row({"to": "Paris", "stops": {"$tuple": ["A"]}}, LYON, gold=({**EITHER, "stops": [["A"], ""]}, ONE)), None),
        (row(PARIS, gold=({**ONE, "scale": ["", 2.0]},)), None),
        (row({"to": "Paris", "speed": 2}, gold=({**ONE, "speed": ["", 2]},)), "never_full"),
        (row({"scale": 2.0, "to": 5}, gold=({"scale": [2.0], "to": [5]},)), "schema_error"),
        (row({"to": "Paris", "stops": []}), "wrong_value"),
    ],
)
def test_every_reason(given, reason):
    assert why(given) == reason


def test_what_is_not_a_row_is_refused():
    with pytest.raises(InvalidDocument):
        bfcl_disagreement({"id": "x"})


def test_the_sample_has_a_reason_wherever_they_differ():
    reasons = Counter(why(json.loads(line)) for line in SAMPLE.read_text("utf-8").splitlines())
    assert set(reasons) <= {None, "values", "schema_error", "wrong_value", "never_full"}
    assert reasons["values"]


@needs_benchmark
def test_the_reasons_of_six_thousand():
    reasons = Counter(why(each) for each in benchmark_rows("oracle.jsonl.gz"))
    assert reasons == {None: 5407, "values": 345, "schema_error": 239, "never_full": 6, "wrong_value": 3}
