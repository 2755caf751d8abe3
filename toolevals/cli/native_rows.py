"""Reads rows in the native format, an example and its prediction in one object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from toolevals.grading.reading.examples import ExampleRow, read_example
from toolevals.grading.reading.predictions import Prediction, read_prediction
from toolevals.grading.values import Expectation, ToolSpec, Transcript
from toolevals.grading.values.documents import schema
from toolevals.grading.values.problems import InvalidDocument

PREDICTION_KEYS = frozenset(schema("prediction")["properties"]) - {"id"}


@dataclass(frozen=True, slots=True)
class NativeRow:
    """One row. `transcript` is None where there is no prediction; `tools` is None where none are named."""

    id: str
    trial: int
    expectation: Expectation
    tools: list[ToolSpec] | str | None
    transcript: Transcript | None
    prediction: dict[str, Any]


def native_row(row: Any) -> NativeRow:
    """Read a row. Raises InvalidDocument."""
    asked, made = parted(row)
    example = read_example(asked)
    expectation = gold_of(example)
    read = prediction_of(row, made, None, is_json=False, tools=example.tools)
    transcript = None if read is None else read.transcript
    return NativeRow(example.external_id, made.get("trial", 0), expectation, example.tools, transcript, made)


def parted(row: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what a row says of its example and what it says of the prediction. Raises InvalidDocument."""
    if not isinstance(row, dict):
        raise InvalidDocument.at("", "is not an object")
    asked: dict[str, Any] = {}
    made: dict[str, Any] = {}
    for key, value in row.items():
        (made if key in PREDICTION_KEYS else asked)[key] = value
    return asked, made


def gold_of(example: ExampleRow) -> Expectation:
    """Return what an example expects. Raises InvalidDocument where it expects nothing."""
    if example.expectation is None:
        raise InvalidDocument.at("", "has neither expected_tool nor expectation: it cannot be graded")
    return example.expectation


def prediction_of(
    row: dict[str, Any],
    made: dict[str, Any],
    message_format: str | None,
    *,
    is_json: bool,
    tools: Sequence[ToolSpec] | str | None = None,
) -> Prediction | None:
    """Read what a row says of its prediction, `made`; None where there is none. Raises InvalidDocument.

    `message_format` is the form of its messages, None for any; `is_json` is as for `read_prediction`.
    `tools` are those of the example, where the row itself holds them.
    """
    if not made.keys() - {"trial"}:
        return None
    offered = None if isinstance(tools, str) else tools
    return read_prediction({"id": row["id"], **made}, message_format=message_format, is_json=is_json, tools=offered)
