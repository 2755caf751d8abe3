"""Read OpenAI Evals: `{"input": [messages] or text, "ideal": one answer or a list of which any will do}`.

Source: https://github.com/openai/evals (docs/build-eval.md).
"""

from __future__ import annotations

from typing import Any

from labeling.imports.parts import Settings
from toolevals.grading.files.evaluation_files.entries import (
    WORDS_ONLY,
    entry,
    external_id,
    ideal_expectation,
    messages_at,
    tools_at,
)
from toolevals.grading.reading.examples import ExampleRow
from toolevals.grading.values.problems import Problem


def openai_evals_row(value: Any, settings: Settings) -> ExampleRow:
    """Return one sample as an example; without `ideal` it is still to be labelled. Raises InvalidDocument.

    An ideal that is a call, as JSON or as text of one, is the expected call. Other text is expected in the answer.
    """
    row = entry(value)
    given = row.get("input")
    messages = [{"role": "user", "content": given}] if isinstance(given, str) else messages_at(given, "/input")
    tools, losses = tools_at(row, "tools")
    content = {"messages": messages}
    expectation, words = (None, False) if row.get("ideal") in (None, "", []) else ideal_expectation(row["ideal"])
    return ExampleRow(
        external_id=external_id(row.get("id"), "eval", [content, row.get("tools")]),
        input=content,
        tools=tools,
        expectation=expectation,
        losses=(*losses, Problem("/ideal", WORDS_ONLY)) if words else losses,
    )
