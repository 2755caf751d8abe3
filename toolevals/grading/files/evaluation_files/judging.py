"""Turns what people said elsewhere, scores, answers and corrections, into labels and notes.

A label is a decision on the call: a corrected call, a chosen tool, or a pass of the call that was recorded. All else,
such as a fail without a correction, a number or a comment, is a note. Each note has a loss that names it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from toolevals.grading.files.evaluation_files.content import (
    content_of,
    expectation_of,
    expected_in_order,
    is_message,
    json_in,
    said_in,
)
from toolevals.grading.files.evaluation_files.entries import accepted
from toolevals.grading.files.evaluation_files.entry import keys
from toolevals.grading.reading.examples import ExampleRow, Judgement
from toolevals.grading.reading.parsing import calls_in_text, last_words, printable
from toolevals.grading.reading.parsing.json_calls import calls_in_json
from toolevals.grading.values import CallExpectation, Expectation, Message, ToolSpec, Trajectory
from toolevals.grading.values.canonical import exact
from toolevals.grading.values.matchers import Exact
from toolevals.grading.values.problems import InvalidDocument, Problem, pointer_to
from toolevals.json_types import JsonMapping, JsonObject

# Where data that was given to people to judge holds what an agent did; the first one there counts.
RECORDED: Final = (
    "output", "tool_calls", "tool_call", "call", "calls", "response", "prediction", "model_output", "completion",
)  # fmt: skip
_PASSES: Final = keys(
    "1 true yes pass passed correct good right accept accepted approve approved ok up thumbs-up thumbs_up positive 👍"
)
_FAILS: Final = keys(
    "0 false no fail failed incorrect bad wrong reject rejected down thumbs-down thumbs_down negative 👎"
)
# Words of names that say that the call is judged, and words that say it where nothing but calls was made.
_OF_CALLS: Final = keys("tool tools call calls function functions")
_OF_WHOLE: Final = keys(
    "correct correctness pass passed verdict accept accepted approved rating thumbs thumb feedback evaluation"
)
# Words that may be in such names besides; with any other the name is of something else, as is `tool_needed`.
_BESIDES: Final = keys("is was the of right valid good ok up score quality grade check made human expert reviewer")
# Words of names under which a pass is of the tool alone.
_OF_CHOICE: Final = keys("choice selection selected name choose")
_OF_ARGUMENTS: Final = keys("arguments argument args parameters params")
# Words of names under which a text may be a call as code.
_OF_EXPECTED: Final = _OF_CALLS | keys("expected correct correction corrected ideal gold")
# Words of names whose answer is a tool.
_OF_TOOL: Final = _OF_EXPECTED | _OF_CHOICE | keys("right")
# Keys of which a message has one.
_SPOKEN: Final = keys("content parts text data tool_calls function_call")
_REASONS: Final = keys("comment comments reason rationale why explanation justification")
_NO_CALL: Final = frozenset(("(none)", "none", "no call", "no_call", "no tool", "no_tool", "[]"))
_TOOL: Final = re.compile(r"[A-Za-z_][\w.-]{0,199}")
_LONGEST: Final = 2_000
LONGEST_AUTHOR: Final = 200
UNNAMED: Final = "unnamed"
KEPT: Final = "kept as a note"


@dataclass(frozen=True, slots=True)
class Answer:
    """One thing that a person said: under a name, a value, perhaps a corrected output, and words next to it."""

    author: str
    name: str
    value: Any
    comment: str = ""
    correction: Any = None
    pointer: str = ""

    @property
    def words(self) -> frozenset[str]:
        """The words of its name."""
        return frozenset(re.findall(r"[^\W_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", self.name).lower()))

    @property
    def text(self) -> str:
        """The words of a note of it."""
        told = (_plain(each) for each in (self.value, self.correction) if each not in (None, "", []))
        said = ", corrected to ".join(each if isinstance(each, str) else exact(each) for each in told)
        named = f"{self.name}: {said}" if said else self.name
        return printable(f"{named}. {self.comment}" if self.comment else named)[:_LONGEST]


def judgements_of(
    answers: Iterable[Answer], made: Sequence[Message] | None, offered: Collection[str] = ()
) -> tuple[tuple[Judgement, ...], tuple[Problem, ...]]:
    """Return what people said as labels and notes, one label a person, and a loss for each answer that is none.

    `made` are the messages of what was judged, None where that is not known; `offered` are the names of tools.
    """
    people: dict[str, list[Answer]] = {}
    for answer in answers:
        people.setdefault(_author(answer), []).append(answer)
    judgements: list[Judgement] = []
    losses: list[Problem] = []
    for author, said in people.items():
        label, notes = _label(said, made, offered)
        if label is not None:
            judgements.append(replace(label, author=author, text=printable(label.text)[:_LONGEST]))
        judgements += (Judgement(author, None, answer.text) for answer, _ in notes)
        losses += (Problem(answer.pointer, f"{answer.name} {why}: {KEPT}") for answer, why in notes)
    return tuple(judgements), tuple(losses)


def _author(answer: Answer) -> str:
    return printable(answer.author or UNNAMED)[:LONGEST_AUTHOR]


Note = tuple[Answer, str]
_UNDECIDED: Final = "is not a decision on the call"


def _label(
    said: Sequence[Answer], made: Sequence[Message] | None, offered: Collection[str]
) -> tuple[Judgement | None, list[Note]]:
    """Return a person's label, whose author is set by the caller, and what is no part of it, with the reason."""
    found: Judgement | None = None
    notes: list[Note] = []
    verdicts: list[tuple[Answer, bool]] = []
    arguments = next((answer for answer in said if answer.words & _OF_ARGUMENTS and _object(answer) is not None), None)
    for answer in said:
        if answer is arguments:
            continue
        if (expectation := _expected(answer, offered, arguments)) is not None:
            if found is None:
                found = Judgement("", expectation, answer.comment)
            elif found.expectation != expectation:
                notes.append((answer, "is a second label of the same person"))
        elif (verdict := _verdict(answer, made)) is not None:
            verdicts.append((answer, verdict))
        else:
            notes.append((answer, _UNDECIDED))
    if found is not None:
        # The correction is what this person wants; whether the recorded call passes follows from it.
        return _with_reason(found, notes)
    if arguments is not None:
        notes.append((arguments, "has arguments without a tool"))
    label, passed = _label_of_passes(verdicts, made)
    return (label, [*passed, *notes]) if label is None else _with_reason(label, notes)


def _with_reason(label: Judgement, notes: list[Note]) -> tuple[Judgement, list[Note]]:
    """Return a label with its reason, where the same person gave one under a name of its own."""
    reason = next((note for note in notes if note[0].words & _REASONS and isinstance(_plain(note[0].value), str)), None)
    if label.text or reason is None:
        return label, notes
    return replace(label, text=_plain(reason[0].value)), [note for note in notes if note is not reason]


def _label_of_passes(
    verdicts: Sequence[tuple[Answer, bool]], made: Sequence[Message] | None
) -> tuple[Judgement | None, list[Note]]:
    """Return the recorded call as the label where all verdicts pass it; else each verdict as a note."""
    if made is None or not verdicts:
        return None, []
    if not all(passes for _, passes in verdicts):
        fails = "fails the recorded call without a correction"
        return None, [(answer, _UNDECIDED if passes else fails) for answer, passes in verdicts]
    # A pass of the whole call says more than one of the choice of tool.
    first = min((answer for answer, _ in verdicts), key=lambda answer: bool(answer.words & _OF_CHOICE))
    try:
        expectation = recorded(made, any_arguments=bool(first.words & _OF_CHOICE))
    except InvalidDocument:
        return None, [(answer, "passes a call that cannot be read") for answer, _ in verdicts]
    return Judgement("", expectation, first.comment), []


def recorded(made: Sequence[Message], *, any_arguments: bool = False) -> Expectation:
    """Return the expectation of what was called; calls of one message in any order. Raises InvalidDocument."""
    turns = [message.calls for message in made if message.calls]
    calls = [call for turn in turns for call in turn]
    if not calls:
        return Expectation("no_call")
    expectation = accepted([turns[0]], "") if len(turns) == 1 else expected_in_order(calls, "")
    if not any_arguments:
        return expectation
    tools = tuple(CallExpectation(call.name) for call in calls if call.name)
    if len(turns) == 1 and len(calls) > 1:
        return Expectation("calls", alternatives=(Trajectory(unordered=tools, additional_calls=False),))
    return Expectation("calls", alternatives=(Trajectory(ordered=tools, additional_calls=False),))


def _verdict(answer: Answer, made: Sequence[Message] | None) -> bool | None:
    """Return whether an answer passes the recorded call; None where it says nothing of it."""
    value = _plain(answer.value)
    word = str(value).strip().lower() if isinstance(value, str | bool | int | float) else ""
    word = word.removesuffix(".0")
    if word not in _PASSES | _FAILS or made is None:
        return None
    # Under a general name it is the call that was judged where nothing else was made.
    only_calls = any(message.calls for message in made) and not last_words(tuple(made))
    is_named = answer.words & _OF_CALLS or (answer.words & _OF_WHOLE and only_calls)
    is_of_calls = answer.words <= _OF_CALLS | _OF_CHOICE | _OF_WHOLE | _BESIDES
    return word in _PASSES if is_named and is_of_calls else None


def _expected(answer: Answer, offered: Collection[str], arguments: Answer | None) -> Expectation | None:
    """Return the expectation that an answer says; None where it says none."""
    if answer.correction is not None:
        return _call_in(answer.correction, is_code=True)
    value = _plain(answer.value)
    if isinstance(value, str) and answer.words and answer.words <= _OF_TOOL:
        name = value.strip()
        if name.lower() in _NO_CALL:
            return Expectation("no_call")
        is_tool = name in offered or (not offered and name.lower() not in _PASSES | _FAILS and _TOOL.fullmatch(name))
        if is_tool and answer.words & _OF_CALLS:
            return _tool(name, arguments)
    return _call_in(value, is_code=bool(answer.words & _OF_EXPECTED))


def _tool(name: str, arguments: Answer | None) -> Expectation:
    given = _object(arguments) if arguments is not None else None
    if given is None:
        call = CallExpectation(name)
    else:
        call = CallExpectation(name, {key: Exact(each) for key, each in given.items()}, additional_arguments=False)
    return Expectation("calls", alternatives=(Trajectory(ordered=(call,), additional_calls=False),))


def _object(answer: Answer) -> JsonMapping | None:
    value = json_in(_plain(answer.value))
    return value if isinstance(value, Mapping) else None


def _call_in(value: object, *, is_code: bool) -> Expectation | None:
    """Return the calls in a corrected output; words are no call, and None."""
    given = json_in(value)
    try:
        if isinstance(given, str):
            code = calls_in_text(given) if is_code else ()
            return accepted([code], "") if code else None
        if isinstance(given, Mapping) and "kind" in given:
            return Expectation.from_document(dict(given))
        if isinstance(given, Mapping) and isinstance(given.get("expected_tool"), str):
            return Expectation.single(given["expected_tool"], given.get("expected_args") or {})
        if isinstance(given, Mapping | list) and (calls := calls_in_json(given)):
            return accepted([calls], "")
        if not is_code or not isinstance(given, Mapping | list):
            return None
        expectation, _ = expectation_of(given, "")
    except (InvalidDocument, TypeError):
        return None
    return None if expectation is None or expectation.answer else expectation


def _plain(value: Any) -> Any:
    """Return the only item of a list; anything else as it is."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def split_data(data: JsonMapping, losses: list[Problem], pointer: str) -> tuple[JsonObject, tuple[Message, ...] | None]:
    """Return the input of data that people judged, and what an agent had done; None where the data has none."""
    values = {key: json_in(value) for key, value in data.items()}
    key = next((key for key in RECORDED if values.get(key) not in (None, "", {})), "")
    rest = {name: value for name, value in values.items() if name not in (key, "tools", "functions", "id")}
    chat = next((name for name, value in rest.items() if isinstance(value, list) and value and _speaks(value[0])), "")
    if not chat or "messages" in rest:
        content = content_of(rest, pointer, losses)
    else:
        # A chat may stand under any name, which places in it keep.
        found = content_of(rest.pop(chat), pointer + pointer_to([chat]), losses)
        content = content_of({**rest, "messages": found["messages"]}, pointer)
    return content, said_in(values[key], f"{pointer}/{key}", losses) if key else None


def _speaks(value: object) -> bool:
    """Tell whether a value is a message that says or calls something; a person in a list has a role, too."""
    return is_message(value) and isinstance(value, Mapping) and ("lc" in value or not _SPOKEN.isdisjoint(value))


def tool_names(tools: list[ToolSpec] | str | None) -> frozenset[str]:
    """Return the names of tools that are listed."""
    return frozenset(tool.name for tool in tools) if isinstance(tools, list) else frozenset()


def judged(row: ExampleRow, answers: Iterable[Answer], made: Sequence[Message] | None) -> ExampleRow:
    """Return an example with what people said of it, and the losses of that."""
    judgements, losses = judgements_of(answers, made, tool_names(row.tools))
    return replace(row, judgements=judgements, losses=(*row.losses, *losses))


def noted(answers: Iterable[Answer], why: str) -> tuple[tuple[Judgement, ...], tuple[Problem, ...]]:
    """Return answers as notes alone, each with a loss that says why it is no label."""
    every = list(answers)
    losses = tuple(Problem(each.pointer, f"{each.name} {why}: {KEPT}") for each in every)
    return tuple(Judgement(_author(each), None, each.text) for each in every), losses


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a file that is what someone said of another row: the ids of what it is about, the nearest first.

    `answer` is None where no person said it; `loss` says then who did.
    """

    about: tuple[str, ...]
    answer: Answer | None
    loss: Problem | None = None


def merged(before: ExampleRow, again: ExampleRow) -> ExampleRow:
    """Return an example with what people said of a further trial of it: one label a person, others are notes."""
    labels = {each.author: each.expectation for each in before.judgements if each.expectation is not None}
    said = list(before.judgements)
    known = set(before.losses)
    losses = [*before.losses, *(loss for loss in again.losses if loss.message.endswith(KEPT) and loss not in known)]
    for each in again.judgements:
        if each.expectation is None or each.author not in labels:
            said.append(each)
        elif labels[each.author] != each.expectation:
            said.append(Judgement(each.author, None, each.text or "Another call of a further trial passes, too."))
            losses.append(Problem("", f"{each.author} passes different calls of this example: the first is the label"))
    return replace(before, judgements=tuple(said), losses=tuple(losses))
