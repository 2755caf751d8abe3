"""Makes entries of the sessions that coding agents keep on a person's machine."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from toolevals.grading.files.evaluation_files.content import example_of, messages_of, transcript_of
from toolevals.grading.files.evaluation_files.entry import Entry, Trial
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping

# Lines at the beginning that may tell what a file is: before the first message stand settings and snapshots.
MOST_LOOKED_AT: Final = 50
_PLACE: Final = re.compile(r"/(\d+)(.*)", re.DOTALL)
# The pointer of a line, and the line.
Line: TypeAlias = tuple[str, JsonMapping]


@dataclass(frozen=True, slots=True)
class Session:
    """A session whose lines are a provider's messages or items. `failed` are ids of calls whose results are errors."""

    agent: str
    id: str
    lines: Sequence[Line]
    usage: Mapping[str, float]
    losses: Sequence[Problem]
    failed: Collection[str] = ()


def session_entry(session: Session) -> Entry | InvalidDocument:
    """Return the entry of a session, or what is wrong with it: what stands before the agent's first turn is asked."""
    lines = session.lines
    left: list[Problem] = []
    try:
        read = messages_of([message for _, message in lines], "", left)
    except InvalidDocument as error:
        return InvalidDocument([_placed(problem, lines) for problem in error.problems])
    messages = [
        replace(each, is_error=True) if each.role == "tool" and each.call_id in session.failed else each
        for each in read
    ]
    start = next((at for at, each in enumerate(messages) if each.role == "assistant"), len(messages))
    if not any(each.role == "user" for each in messages[:start]):
        return InvalidDocument.at("", "holds nothing that a user asked before the agent's first turn")
    content = {"messages": [each.to_document() for each in messages[:start]]}
    every = (*session.losses, *(_placed(problem, lines) for problem in left))
    row = example_of(session.id or None, session.agent, content, losses=every)
    trial = None
    if start < len(messages):
        trial = Trial(
            row.external_id, transcript_of(messages[start:], usage=dict(session.usage)), content, agent=session.agent
        )
    return Entry(row, trial, every)


def _placed(problem: Problem, lines: Sequence[Line]) -> Problem:
    """Return a problem in a list of messages as one at the line, in words: an entry has one pointer."""
    found = _PLACE.fullmatch(problem.pointer)
    if found is None or int(found[1]) >= len(lines):
        return problem
    line = lines[int(found[1])][0].removeprefix("/")
    place = f"entry {int(line) + 1}: " if line.isdecimal() else ""
    return Problem("", f"{place}{found[2]} {problem.message}")
