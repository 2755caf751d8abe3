"""Read tables: the contents of each column of a CSV file, found by name or given by a person, and rows as examples."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from labeling.imports.parts import Settings
from toolevals.grading.files.evaluation_files.entries import external_id
from toolevals.grading.reading.examples import STRATA, ExampleRow, read_example
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument, Problem, pointer_to
from toolevals.json_types import JsonObject

ARGUMENT, STRATUM = "argument:", "stratum:"
NO_CALL, SOME_CALL = "(none)", "(any)"
# What a column can hold, with words for people. Besides: `argument:NAME`.
TARGETS: dict[str, str] = {
    "id": "id of the example",
    "user": "the user’s words",
    "system": "the system’s words",
    "messages": "messages, as JSON",
    "context": "context, as JSON",
    "tools": "tools: a registry’s name, or JSON",
    "tool": "expected tool",
    "arguments": "expected arguments, as JSON",
    "expectation": "whole expectation, as JSON",
    "rationale": "rationale",
    "decided_by": "what decides the case",
    **{f"{STRATUM}{name}": f"stratum: {name.replace('_', ' ')}" for name in STRATA},
}
_NAMES = {
    "id": "id", "external_id": "id", "case": "id", "case_id": "id", "key": "id",
    "user": "user", "question": "user", "input": "user", "prompt": "user", "query": "user", "text": "user",
    "utterance": "user", "user_message": "user", "user_text": "user",
    "system": "system", "system_prompt": "system",
    "messages": "messages", "conversation": "messages", "context": "context",
    "tools": "tools", "registry": "tools",
    "tool": "tool", "expected_tool": "tool", "function": "tool", "expected_function": "tool", "tool_name": "tool",
    "arguments": "arguments", "args": "arguments", "expected_args": "arguments", "expected_arguments": "arguments",
    "parameters": "arguments", "expectation": "expectation",
    "rationale": "rationale", "reason": "rationale", "why": "rationale", "notes": "rationale", "comment": "rationale",
    "decided_by": "decided_by",
}  # fmt: skip
_ARGUMENT_NAME = re.compile(
    r"(?:arg|args|argument|arguments|parameter|expected_args)[.:_\[ ]+(?P<name>[^\]]+)\]?", re.IGNORECASE
)
# Where in the document of a row a target stands.
_POINTERS = {
    "/id": "id", "/input/messages": "messages", "/input/context": "context", "/tools": "tools",
    "/expected_tool": "tool", "/expected_args": "arguments", "/expectation": "expectation", "/rationale": "rationale",
    "/decided_by": "decided_by",
}  # fmt: skip


def detected_targets(columns: Iterable[str], arguments: Collection[str] = ()) -> dict[str, str]:
    """Return what each column seems to hold by its name; "" where that is not known or another column says it.

    `arguments` are names of arguments of the dataset's tools. Where some column holds the tool and none all arguments,
    a column of such a name seems to hold that argument.
    """
    targets: dict[str, str] = {}
    for column in columns:
        target = _target_by_name(column)
        targets[column] = "" if target in targets.values() else target
    if "tool" in targets.values() and "arguments" not in targets.values():
        targets = _with_arguments(targets, {_plain(name): name for name in sorted(arguments, reverse=True)})
    if "messages" in targets.values():
        # Both say what the input is; the conversation says more.
        targets = {column: "" if target in ("user", "system") else target for column, target in targets.items()}
    if "expectation" in targets.values():
        beside = ("tool", "arguments")
        targets = {
            column: "" if target in beside or target.startswith(ARGUMENT) else target
            for column, target in targets.items()
        }
    return targets


def _with_arguments(targets: Mapping[str, str], arguments: Mapping[str, str]) -> dict[str, str]:
    """Return what columns hold, with the arguments that those are named like of which nothing else is known."""
    taken = set(targets.values())
    told: dict[str, str] = {}
    for column, target in targets.items():
        name = "" if target else arguments.get(_plain(column), "")
        told[column] = f"{ARGUMENT}{name}" if name and f"{ARGUMENT}{name}" not in taken else target
        taken.add(told[column])
    return told


def _plain(name: str) -> str:
    """Return a name without what spellings differ in: `Order ID`, `order-id` and `orderId` are one."""
    return re.sub(r"[\W_]+", "", name).lower()


def argument_names(tools: Iterable[ToolSpec]) -> set[str]:
    """Return the names of the arguments that tools take; a schema that is odd names none."""
    schemas = (tool.input_schema.get("properties") for tool in tools)
    return {name for properties in schemas if isinstance(properties, Mapping) for name in properties}


def argument_name(column: str) -> str:
    """Return the argument that a column's name says it holds; "" where it says none."""
    if column.startswith(ARGUMENT):
        return column.removeprefix(ARGUMENT)
    match = _ARGUMENT_NAME.fullmatch(column.strip())
    return match["name"].strip() if match else ""


