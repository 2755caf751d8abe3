from typing import Any

import pytest

from toolevals.grading.engine.grading import compile_case, first_expected_class
from toolevals.grading.values import Expectation, ToolSpec

OFFERED = [ToolSpec("Get-Order", "", {}), ToolSpec("pay", "", {})]


def calls(*tools: str, **more: Any) -> dict[str, Any]:
    ordered = [{"tool": tool, "arguments": {}} for tool in tools]
    return {"kind": "calls", "alternatives": [{"ordered": ordered, **more}]}


@pytest.mark.parametrize(
    ("expected", "due"),
    [
        (calls("pay", "refund"), "pay"),
        # By the offered tool's own name.
        (calls("Get-Order"), "Get-Order"),
        (calls("refund"), "refund"),
        ({"kind": "no_call"}, "(none)"),
        ({"kind": "some_call"}, ""),
    ],
)
def test_the_class_that_an_unscored_case_is_counted_under(expected, due):
    assert first_expected_class(compile_case(Expectation.from_document(expected), OFFERED)) == due
