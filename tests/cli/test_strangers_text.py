import json
from pathlib import Path

import pytest

from toolevals.cli.grade_rows import native_row
from toolevals.grading.engine.grading import compile_case, grade

INPUTS = Path(__file__).parent.parent / "grading" / "reading" / "parsing" / "strangers"


@pytest.mark.parametrize("name", ["reasoning_in_text", "code_is_no_call", "raw_call_tokens", "unseen_characters"])
def test_a_strangers_text_has_the_outcome_that_is_right(name):
    outcomes = {}
    for line in (INPUTS / f"{name}.jsonl").read_text("utf-8").splitlines():
        row = native_row(json.loads(line))
        assert isinstance(row.tools, list)
        graded = grade(compile_case(row.expectation, row.tools), row.transcript)
        outcomes[row.id] = graded.verdicts["outcome"].status
    assert outcomes == json.loads((INPUTS / f"{name}.expected.json").read_text("utf-8"))
