"""Tell what the sample project holds, read from the files in `data/`; nothing in them is a result.

Tools and examples are in the product's own formats, so that the same files can be imported by hand.
"""

from __future__ import annotations

import gzip
import lzma
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from toolevals.agents.code import files_in
from toolevals.grading.reading.examples import ExampleRow, read_example
from toolevals.grading.values.canonical import parse
from toolevals.json_types import JsonObject

DATA = Path(__file__).parent / "data"
# What follows the first clause of a description, and its sentences that say what the tool is not for.
_AFTER_FIRST: Final = re.compile(r"(: |\. ).*$", re.DOTALL)
_NOT_FOR: Final = re.compile(r" (?:Not |Dear, and )[^.]*\.")
_UNPACK: Final = {".gz": gzip.decompress, ".xz": lzma.decompress}


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judgement of one person on one example: a reviewer's label, or the adjudicator's decision."""

    external_id: str
    expectation: JsonObject
    rationale: str
    # How long it took.
    seconds: float


def guideline() -> str:
    """Return what reviewers read next to an example."""
    return (DATA / "guideline.txt").read_text(encoding="utf-8")


def tools(wording: Literal["before", "after"]) -> Any:
    """Return the twelve tools with their descriptions before or after the rewrite: a document in the native format."""
    return parse(_content(f"tools_{wording}.json.gz"))


def shortened_tools(*, repaired: bool) -> Any:
    """Return the rewritten tools with shorter descriptions: the first clause alone, or what they are for."""
    document = tools("after")
    pattern = _NOT_FOR if repaired else _AFTER_FIRST
    for tool in document["tools"]:
        tool["description"] = pattern.sub("", tool["description"])
    return document


def recorded(name: str) -> bytes:
    """Return a result file of recorded runs; `airline_LICENSE.txt` says where it is from."""
    return _content(f"airline_{name}.json.xz")


def simulator() -> dict[str, str]:
    """Return the code of the shop behind the tools, by file name."""
    return files_in(DATA / "simulator")


def examples() -> list[ExampleRow]:
    """Return the examples, in the order in which they are labelled."""
    return [read_example(row) for row in _rows("examples.jsonl.gz")]


def labels(reviewer: str) -> dict[str, Judgement]:
    """Return the labels of the reviewer with this key, by external id."""
    return _by_id(row for row in _rows("labels.jsonl.gz") if row["reviewer"] == reviewer)


def decisions() -> dict[str, Judgement]:
    """Return the adjudicator's decisions, by external id."""
    return _by_id(_rows("decisions.jsonl"))


def _by_id(rows: Iterator[JsonObject]) -> dict[str, Judgement]:
    return {row["id"]: Judgement(row["id"], row["expectation"], row["rationale"], row["seconds"]) for row in rows}


def _rows(name: str) -> Iterator[JsonObject]:
    yield from map(parse, _content(name).splitlines())


def _content(name: str) -> bytes:
    """Return what a file holds; the large ones are packed, so that the wheel stays small."""
    content = (DATA / name).read_bytes()
    unpack = _UNPACK.get(Path(name).suffix)
    return unpack(content) if unpack else content
