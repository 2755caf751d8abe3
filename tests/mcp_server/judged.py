"""The requests of docs/examples/mcp, answered by the built-in baseline with the tools that our own MCP server lists.

`python -m tests.mcp_server.judged` writes the tools, the answers and the table of docs/mcp.md anew.
"""

from __future__ import annotations

import gzip
import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from toolevals.grading.metrics.rates import wilson
from toolevals.grading.values import ToolSpec
from toolevals.presentation.numbers import percent, span

DOCS = Path(__file__).parents[2] / "docs"
FOLDER = DOCS / "examples" / "mcp"
PAGE = DOCS / "mcp.md"
BEGIN, END = "<!-- the table begins -->", "<!-- the table ends -->"
NO_CALL = "(none)"


def listed_tools() -> list[dict[str, Any]]:
    """Return the tools as the server lists them."""
    from toolevals.mcp_server.server import described_tools

    return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in described_tools()]


def specs() -> list[ToolSpec]:
    """Return the same tools as the baseline reads them."""
    from toolevals.mcp_server.tools import TOOLS

    return [tool.spec for tool in TOOLS]


def lines(name: str) -> list[dict[str, Any]]:
    """Return the rows of a file of the folder; the requests are packed."""
    content = (FOLDER / name).read_bytes()
    text = gzip.decompress(content) if name.endswith(".gz") else content
    return [json.loads(line) for line in text.splitlines()]


def answers(tools: Sequence[ToolSpec]) -> list[dict[str, Any]]:
    """Return the predictions of the baseline, given these tools."""
    from toolevals.runs.baseline import BaselineOptions, respond

    found = []
    for row in lines("requests.jsonl.gz"):
        said = respond(row["input"], tools, BaselineOptions())
        calls = [call.to_document() for call in said.messages[0].calls]
        found.append({"id": row["id"], **({"tool_calls": calls} if calls else {"answer": said.answer})})
    return found


def graded_rows(tools: Sequence[ToolSpec], said: Iterable[dict[str, Any]]) -> str:
    """Return the requests with answers and tools, as `toolevals gate` takes them."""
    offered = [{"name": t.name, "description": t.description, "input_schema": t.input_schema} for t in tools]
    both = zip(lines("requests.jsonl.gz"), said, strict=True)
    return "".join(json.dumps({**row, "tools": offered, **answer}) + "\n" for row, answer in both)


def expected_tool(row: dict[str, Any]) -> str:
    """Return the tool that a request expects."""
    calls = row["expectation"].get("alternatives")
    return str(calls[0]["ordered"][0]["tool"]) if calls else NO_CALL


def table() -> str:
    """Return the matrix of the answers that are kept, a row for each tool, and the rates of both halves below."""
    rows = lines("requests.jsonl.gz")
    called = [
        str(each["tool_calls"][0]["name"]) if "tool_calls" in each else NO_CALL for each in lines("answers.jsonl")
    ]
    cells = Counter(zip(map(expected_tool, rows), called, strict=True))
    said = ["| expected | requests | right | called instead |", "| --- | --- | --- | --- |"]
    for name in [*(tool.name for tool in specs()), NO_CALL]:
        counts = {other: number for (expected, other), number in sorted(cells.items()) if expected == name}
        total, right = sum(counts.values()), counts.pop(name, 0)
        others = ", ".join(f"`{other}` {number}" for other, number in counts.items())
        said.append(f"| `{name}` | {total} | {right} | {others} |".replace("  |", " |"))
    halves = {"all requests": "", "those by which descriptions were mended": "tuning", "held out": "held-out"}
    said += ["", "| requests | right | % (95 %) |", "| --- | --- | --- |"]
    for words, half in halves.items():
        hits = [
            expected_tool(row) == other
            for row, other in zip(rows, called, strict=True)
            if half in ("", row["strata"]["category"])
        ]
        known = wilson(sum(hits), len(hits))
        rate = f"{percent(sum(hits) / len(hits))} ({span(known.low, known.high)})"
        said.append(f"| {words} | {sum(hits)} of {len(hits)} | {rate} |")
    return "\n".join(said)


def _packed(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def main() -> None:
    """Write the tools, the answers and the table."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    import django

    django.setup()
    # A tool a line, and no spaces: every install holds the documents.
    tools = ",\n".join(map(_packed, listed_tools()))
    (FOLDER / "tools.json").write_text(f'{{"tools":[\n{tools}\n]}}\n')
    (FOLDER / "answers.jsonl").write_text("".join(f"{_packed(each)}\n" for each in answers(specs())))
    before, rest = PAGE.read_text().split(BEGIN)
    _, after = rest.split(END)
    PAGE.write_text(f"{before}{BEGIN}\n{table()}\n{END}{after}")


if __name__ == "__main__":
    main()
