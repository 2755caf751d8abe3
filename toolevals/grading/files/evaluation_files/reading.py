"""Reads an evaluation file: its examples, and the trials of one agent, each with where it stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from toolevals.grading.files.evaluation_files.decoding import Decoded, decoded
from toolevals.grading.files.evaluation_files.entry import Detected, Entry, Found, Trial
from toolevals.grading.files.evaluation_files.formats import detected, format_named
from toolevals.grading.files.evaluation_files.judging import merged
from toolevals.grading.reading.examples import ExampleRow
from toolevals.grading.reading.parsing.content import text_in
from toolevals.grading.reading.parsing.text import read_with
from toolevals.grading.values.canonical import digest
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping, JsonObject


@dataclass(frozen=True, slots=True)
class Place:
    """The position of an entry: the line (None where the file has no lines) and the pointer from there."""

    number: int
    line: int | None
    pointer: str

    def __str__(self) -> str:
        if self.line is None:
            return self.pointer
        return f"line {self.line}{f', {self.pointer}' if self.pointer else ''}"


@dataclass(frozen=True, slots=True)
class EvaluationFile:
    """A file that is decoded, and its format."""

    document: Decoded
    detected: Detected
    # Which decision of a conversation becomes an example; empty for the format's own.
    decision: str = ""

    def entries(self) -> Iterator[tuple[Place, Entry | InvalidDocument]]:
        """Yield each entry with its place; pointers in what is wrong begin at the line, or at the document."""
        for number, (pointer, found) in enumerate(self._read(), 1):
            line, inside = self.document.place(pointer)
            place = Place(line or number, line, inside)
            yield place, found.below(inside) if isinstance(found, InvalidDocument) else found

    def examples(self) -> Iterator[tuple[Place, ExampleRow | InvalidDocument]]:
        """Yield each example once, however often it was run; the same id with another content is wrong."""
        kept: dict[str, str] = {}
        for place, found in self._judged() if self.detected.format.judged else self.entries():
            if isinstance(found, InvalidDocument):
                yield place, found
                continue
            row = found.example
            if row is None:
                continue
            if row.input == {"messages": []}:
                reason = found.losses[0].message if found.losses else "is missing"
                yield place, InvalidDocument.at(place.pointer, f"has no input that can be read, which {reason}")
                continue
            content = digest(row.input)
            before = kept.setdefault(row.external_id, content)
            if before is content:
                yield place, row
            elif before != content:
                message = f"the id {row.external_id} is used for another input already"
                yield place, InvalidDocument.at(place.pointer, message)

    def _judged(self) -> Iterator[tuple[Place, Entry | InvalidDocument]]:
        """Yield the entries, the first of an example with what people said of all its trials."""
        every = list(self.entries())
        first: dict[str, int] = {}
        for number, (_, found) in enumerate(every):
            if isinstance(found, InvalidDocument) or found.example is None:
                continue
            before = first.setdefault(found.example.external_id, number)
            earlier = every[before][1]
            if before != number and isinstance(earlier, Entry) and earlier.example is not None:
                every[before] = every[before][0], replace(earlier, example=merged(earlier.example, found.example))
        yield from every

    def _read(self) -> Iterator[Found]:
        return self.detected.format.reading(self.document.value, self.decision)

    def agents(self) -> tuple[str, ...]:
        """Return the names of the agents whose trials the file holds, in order."""
        named: dict[str, None] = {}
        for _, found in self.entries():
            if isinstance(found, Entry) and found.trial is not None:
                named[found.trial.agent] = None
        return tuple(named)

    def require_agent(self, agent: str) -> tuple[str, ...]:
        """Return the names of the agents. Raises InvalidDocument where there are several and none of this name."""
        names = self.agents()
        if len(names) > 1 and agent not in names:
            named = ", ".join(names)
            raise InvalidDocument.at("", f"holds what several agents did: name the run's agent as one of {named}")
        return names

    def trials(self, agent: str) -> Iterator[tuple[Place, Trial | InvalidDocument, tuple[Problem, ...]]]:
        """Yield the trials of an agent, counted from 0, with their losses; of a file that holds one agent, its.

        Raises InvalidDocument where the file holds several agents and none of this name.
        """
        names = self.require_agent(agent)
        counts: dict[str, int] = {}
        for place, found in self.entries():
            if isinstance(found, InvalidDocument):
                yield place, found, ()
            elif (trial := found.trial) is not None and (len(names) == 1 or trial.agent == agent):
                number = counts.get(trial.external_id, 0)
                counts[trial.external_id] = number + 1
                losses = tuple(loss.below(place.pointer) for loss in found.losses)
                tools = found.example.tools if found.example is not None else None
                made = read_with(trial.transcript, tools if isinstance(tools, list) else None)
                counted = number if trial.number is None else trial.number
                yield place, replace(trial, number=counted, transcript=made), losses


def evaluation_file(content: bytes, format_name: str = "", decision: str = "") -> EvaluationFile:
    """Return a file, decoded, in the format that is named or found. Raises InvalidDocument."""
    document = decoded(content)
    if not format_name:
        return EvaluationFile(document, detected(document.value, is_table=document.is_table), decision)
    named = format_named(format_name)
    return EvaluationFile(document, Detected(named, named.detect(document.value) or "it was said to be"), decision)


def graded_rows(file: EvaluationFile, agent: str = "") -> Iterator[tuple[Place, JsonObject | InvalidDocument]]:
    """Yield rows of our own form, an example and its prediction in one object, for what can be graded.

    An example without expectation is wrong: there is nothing to grade by.
    """
    expected: dict[str, ExampleRow] = {}
    for _, found in file.examples():
        if isinstance(found, ExampleRow):
            expected[found.external_id] = found
    for place, trial, _ in file.trials(agent):
        if isinstance(trial, InvalidDocument):
            yield place, trial
            continue
        row = expected.get(trial.external_id)
        if row is None or row.expectation is None:
            yield place, InvalidDocument.at(place.pointer, "expects nothing that can be graded")
            continue
        yield place, _graded_row(row, trial)


def _graded_row(row: ExampleRow, trial: Trial) -> JsonObject:
    document: JsonObject = {"id": row.external_id, "trial": trial.number or 0, "input": row.input}
    if isinstance(row.tools, list):
        document["tools"] = [tool.to_document() for tool in row.tools]
    if row.expectation is not None:
        document["expectation"] = row.expectation.to_document()
    if row.strata:
        document["strata"] = row.strata
    if row.decided_by:
        document["decided_by"] = row.decided_by
    made = trial.transcript.to_document()
    if made["messages"]:
        document["format"] = "native"
    else:
        # An agent that says and calls nothing made no call.
        del made["messages"]
        made |= {} if "error" in made or "answer" in made else {"tool_calls": []}
    return document | made


def content_key(content: JsonMapping) -> str:
    """Return what tells inputs apart: a digest of the user's words, whatever spaces and letter case they are in."""
    said = [text_in(each.get("content")) or "" for each in content.get("messages", ()) if each.get("role") == "user"]
    return digest([" ".join(words.casefold().split()) for words in said])
