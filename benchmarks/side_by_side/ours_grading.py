"""Makes this project's card of an answer: of an entry that is graded once, and of one compiled before."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

VERSION = "this checkout"


def steps(_: Path) -> Mapping[str, Callable[..., Any]]:
    """Return `load`, and steps that return how many answers passed."""
    from toolevals.grading.engine.grading import CompiledCase, compile_case, grade_calls
    from toolevals.grading.reading.bfcl import bfcl_example
    from toolevals.grading.reading.parsing import call_in

    examples: list[Any] = []
    sent: dict[str, list[Any]] = {}
    compiled: list[CompiledCase] = []

    def load(path: str) -> int:
        rows = [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]
        for row in rows:
            question = {"id": "entry", "question": [], "function": row["functions"]}
            examples.append(bfcl_example(question, {"ground_truth": row["gold"]}, row["category"]))
        compiled.extend(compile_case(each.expectation, each.tools) for each in examples)
        sent.update({answer: [row[answer] for row in rows] for answer in ("right", "wrong")})
        return len(rows)

    def passed(case: CompiledCase, calls: list[Any]) -> bool:
        return grade_calls(case, [call_in(call) for call in calls]).statuses["outcome"] == "passed"

    def before(answer: str) -> int:
        return sum(passed(case, calls) for case, calls in zip(compiled, sent[answer], strict=True))

    def once(answer: str) -> int:
        pairs = zip(examples, sent[answer], strict=True)
        return sum(passed(compile_case(each.expectation, each.tools), calls) for each, calls in pairs)

    return {
        "load": load,
        "right": lambda: before("right"),
        "wrong": lambda: before("wrong"),
        "right_once": lambda: once("right"),
        "wrong_once": lambda: once("wrong"),
    }