def targets_problems(targets: Mapping[str, str]) -> list[Problem]:
    """Return what is wrong with a mapping of columns to targets; pointers name columns."""
    problems: list[Problem] = []
    seen: dict[str, str] = {}
    for column, target in targets.items():
        pointer = pointer_to([column])
        if not target:
            continue
        if target not in TARGETS and not (target.startswith(ARGUMENT) and target != ARGUMENT):
            known = ", ".join((*TARGETS, f"{ARGUMENT}NAME"))
            problems.append(Problem(pointer, f"{target} is not a valid column type. Use one of {known}"))
        elif target in seen:
            problems.append(Problem(pointer, f"holds the same as column {seen[target]}"))
        seen[target] = column
    if "messages" not in seen and "user" not in seen:
        problems.append(Problem("", "no column holds the user’s words or the messages"))
    if "messages" in seen and ("user" in seen or "system" in seen):
        problems.append(Problem("", "both the messages column and the user text column define the input. Keep one"))
    arguments = [target for target in seen if target == "arguments" or target.startswith(ARGUMENT)]
    if "expectation" in seen and ("tool" in seen or arguments):
        problems.append(Problem("", "the whole expectation and the expected tool say the same: keep one"))
    if arguments and "tool" not in seen and "expectation" not in seen:
        problems.append(Problem("", "there are expected arguments and no expected tool"))
    if "arguments" in arguments and len(arguments) > 1:
        problems.append(Problem("", "arguments are given as JSON and in columns of their own: keep one"))
    return problems


def table_row(cells: Any, settings: Settings) -> ExampleRow:
    """Return a row of a table, cells by column, as an example; pointers in InvalidDocument name columns.

    An empty tool is still to be labelled, `(none)` no call, `(any)` some call.
    """
    said = {target: column for column, target in settings.options["columns"].items() if target}
    row = _Row(cells, said, settings)
    try:
        return read_example(row.document())
    except InvalidDocument as error:
        raise InvalidDocument(_at_column(problem, said) for problem in error.problems) from None


