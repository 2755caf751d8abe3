"""Write examples as the leaderboard's files: `BFCL_v4_<category>.json` with questions, `possible_answer/` with answers.

An example that came from there goes back as it was; its answer too, while the gold still says the same. What was made
here is written in the leaderboard's forms, where it has a form for it. All files are in one zip, with a summary.
"""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import IO, Any

import orjson

from labeling.exports.selection import Inexpressible, Outcome, Row, Selection, ToolLists
from toolevals.grading.json_schema.subschemas import with_subschemas
from toolevals.grading.reading.bfcl import CATEGORIES, bfcl_example
from toolevals.grading.values import CallExpectation, Expectation, ToolSpec
from toolevals.grading.values.canonical import canonical, exact, parse
from toolevals.grading.values.matchers import Absent, Exact, Fields, Items, Matcher, OneOf
from toolevals.json_types import JsonMapping, JsonObject

_TYPES = {"object": "dict", "number": "float"}
_PLAIN_MESSAGE = frozenset({"role", "content", "name"})
_ROLES = frozenset({"system", "user", "assistant"})
_BY_KIND = {"no_call": ("irrelevance", "live_irrelevance"), "some_call": ("live_relevance",)}
_NOT_CALLS = frozenset(name for names in _BY_KIND.values() for name in names)
_CHUNK = 1 << 20
# The earliest moment that a zip can hold: the same content gives the same bytes.
_MOMENT = (1980, 1, 1, 0, 0, 0)


def category_of(gold: Expectation, tools: Sequence[ToolSpec], wanted: str) -> str:
    """Return an example's category: the one that it has, if that can hold its gold, else the one that does."""
    if gold.kind != "calls":
        fitting = _BY_KIND[gold.kind]
        return wanted if wanted in fitting else fitting[0]
    is_parallel = len(gold.alternatives[0].expected) > 1
    if wanted in CATEGORIES and wanted not in _NOT_CALLS and ("parallel" in wanted) == is_parallel:
        return wanted
    if is_parallel:
        return "parallel_multiple" if len(tools) > 1 else "parallel"
    return "multiple" if len(tools) > 1 else "simple_python"


def question_row(name: str, content: JsonMapping, tools: Sequence[ToolSpec]) -> JsonObject:
    """Return an example's row of a question file. Raises Inexpressible."""
    if content.get("context"):
        raise Inexpressible("the agent knows a context that is not a message")
    messages = content.get("messages", [])
    for message in messages:
        if not _PLAIN_MESSAGE.issuperset(message) or message.get("role") not in _ROLES:
            raise Inexpressible("the conversation holds calls or results")
    functions = [
        {"name": tool.name, "description": tool.description, "parameters": bfcl_types(tool.input_schema)}
        for tool in tools
    ]
    return {"id": name, "question": [messages], "function": functions}


def bfcl_types(schema: Any) -> Any:
    """Return a JSON Schema with the leaderboard's words for types. Raises Inexpressible where it has none."""
    if not isinstance(schema, dict):
        return schema
    written = dict(schema)
    if isinstance(kind := schema.get("type"), str):
        written["type"] = _TYPES.get(kind, kind)
    elif kind is not None:
        raise Inexpressible("a parameter has several types")
    return with_subschemas(written, lambda inner, _: bfcl_types(inner))


def answer_row(name: str, gold: Expectation) -> JsonObject | None:
    """Return an example's row of an answer file; None where its category has none. Raises Inexpressible."""
    if gold.reactions or gold.answer is not None or gold.state is not None:
        raise Inexpressible("more than calls is expected")
    if gold.kind != "calls":
        return None
    if len(gold.alternatives) > 1:
        raise Inexpressible("several lists of calls are accepted")
    trajectory = gold.alternatives[0]
    if trajectory.additional_calls:
        raise Inexpressible("further calls are allowed")
    if len(trajectory.ordered) + bool(trajectory.unordered) > 1:
        raise Inexpressible("calls are expected in an order")
    if trajectory.disallowed or not trajectory.expected:
        raise Inexpressible("calls are ruled out, or none is named")
    return {"id": name, "ground_truth": [_call(call) for call in trajectory.expected]}


