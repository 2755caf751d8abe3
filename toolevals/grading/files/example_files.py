"""Lists the formats of examples that only an importer reads: what each is called, and what tells it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple

from toolevals.grading.values.documents import schema

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
# Keys of an example of LangSmith; an object under `inputs` alone is a span of many other tools too.
_LANGSMITH: Final = frozenset((
    "id", "inputs", "outputs", "metadata", "created_at", "modified_at", "dataset_id", "source_run_id", "runs", "name",
    "attachments", "attachment_urls", "split",
))  # fmt: skip
_NATIVE: Final = frozenset(schema("example")["properties"])
_TABLE_KEYS: Final = ("inputs", "outputs")
# The keys that make a line of each format, for those whose file nearly is one.
LINE_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "jsonl": ("id", "input"),
    "openai_chat": ("messages",),
    "openai_evals": ("input", "ideal"),
    "langsmith": ("inputs", "outputs"),
    "bfcl": ("question_row", "answer_row", "category"),
    "tau": ("task_id", "traj"),
    "tau2": ("user_scenario", "evaluation_criteria"),
}


class ExampleFormat(NamedTuple):
    """The name of a format, and why it is this one."""

    name: str
    evidence: str


def line_format(first: object) -> ExampleFormat | None:
    """Return the format whose lines are like the first one; None where it is of none.

    What makes a format is all of its own keys together: a key that another tool uses too makes none.
    """
    if not isinstance(first, Mapping):
        return None
    given = first.get("input")
    if (
        first.keys() <= _NATIVE
        and "id" in first
        and isinstance(given, Mapping)
        and isinstance(given.get("messages"), list)
    ):
        return ExampleFormat("jsonl", "lines have id and input with messages")
    if isinstance(first.get("inputs"), Mapping) and first.keys() <= _LANGSMITH:
        return ExampleFormat("langsmith", f"lines have inputs{' and outputs' * ('outputs' in first)}")
    if isinstance(first.get("question_row"), Mapping) and "category" in first:
        return ExampleFormat("bfcl", "lines have question_row and category")
    if isinstance(given, list | str) and "ideal" in first:
        return ExampleFormat("openai_evals", "lines have input and ideal")
    messages = first.get("messages")
    message = messages[0] if isinstance(messages, list) and messages else None
    if isinstance(message, Mapping) and isinstance(message.get("role"), str) and not first.keys() & _OTHERS:
        return ExampleFormat("openai_chat", "lines have messages, each with a role")
    return None


# Keys next to messages that say that a line is something else: a run, a trace, a prediction, a trajectory.
_OTHERS: Final = frozenset((
    "run_type", "trace_id", "simulations", "resourceSpans", "steps", "traj", "transcript", "rewards", "target",
    "choices", "eval", "prompt", "completion", "conversations",
))  # fmt: skip


def first_entry(document: object) -> Any:
    """Return the first entry of a list; any other document itself."""
    return document[0] if isinstance(document, list) and document else document


def recorded_format(document: object) -> ExampleFormat | None:
    """Return the benchmark whose recorded runs or tasks a document holds; None where it holds none."""
    if isinstance(document, Mapping) and "simulations" in document and "tasks" in document:
        return ExampleFormat("tau2", "has tasks and simulations")
    items = document.get("records") if isinstance(document, Mapping) else document
    first = items[0] if isinstance(items, list) and items else None
    if isinstance(first, Mapping) and "traj" in first and "task_id" in first:
        return ExampleFormat("tau", "records have task_id and traj")
    task = first if first is not None or isinstance(document, list) else document
    if isinstance(task, Mapping) and "id" in task and "user_scenario" in task:
        return ExampleFormat("tau2", "tasks have id and user_scenario")
    return None


def table_format(columns: Collection[str]) -> ExampleFormat | None:
    """Return the format of a table with these columns; None where there are too few for a table."""
    if set(_TABLE_KEYS) <= {column.strip().split(".")[0] for column in columns}:
        return ExampleFormat("langsmith_csv", "its columns are inputs and outputs")
    return ExampleFormat("csv", f"a table of {len(columns)} columns") if len(columns) > 1 else None
