"""Write examples as a LangSmith dataset: `inputs` for the agent, `outputs` expected of it, `metadata` for the rest.

Nothing is lost: `outputs.expectation` is the whole expectation, next to it the plain call where there is one.
"""

from __future__ import annotations

from collections.abc import Iterator

from labeling.exports.plain_calls import exact_call
from labeling.exports.selection import Outcome, Row, Selection, ToolLists
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.canonical import exact
from toolevals.json_types import JsonObject


def langsmith_lines(selection: Selection, outcome: Outcome) -> Iterator[bytes]:
    """Yield a line for every example; without gold it has no outputs."""
    tools = ToolLists()
    for row in selection.rows():
        outcome.written += 1
        yield f"{exact(_example(row, tools[row.tools]))}\n".encode()


def _example(row: Row, tools: tuple[ToolSpec, ...]) -> JsonObject:
    content = row.content
    inputs = {**content, "tools": [tool.to_document() for tool in tools]}
    metadata: JsonObject = {"external_id": row.external_id, **row.strata}
    if row.rationale:
        metadata["rationale"] = row.rationale
    if row.decided_by:
        metadata["decided_by"] = row.decided_by
    if row.gold_source:
        metadata["gold_source"] = row.gold_source
    return {"id": str(row.example), "inputs": inputs, "outputs": _outputs(row), "metadata": metadata}


def _outputs(row: Row) -> JsonObject:
    gold = row.gold
    if gold is None:
        return {}
    outputs: JsonObject = {"expectation": gold.to_document()}
    if call := exact_call(gold):
        outputs["tool_calls"] = [{"name": call.tool, "args": call.arguments}]
    return outputs