def _call(call: Any) -> JsonObject:
    if not isinstance(call, CallExpectation):
        raise Inexpressible("one of several calls is expected")
    if call.additional_arguments:
        raise Inexpressible("other arguments are allowed")
    return {call.tool: {name: allowed_values(matcher) for name, matcher in call.arguments.items()}}


def allowed_values(matcher: Matcher) -> list[Any]:
    """Return a parameter's list of allowed values; `""` in it says that it may be left out. Raises Inexpressible."""
    if isinstance(matcher, Absent):
        return [""]
    values = _values(matcher)
    if matcher.optional:
        return [*(value for value in values if value != ""), ""]
    if "" in values:
        raise Inexpressible("an empty text is expected, which there says that a parameter may be left out")
    return values


def _values(matcher: Matcher) -> list[Any]:
    if isinstance(matcher, OneOf):
        return [_nested(value) for value in matcher.values]
    return [_one(matcher)]


def _one(matcher: Matcher) -> Any:
    if isinstance(matcher, Exact):
        return _nested(matcher.value)
    if isinstance(matcher, Fields) and not matcher.additional_fields:
        return {name: allowed_values(each) for name, each in matcher.fields.items()}
    if isinstance(matcher, Items):
        return [_one(each) for each in matcher.items]
    raise Inexpressible(f"an argument is described by {matcher.kind}")


def _nested(value: Any) -> Any:
    """Return a value as it stands among allowed ones: the fields of an object are lists of allowed values."""
    if isinstance(value, dict):
        return {name: [_nested(each)] for name, each in value.items()}
    return [_nested(each) for each in value] if isinstance(value, list) else value


def bfcl_zip(selection: Selection, outcome: Outcome) -> Iterator[bytes]:
    """Yield a zip of the questions, the answers and `summary.json`. Rows wait on disk, by file, not in memory."""
    with ExitStack() as stack:
        files = _Files(stack)
        tools = ToolLists()
        for row in selection.rows():
            try:
                category, question, answer = _rows(row, tools)
            except Inexpressible as error:
                outcome.skip(row.external_id, str(error))
                continue
            outcome.written += 1
            files.add(f"BFCL_v4_{category}.json", question)
            if answer is not None:
                files.add(f"possible_answer/BFCL_v4_{category}.json", answer)
        packed = stack.enter_context(tempfile.TemporaryFile())
        files.pack(packed, outcome)
        packed.seek(0)
        while some := packed.read(_CHUNK):
            yield some


def _rows(row: Row, tools: ToolLists) -> tuple[str, JsonMapping, JsonMapping | None]:
    """Return category, question and answer (None where the category has none). Raises Inexpressible."""
    gold = row.gold
    if gold is None:
        raise Inexpressible("there is no gold yet")
    origin = None if row.origin is None else parse(row.origin)
    if origin is None:
        specs = tools[row.tools]
        category = category_of(gold, specs, row.strata.get("category", ""))
        return category, question_row(row.external_id, row.content, specs), answer_row(row.external_id, gold)
    category, question, answer = origin["category"], origin["question_row"], origin["answer_row"]
    was = bfcl_example(question, answer, category).expectation
    if was is not None and canonical(was.to_document()) == canonical(gold.to_document()):
        return category, question, answer
    specs = tools[row.tools]
    return category_of(gold, specs, category), question, answer_row(row.external_id, gold)


class _Files:
    """Files of JSON Lines that grow side by side on disk."""

    def __init__(self, stack: ExitStack) -> None:
        self.stack = stack
        self.files: dict[str, IO[bytes]] = {}

    def add(self, name: str, document: JsonMapping) -> None:
        """Write a line to the file of that name."""
        if name not in self.files:
            self.files[name] = self.stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 (the stack closes it)
        self.files[name].write(f"{exact(document)}\n".encode())

    def pack(self, packed: IO[bytes], outcome: Outcome) -> None:
        """Put all files and the summary into a zip."""
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as made:
            for name, file in sorted(self.files.items()):
                file.seek(0)
                with made.open(_entry(name), "w", force_zip64=True) as entry:
                    while some := file.read(_CHUNK):
                        entry.write(some)
            summary = orjson.dumps(outcome.to_document(), option=orjson.OPT_INDENT_2)
            made.writestr(_entry("summary.json"), summary)


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _MOMENT)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry
