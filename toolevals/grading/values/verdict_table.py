"""Describes every verdict in one table: its question, its place on pages, its goal, and its words.

A row of VERDICTS names a layer everywhere; `toolevals.grading.engine.layer_grading` holds what grades it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Names how a case fails by a layer: its mode, and what the mode means."""

    mode: str
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A layer as a part of what decides a case: its name in `decided_by`, and what passes.

    `asked` is what a person is to judge who reads such a case again, as the end of a sentence.
    """

    name: str
    sentence: str
    asked: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictKind:
    """One verdict. `version` changes whenever the same case may get another verdict.

    `place` is where it stands in the funnel of a run, `goal` the share of 0..1 that a release should reach. `compared`
    ends "of examples are". `title` is its name on pages, `letter` its mark there. One that `warns` reads
    prose by rules, which are sometimes wrong: it decides only where an example says so.
    """

    name: str
    version: str
    level: Literal["case", "layer", "depth"]
    place: Literal["outcome", "calls", "beside", "depth"]
    sentence: str
    goal: float
    compared: str
    title: str = ""
    letter: str = ""
    warns: bool = False
    failure: Failure | None = None
    part: Part | None = None


# The whole case, then layers, then depths of a single call.
VERDICTS: Final = (
    VerdictKind(
        name="outcome",
        version="8",
        level="case",
        place="outcome",
        sentence="What decides the case, taken together: the calls, the end state, the answer.",
        goal=0.95,
        compared="right in their outcome",
    ),
    VerdictKind(
        name="selection",
        version="5",
        level="layer",
        place="calls",
        sentence="Every expected tool was called, in order, and none that must not be.",
        goal=0.95,
        compared="right in tool selection",
        letter="s",
    ),
    VerdictKind(
        name="arguments",
        version="5",
        level="layer",
        place="calls",
        sentence="The arguments fit the schema and the expectation; unscored without selection.",
        goal=0.93,
        compared="right in their arguments",
        letter="a",
    ),
    VerdictKind(
        name="result_use",
        version="6",
        level="layer",
        place="beside",
        sentence="No field of a result contradicts what the replies claim; found by rules.",
        goal=0.95,
        compared="right in the use of results",
        title="use of results",
        letter="u",
        warns=True,
        failure=Failure(mode="result_misused", sentence="A reply says what does not follow from the tools' results."),
        part=Part(
            name="result_use",
            sentence="What the replies claim follows from the tools' results; found by rules.",
            asked="whether what it said follows from the tools’ results",
        ),
    ),
    VerdictKind(
        name="recovery",
        version="5",
        level="layer",
        place="beside",
        sentence="After each error or empty result of a tool, the agent reacted correctly.",
        goal=0.95,
        compared="right in error recovery",
        title="error recovery",
        letter="e",
        warns=True,
        failure=Failure(mode="unrecovered_error", sentence="A tool failed, and the agent did not react correctly."),
        part=Part(
            name="recovery",
            sentence="After each error of a tool, the agent did what was right; found by rules.",
            asked="what it did after errors of tools",
        ),
    ),
    VerdictKind(
        name="answer",
        version="2",
        level="case",
        place="beside",
        sentence="The expected facts are in what the agent told the user.",
        goal=0.95,
        compared="right in their answer",
        failure=Failure(mode="missing_fact", sentence="An expected fact is not in the answer."),
        part=Part(
            name="answer",
            sentence="The expected facts are in what the agent told the user.",
            asked="what it told the user",
        ),
    ),
    VerdictKind(
        name="schema",
        version="4",
        level="depth",
        place="depth",
        sentence="Each call of an offered tool is valid against the tool's input schema.",
        goal=0.97,
        compared="valid against the schema",
    ),
    VerdictKind(
        name="shape",
        version="4",
        level="depth",
        place="depth",
        sentence="The expected argument names are there, with the expected types, and no other.",
        goal=0.97,
        compared="of the right shape",
    ),
    VerdictKind(
        name="equivalence",
        version="5",
        level="depth",
        place="depth",
        sentence="The calls are the expected ones, argument by argument, under the profile.",
        goal=0.93,
        compared="equal to the expected call",
        title="equal call",
    ),
    VerdictKind(
        name="execution",
        version="2",
        level="depth",
        place="depth",
        sentence="The calls left the world in the expected state, and nothing else was changed.",
        goal=0.95,
        compared="right in their end state",
        title="end state",
        failure=Failure(mode="wrong_state", sentence="The calls left another state than the expected one."),
        part=Part(
            name="end_state",
            sentence="The calls left the world in the expected state. Without a simulator the case is unscored.",
            asked="the state that its calls left behind",
        ),
    ),
)
VERDICT_NAMES: Final = tuple(row.name for row in VERDICTS)
# Those whose failure has a mode of its own, and those that can decide a case by themselves.
FAILURES: Final[Mapping[str, Failure]] = {row.name: row.failure for row in VERDICTS if row.failure}
# The last of the table first: `decided_by` names them in this order.
DECIDING: Final[Mapping[str, Part]] = {row.name: row.part for row in reversed(VERDICTS) if row.part}


def placed(place: str) -> tuple[str, ...]:
    """Return the names of the verdicts that stand in one place of the funnel, in order."""
    return tuple(row.name for row in VERDICTS if row.place == place)
