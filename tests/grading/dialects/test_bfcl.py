import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given as drawn

from tests.grading.benchmark import SAMPLE, benchmark_rows, needs_benchmark
from tests.grading.strategies import json_values
from toolevals.grading.dialects.bfcl import CATEGORIES, check_row
from toolevals.grading.values.problems import InvalidDocument


def sample() -> list[dict[str, Any]]:
    return [json.loads(line) for line in SAMPLE.read_text("utf-8").splitlines()]


def given(row: dict[str, Any]) -> tuple[Any, Any]:
    return row["valid"], row["error_type"]


def ours(row: dict[str, Any]) -> tuple[Any, Any]:
    verdict = check_row(row)
    return verdict.valid, verdict.error_type


def test_the_sample_has_every_category_and_both_verdicts():
    rows = sample()
    assert {row["category"] for row in rows} == set(CATEGORIES)
    assert Counter(row["valid"] for row in rows).keys() == {True, False}
    assert len({row["error_type"] for row in rows}) == 18


def test_every_verdict_of_the_sample_is_reproduced():
    assert [(row["id"], *ours(row)) for row in sample()] == [(row["id"], *given(row)) for row in sample()]


@needs_benchmark
def test_every_verdict_of_six_thousand_is_reproduced():
    rows = list(benchmark_rows("oracle.jsonl.gz"))
    assert [row["id"] for row in rows if ours(row) != given(row)] == []
    assert len(rows) == 6000


@needs_benchmark
def test_every_edge_case_that_the_checker_knows_is_reproduced():
    rows = [row for row in benchmark_rows("edge_cases.jsonl") if row["model_known"]]
    assert [row["id"] for row in rows if ours(row) != given(row)] == []
    assert len(rows) == 84


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"id": 3}, "/id"),
        ({"functions": None}, "/functions"),
        ({"category": "irrelevance"}, "/category"),
        ({"possible_answer": {}}, "/possible_answer"),
    ],
)
def test_a_row_of_another_form_is_refused(change, pointer):
    with pytest.raises(InvalidDocument) as caught:
        check_row({**sample()[0], **change})
    assert caught.value.problems[0].pointer == pointer
    with pytest.raises(InvalidDocument):
        check_row([])


@pytest.mark.parametrize("prediction", [None, {}, "f(a=1)", [1], [{"f": {}, "g": {}}], [{"f": [1]}]])
def test_what_is_no_list_of_calls_is_the_decoders_error(prediction):
    assert check_row({**sample()[0], "prediction": prediction}).error_type == "ast_decoder:decoder_wrong_output_format"


def fresh() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    head, *entries = gzip.decompress((Path(__file__).parent / "data" / "bfcl.jsonl.gz").read_bytes()).splitlines()
    return json.loads(head), [json.loads(entry) for entry in entries]


def test_fresh_mutations_have_the_leaderboards_own_verdict():
    head, entries = fresh()
    assert head == {"package": "bfcl-eval", "version": "2026.3.23"}
    different, seen = [], Counter[str | None]()
    for entry in entries:
        for prediction, error_type in entry["predictions"]:
            seen[error_type] += 1
            if check_row({"id": "x", **entry, "prediction": prediction}).error_type != error_type:
                different.append((entry["possible_answer"], prediction, error_type))
    assert different == []
    assert seen.total() > 2000
    assert len(seen) > 14


@drawn(json_values, json_values, json_values)
def test_no_json_makes_a_row_crash(functions, possible_answer, prediction):
    row = {"id": "x", "category": "parallel", "functions": [functions], "possible_answer": [possible_answer]}
    assert check_row({**row, "prediction": prediction}).valid in (True, False)
    assert check_row({**row, "prediction": [{"f": {"$tuple": prediction}}]}).valid is False