class _Row:
    """One row's cells by what they hold."""

    def __init__(self, cells: Mapping[str, str], said: Mapping[str, str], settings: Settings) -> None:
        self.cells, self.said, self.settings = cells, said, settings

    def text(self, target: str) -> str:
        """Return the cell of a target; empty where there is none."""
        column = self.said.get(target)
        return "" if column is None else self.cells[column]

    def json(self, target: str) -> Any:
        """Return the value of a cell of JSON. Raises InvalidDocument at its column."""
        try:
            return load_json(self.text(target))
        except InvalidDocument as error:
            raise InvalidDocument.at(f"/{target}", f"{error}") from None

    def document(self) -> JsonObject:
        """Return the row in the native form."""
        content: JsonObject = {"messages": self._messages()}
        if self.text("context").strip():
            content["context"] = self.json("context")
        document: JsonObject = {"input": content, "rationale": self.text("rationale")}
        if tools := self.text("tools").strip():
            document["tools"] = self.json("tools") if tools.startswith("[") else tools
        if decided_by := self.text("decided_by").strip():
            document["decided_by"] = decided_by
        document |= self._expected()
        strata = {name: self.text(f"{STRATUM}{name}") for name in STRATA}
        document["strata"] = {name: value for name, value in strata.items() if value}
        name = self.text("id").strip() or None
        return {"id": external_id(name, "row", [content, document.get("tools")])} | document

    def _messages(self) -> Any:
        if "messages" in self.said:
            return self.json("messages")
        system, user = self.text("system"), self.text("user")
        if not user.strip():
            raise InvalidDocument.at("/user", "is empty")
        return [{"role": "system", "content": system}] * bool(system.strip()) + [{"role": "user", "content": user}]

    def _expected(self) -> JsonObject:
        if self.text("expectation").strip():
            return {"expectation": self.json("expectation")}
        tool = self.text("tool").strip()
        arguments = self._arguments(tool)
        if tool == SOME_CALL and not arguments:
            return {"expectation": {"kind": "some_call"}}
        if not tool:
            if arguments:
                raise InvalidDocument.at("/tool", "is empty, and there are expected arguments")
            return {}
        expected: JsonObject = {"expected_tool": None if tool == NO_CALL else tool}
        return expected | ({"expected_args": arguments} if arguments else {})

    def _arguments(self, tool: str) -> JsonObject:
        if self.text("arguments").strip():
            given = self.json("arguments")
            if not isinstance(given, dict):
                raise InvalidDocument.at("/arguments", "is not a JSON object")
            return given
        known = (self.settings.tools or {}).get(tool)
        columns = ((target, self.text(target)) for target in self.said if target.startswith(ARGUMENT))
        return {
            target.removeprefix(ARGUMENT): _value(text, target.removeprefix(ARGUMENT), known)
            for target, text in columns
            if text
        }


def _value(text: str, argument: str, tool: ToolSpec | None) -> Any:
    """Return a cell's value for an argument: text where the tool takes text, else what it is as JSON."""
    properties = tool.input_schema.get("properties") if tool else None
    schema = properties.get(argument) if isinstance(properties, Mapping) else None
    kinds = schema.get("type") if isinstance(schema, Mapping) else None
    if kinds is not None and "string" in (kinds if isinstance(kinds, list) else [kinds]):
        return text
    try:
        return load_json(text)
    except InvalidDocument:
        return text


def _at_column(problem: Problem, said: Mapping[str, str]) -> Problem:
    for pointer, target in _POINTERS.items():
        if problem.pointer == pointer or problem.pointer.startswith(f"{pointer}/"):
            inside = problem.pointer.removeprefix(pointer)
            return Problem(_pointer(said, target) + inside, problem.message)
    target = problem.pointer.removeprefix("/")
    if target.startswith("strata/"):
        target = f"{STRATUM}{target.removeprefix('strata/')}"
    return Problem(_pointer(said, target), problem.message)


def _pointer(said: Mapping[str, str], target: str) -> str:
    column = said.get(target) or said.get("user" if target == "messages" else target)
    return pointer_to([column]) if column else ""


def _target_by_name(column: str) -> str:
    if column in TARGETS or (column.startswith(ARGUMENT) and column != ARGUMENT):
        return column
    name = re.sub(r"[\s\-.]+", "_", column.strip().lower())
    if name in _NAMES:
        return _NAMES[name]
    if name.removeprefix("stratum_").removeprefix("strata_") in STRATA:
        return STRATUM + name.removeprefix("stratum_").removeprefix("strata_")
    if argument := argument_name(column):
        return ARGUMENT + argument
    # "Customer question": the last word is the thing.
    return "user" if _NAMES.get(name.rpartition("_")[2]) == "user" else ""
