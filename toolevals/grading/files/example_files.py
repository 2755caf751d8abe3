"""Lists the formats of examples that only an importer reads: what each is called, and what tells it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple

TITLES: Final[Mapping[str, str]] = {
    "jsonl": "JSON Lines",
    "csv": "CSV",
    "openai_chat": "OpenAI chat messages",
    "openai_evals": "OpenAI Evals",
    "langsmith": "LangSmith dataset, JSON Lines",
    "langsmith_csv": "LangSmith dataset, CSV",
    "bfcl": "Berkeley Function-Calling Leaderboard",
    "tau": "tau-bench, recorded runs",
    "tau2": "tau2-bench, recorded runs or tasks",
}
# Keys that one line of a format has, with the reason; the first that fits counts.
_LINES: Final[tuple[tuple[str, frozenset[str], str], ...]] = (
    ("bfcl", frozenset({"question_row"}), "lines have question_row"),
    ("openai_evals", frozenset({"input", "ideal"}), "lines have input and ideal"),
    ("openai_chat", frozenset({"messages"}), "lines have messages"),
)
_TABLE_KEYS: Final = ("inputs", "outputs")


class ExampleFormat(NamedTuple):
    """The name of a format, and why it is this one."""

    name: str
    evidence: str


def line_format(first: Mapping[str, Any]) -> ExampleFormat | None:
    """Return the format whose lines are like the first one; None where it is of none."""
    if "run_type" in first:
        # A run of LangSmith, which may hold any of the keys below.
        return None
    given = first.get("input")
    if "id" in first and isinstance(given, Mapping) and isinstance(given.get("messages"), list):
        return ExampleFormat("jsonl", "lines have id and input with messages")
    if isinstance(first.get("inputs"), Mapping):
        return ExampleFormat("langsmith", "lines have inputs")
    return next((ExampleFormat(name, why) for name, keys, why in _LINES if keys <= first.keys()), None)


def recorded_format(document: Any) -> ExampleFormat | None:
    """Return the benchmark whose recorded runs or tasks a document holds; None where it holds none."""
    if isinstance(document, Mapping) and "simulations" in document and "tasks" in document:
        return ExampleFormat("tau2", "has tasks and simulations")
    items = document.get("records") if isinstance(document, Mapping) else document
    first = items[0] if isinstance(items, list) and items else None
    if isinstance(first, Mapping) and "traj" in first and "task_id" in first:
        return ExampleFormat("tau", "records have task_id and traj")
    if isinstance(first, Mapping) and "user_scenario" in first:
        return ExampleFormat("tau2", "tasks have user_scenario")
    return None


def table_format(columns: Collection[str]) -> ExampleFormat | None:
    """Return the format of a table with these columns; None where there are too few for a table."""
    if any(column.strip().split(".")[0] in _TABLE_KEYS for column in columns):
        return ExampleFormat("langsmith_csv", "its columns are inputs and outputs")
    return ExampleFormat("csv", f"a table of {len(columns)} columns") if len(columns) > 1 else None
