"""A published confusion matrix of 300 calls, rebuilt from 300 predictions through the whole pipeline.

Source: "Tool selection accuracy: an agent eval pipeline", CallSphere, 2026. Its printed per-tool rates are rounded or
absent; those below were computed from the printed counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.runs.building import ORDER, call, silence, uploaded_run, version_of
from toolevals.grading.metrics.confusion import ConfusionMatrix

pytestmark = pytest.mark.django_db

NONE = "(none)"
CLASSES = ("get_order_status", "get_order_history", "get_shipping_eta", NONE)
# Rows are expected, columns actual, both in the order of CLASSES.
COUNTS = ((142, 18, 3, 1), (0, 47, 0, 0), (9, 1, 22, 0), (4, 2, 0, 51))
F1 = (0.8903, 0.8174, 0.7719, 0.9358)
TOOLS = [{"name": name, "description": name, "input_schema": ORDER} for name in CLASSES[:3]]


def cells() -> Iterator[tuple[str, str, str]]:
    """Yield an id, the expected and the actual class of every case."""
    for expected, row in zip(CLASSES, COUNTS, strict=True):
        for actual, count in zip(CLASSES, row, strict=True):
            for number in range(count):
                yield f"{expected}/{actual}/{number}", expected, actual


def row_of(name: str, expected: str) -> dict[str, Any]:
    """Return the example; only the tool is in question."""
    called = expected != NONE
    return {
        "id": name,
        "input": {"messages": [{"role": "user", "content": name}]},
        "tools": TOOLS,
        "expected_tool": expected if called else None,
        **({"expected_args": {"order_id": "ORD-1"}} if called else {}),
    }


def test_the_matrix_of_300_calls(project, run_jobs):
    version = version_of(project, [row_of(name, expected) for name, expected, _ in cells()])
    lines = [silence(name) if actual == NONE else call(name, actual) for name, _, actual in cells()]
    run = uploaded_run(project, version, lines)

    run_jobs()

    run.refresh_from_db()
    counts = {
        (row, column): count
        for row, column, count in run.grading.matrix_counts.filter(view="first").values_list(
            "expected", "actual", "count"
        )
    }
    matrix = ConfusionMatrix(counts)
    assert counts == {
        (expected, actual): count
        for expected, row in zip(CLASSES, COUNTS, strict=True)
        for actual, count in zip(CLASSES, row, strict=True)
        if count
    }
    assert matrix.total == 300
    assert matrix.accuracy == pytest.approx(0.8733, abs=5e-5)
    f1 = {metrics.name: metrics.f1 for metrics in matrix.per_class}
    assert [f1[name] for name in CLASSES] == pytest.approx(F1, abs=5e-5)
    assert matrix.macro_f1 == pytest.approx(0.8538, abs=5e-5)
    selection = run.grading.verdict_counts.filter(column="selection")
    assert dict(selection.values_list("value", "count")) == {"passed": 262, "failed": 38}
