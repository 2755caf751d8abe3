"""Reads examples from JSON rows: the plain form that most people write, and the full form."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from functools import lru_cache

from orjson import dumps, loads

from toolevals.grading.reading.parsing.content import text_in
from toolevals.grading.reading.specs import ReadTools, read_tools, survey_tools
from toolevals.grading.values import Expectation, ToolSpec
from toolevals.grading.values.documents import require_json, require_valid
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.grading.values.value_classes import value_class
from toolevals.grading.values.verdicts import read_decided_by
from toolevals.json_types import JsonMapping, JsonObject, JsonValue

# The names of what examples are sorted by.
STRATA = ("bucket", "no_call_kind", "difficulty", "edge_case", "error_class", "effect", "category")
# Lists of tools that are kept for the next rows with the same, and the longest one, as JSON text.
_MOST_TOOLS = 64
_LONGEST_TOOLS = 64_000


@value_class
class Judgement:
    """The judgement of one person elsewhere: a label where it has an expectation, else a note.

    Nothing says what else that person had seen. `text` are the person's own words: a reason, or the note.
    """

    author: str
    expectation: Expectation | None = None
    text: str = ""

    def to_document(self) -> JsonObject:
        """Return the judgement as a row of the native format has it."""
        said: JsonObject = {"author": self.author}
        if self.expectation is not None:
            said["expectation"] = self.expectation.to_document()
        return said | ({"text": self.text} if self.text else {})


@value_class
class ExampleRow:
    """One example as it stands in a file.

    `input` has `messages` and perhaps `context`. `tools` are tool specs, a registry version's name, or None where the
    dataset's own are meant. `expectation` is None where the example is still to be labelled. `losses` says what of
    the row could not be carried over. `origin` is the row of a format whose exports give it back as it was.
    `decided_by` is what decides it (`toolevals.grading.values.verdicts`), empty where the row does not say.
    `judgements` are what people said of it elsewhere.
    """

    external_id: str
    input: JsonObject
    tools: list[ToolSpec] | str | None = None
    expectation: Expectation | None = None
    rationale: str = ""
    strata: dict[str, str] = field(default_factory=dict)
    losses: tuple[Problem, ...] = ()
    origin: JsonObject | None = None
    decided_by: str = ""
    judgements: tuple[Judgement, ...] = ()


def read_example(row: JsonValue) -> ExampleRow:
    """Read a row (`schemas/example.v1.json`). Raises InvalidDocument.

    `expected_tool` with `expected_args` is exactly this call with exactly these values and no other; null is no call;
    without it, and without `expectation`, the example is to be labelled.
    """
    require_valid(row, "example")
    tools, losses = tools_in_row(row.get("tools"))
    return ExampleRow(
        external_id=row["id"],
        input=row["input"],
        tools=tools,
        expectation=_expectation(row),
        rationale=row.get("rationale") or "",
        strata={name: _text(value) for name, value in row.get("strata", {}).items()},
        losses=losses,
        decided_by=read_decided_by(row.get("decided_by", ""), "/decided_by"),
        judgements=_judgements(row.get("judgements", ())),
    )


def first_words(given: JsonMapping) -> str | None:
    """Return the first words of a user in an example's input: what a whole run is for. None where it has none."""
    messages = given.get("messages")
    texts = (
        text_in(message.get("content"))
        for message in (messages if isinstance(messages, list) else ())
        if isinstance(message, dict) and message.get("role") == "user"
    )
    return next((text for text in texts if text and text.strip()), None)


def tools_in_row(document: object, pointer: str = "/tools") -> tuple[list[ToolSpec] | str | None, tuple[Problem, ...]]:
    """Return the tools that a row names or lists (None where it says nothing), and what was lost of them.

    Raises InvalidDocument; `pointer` is where the tools stand in the row.
    """
    if document is None or isinstance(document, str):
        return document, ()
    try:
        require_json(document)
        read = _read_again(document)
    except InvalidDocument as error:
        raise error.below(pointer) from None
    return [*read.tools], tuple(loss.below(pointer) for loss in read.losses)


def tools_told_of(document: object, pointer: str) -> tuple[list[ToolSpec] | str | None, tuple[Problem, ...]]:
    """Return the same of tools that a trace tells of: a tool whose schema cannot be used is kept, and a loss says so.

    Raises InvalidDocument where the tools are no list of tools.
    """
    try:
        return tools_in_row(document, pointer)
    except InvalidDocument:
        survey = survey_tools(document)
    tools = [tool for each in survey.tools if (tool := each.tool or each.unchecked) is not None]
    losses = [*survey.losses, *(found for each in survey.tools for found in (*each.losses, *each.problems))]
    return tools, tuple(loss.below(pointer) for loss in losses)


def _read_again(document: object) -> ReadTools:
    try:
        text = dumps(document)
    except TypeError:
        # Integers beyond 64 bits.
        return read_tools(document)
    return _tools_in(text) if len(text) <= _LONGEST_TOOLS else read_tools(document)


@lru_cache(maxsize=_MOST_TOOLS)
def _tools_in(text: bytes) -> ReadTools:
    """Read a list of tools as JSON text: most rows of a file offer the same few."""
    return read_tools(loads(text))


def _expectation(row: JsonObject) -> Expectation | None:
    if "expectation" in row:
        try:
            return Expectation.from_document(row["expectation"])
        except InvalidDocument as error:
            raise error.below("/expectation") from None
    if "expected_tool" not in row:
        return None
    tool, arguments = row["expected_tool"], row.get("expected_args") or {}
    if tool is not None:
        return Expectation.single(tool, arguments)
    if arguments:
        raise InvalidDocument.at("/expected_args", "no call has arguments")
    return Expectation("no_call")


def _judgements(documents: Iterable[JsonMapping]) -> tuple[Judgement, ...]:
    made: list[Judgement] = []
    for place, each in enumerate(documents):
        expectation = None
        if "expectation" in each:
            try:
                expectation = Expectation.from_document(each["expectation"])
            except InvalidDocument as error:
                raise error.below(f"/judgements/{place}/expectation") from None
            if any(before.expectation is not None and before.author == each["author"] for before in made):
                raise InvalidDocument.at(f"/judgements/{place}/author", f"{each['author']} has a label here already")
        made.append(Judgement(each["author"], expectation, each.get("text", "")))
    return tuple(made)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
