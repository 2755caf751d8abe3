"""Finds calls in a model's raw text: in the forms that models are trained to write, then JSON and Python's syntax.

Thoughts are no calls, and neither is what follows an observation that the agent wrote itself. Text that no one meant as
a call has none. Text that was meant as one and cannot be read is one MalformedCall: what a mark of `text_formats`
begins, or the name of an offered tool with arguments.

Reads calls in the text of messages: a server without a reader for its model's form leaves them there.

Lists the forms of calls in raw text. To read another one is one reader in `text_formats` and one row here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from toolevals.grading.reading.parsing.json_calls import LONGEST_SHOWN, printable
from toolevals.grading.reading.parsing.losses import Loss
from toolevals.grading.reading.parsing.messages import last_words
from toolevals.grading.reading.parsing.python_calls import MAX_NESTING, brackets
from toolevals.grading.reading.parsing.text_formats.code import CODE
from toolevals.grading.reading.parsing.text_formats.gemma import GEMMA
from toolevals.grading.reading.parsing.text_formats.keyed import GLM, KIMI, KIMI_K3, SOLAR
from toolevals.grading.reading.parsing.text_formats.marked_json import COHERE, DEEPSEEK, HARMONY, MISTRAL, PLAMO
from toolevals.grading.reading.parsing.text_formats.pieces import (
    attempt_in,
    calls_in_piece,
    calls_of,
    malformed_json,
    malformed_python,
    python_or_none,
)
from toolevals.grading.reading.parsing.text_formats.react import OBSERVED, REACT
from toolevals.grading.reading.parsing.text_formats.source import Offered, Source, TextFormat
from toolevals.grading.reading.parsing.text_formats.tagged import TAGGED
from toolevals.grading.reading.parsing.text_formats.xml_calls import MINIMAX_M3, XML_FUNCTIONS, XML_INVOCATIONS
from toolevals.grading.values import Call, MalformedCall, Message, ToolCall, ToolSpec, Transcript
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument
from toolevals.grading.values.thoughts import MARKS, thought_end
from toolevals.grading.values.transcripts import MOST_CALLS

# In the order in which a place in a text is shown to them.
TEXT_FORMATS: Mapping[str, TextFormat] = {
    each.name: each
    for each in (
        HARMONY, DEEPSEEK, KIMI, KIMI_K3, SOLAR, PLAMO, MINIMAX_M3, MISTRAL, COHERE, GEMMA, XML_INVOCATIONS,
        XML_FUNCTIONS, GLM, TAGGED, REACT, CODE,
    )
}  # fmt: skip


MAX_LENGTH = 1_000_000
# How many places of running text are tried: the cost stays linear.
_MOST_TRIES = 64
_MOST_STARTS = 512

_THOUGHT: Final = "thought"
_MARK: Final = re.compile(
    "|".join((f"(?P<{_THOUGHT}>{MARKS})", *(f"(?P<{each.name}>{each.marker})" for each in TEXT_FORMATS.values())))
)
# Every mark holds one of these: most texts have none, and are not searched.
_SIGNS: Final = ("<", "[", "◁", "```", "**Tool Call", "-> tool/", "Action", "Code:", " to=", "analysis")
# What comes before a fence's content is its language, unless it is the content itself.
_FENCE: Final = re.compile(r"```(?:[ \t]*[A-Za-z_]\w*(?=[\s\[{]))?(?P<inside>.*?)(?:```|\Z)", re.DOTALL)
# Marks that models put around a text: <|eom_id|>.
_EDGE: Final = re.compile(r"<\|\w{1,40}\|>")
_MOST_EDGES = 8
_JSON_START: Final = re.compile(r'\{\s*"|\[\s*\{')
_DECODER: Final = json.JSONDecoder()
_PYTHON_LIST: Final = re.compile(r"\[\s*[A-Za-z_][\w.-]*\s*\(")
_PYTHON_LINE: Final = re.compile(r"[A-Za-z_][\w.-]*\((?:[A-Za-z_]\w*\s*=.*)?\)", re.DOTALL)
_PYTHON_CUT: Final = re.compile(r"[\[(]*\s*[A-Za-z_][\w.-]*\s?\(\s*(?:[A-Za-z_]\w*\s*=|\)|\*)")
# How a call without a mark begins, and how ReAct agents label what they think.
_BEGUN: Final = re.compile(r"```|[{\[]")
_LABEL: Final = re.compile(r"^\s*\*{0,2}Thought\*{0,2}\s*:\*{0,2}\s*", re.IGNORECASE)
# Tried where a word begins, not at each of its letters: a word may be as long as the text.
_CALLED: Final = re.compile(r"(?<![\w.-])(?:(?![A-Za-z_])[\w.-])*(?P<name>[A-Za-z_][\w.-]*)\s?\(")
# So alike to a call that it was meant as one, even amid prose: in JSON, as a dict of Python, or without quotes.
_JSON_AMID: Final = re.compile(
    r"""\{\s*["']?(?:name|function)["']?\s*:\s*(?:"(?P<a>[^"\n]{1,200})"|'(?P<b>[^'\n]{1,200})'|(?P<c>[\w.-]{1,200}))"""
    r"""\s*,\s*["']?(?:arguments|parameters|input|args)["']?\s*:\s*(?:[{"'}]|\Z)"""
)
_JSON_NAME: Final = re.compile(r"""["'](?:name|function|tool_name)["']\s*:\s*["'](?P<name>[^"'\n]{1,200})["']""")
# What follows a call within a list that is cut off.
_NEXT_IN_LIST: Final = re.compile(r"\s*,\s*\{")
_PYTHON_AMID: Final = re.compile(r"\[\s*(?P<name>[A-Za-z_][\w.-]*)\(\s*[A-Za-z_]\w*\s*=")


def calls_in_text(text: str, tools: Iterable[ToolSpec] | None = None) -> tuple[Call, ...]:
    """Return the calls of a model's raw text, in order; none where it is prose.

    `tools` are those that the model was offered, None where no one says: their names tell calls without a mark from
    other code, and their schemas give values that arrive as text their types. More calls than a transcript may have are
    one that cannot be read.
    """
    if len(text) > MAX_LENGTH:
        return (MalformedCall(f"longer than {MAX_LENGTH:,} characters", MAX_LENGTH, printable(text[:LONGEST_SHOWN])),)
    calls = _calls_in_text(text, Offered(tools))
    if len(calls) > MOST_CALLS:
        reason = f"{len(calls):,} calls, and a transcript has at most {MOST_CALLS:,}"
        return (MalformedCall(reason, None, printable(text[:LONGEST_SHOWN])),)
    return calls


def goes_on_alone(text: str, tools: Iterable[ToolSpec] | None = None) -> bool:
    """Tell whether an agent wrote its own observation behind an action: what follows it is not read."""
    if len(text) > MAX_LENGTH or "observation" not in text.casefold():
        return False
    offered = Offered(tools)
    return _whole(_stripped(text), offered) is None and _marked(text, offered)[2]


def before_calls(text: str, calls: Sequence[Call]) -> str:
    """Return the words that stand before calls in a text: before the first mark, fence, bracket or line of code."""
    names = "|".join(re.escape(name) for name in dict.fromkeys(call.name for call in calls) if name)
    code = re.compile(rf"^[ \t]*(?:{names})\s*\(", re.MULTILINE) if names else None
    found = [_MARK.search(text), _BEGUN.search(text), code.search(text) if code else None]
    first = min((match.start() for match in found if match), default=0)
    return _LABEL.sub("", text[:first]).strip()


def has_call_mark(text: str) -> bool:
    """Tell whether a text holds a mark that models begin calls with."""
    return _may_have_mark(text) and any(match.lastgroup != _THOUGHT for match in _MARK.finditer(text))


def _may_have_mark(text: str) -> bool:
    return any(sign in text for sign in _SIGNS)


def _calls_in_text(text: str, offered: Offered) -> tuple[Call, ...]:
    # The whole text first: what looks like a mark or a fence may stand inside an argument.
    if (calls := _whole(_stripped(text), offered)) is not None:
        return calls
    marked, rest, _ = _marked(text, offered)
    if marked:
        remains = _attempt_in_json(rest, offered)
        return marked if remains is None else (*marked, remains)
    whole = _stripped(rest)
    if (calls := _whole(whole, offered)) is not None:
        return calls
    pieces = [_stripped(match["inside"]) for match in islice(_FENCE.finditer(rest), _MOST_TRIES)]
    if calls := _in_pieces(pieces, offered):
        remains = _attempt_in_json(_FENCE.sub(" ", rest), offered)
        return calls if remains is None else (*calls, remains)
    if calls := _json_amid_prose(rest, offered) or _python_amid_prose(rest, offered):
        return calls
    attempts = (*(_attempt(piece, offered) for piece in (*pieces, whole)), _attempt_amid_prose(rest, offered))
    return next(((attempt,) for attempt in attempts if attempt is not None), ())


def _marked(text: str, offered: Offered) -> tuple[tuple[Call, ...], str, bool]:
    """Return the calls that marks begin, outside of thoughts, and the text around both.

    Reading ends at an observation that the agent wrote itself behind an action: whether it did is returned, too.
    """
    if not _may_have_mark(text):
        return (), text, False
    source = Source(text, offered)
    calls: list[Call] = []
    rest: list[str] = []
    place = 0
    while match := _MARK.search(text, place):
        rest.append(text[place : match.start()])
        if match.lastgroup == _THOUGHT:
            end = thought_end(text, match.start())
            if end is None:
                # It began before the text: all so far was thought.
                calls.clear()
                rest.clear()
            place = match.end() if end is None else end
            continue
        found, end = TEXT_FORMATS[match.lastgroup or ""].read(source, match)
        calls += found
        place = max(end, match.end(), match.start() + 1)
        if not found:
            rest.append(text[match.start() : place])
        if found and match.lastgroup == REACT.name and OBSERVED.match(text, place):
            return tuple(calls), "".join(rest), True
        if len(calls) > MOST_CALLS:
            break
    rest.append(text[place:])
    return tuple(calls), "".join(rest), False


def _whole(text: str, offered: Offered) -> tuple[Call, ...] | None:
    """Return the calls that the whole text consists of; None where it is something else."""
    calls = calls_in_piece(text)
    if calls is None:
        return None
    # A list of calls in Python's syntax is written for no other purpose, as are calls in JSON without words around.
    if text.startswith(("{", "[")) and all(isinstance(call, ToolCall) or call.name is None for call in calls):
        return calls
    return calls if any(offered.has(call.name) for call in calls) else None


def _in_pieces(pieces: list[str], offered: Offered) -> tuple[Call, ...]:
    """Return the calls of pieces that fences set apart, attempts among them; none where none can be read."""
    read = [_meant(calls_in_piece(piece), offered) for piece in pieces]
    if not any(read):
        return ()
    attempts = [None if calls else _attempt(piece, offered) for calls, piece in zip(read, pieces, strict=True)]
    given = [calls or (() if attempt is None else (attempt,)) for calls, attempt in zip(read, attempts, strict=True)]
    return tuple(call for calls in given for call in calls)


def _meant(calls: tuple[Call, ...] | None, offered: Offered) -> tuple[Call, ...]:
    """Return calls that stand without a mark, where one of them names a tool."""
    return calls if calls and any(offered.has(call.name) for call in calls) else ()


def _stripped(text: str) -> str:
    inner = _without_edges(text.strip())
    if len(inner) > 1 and inner[0] == inner[-1] == "`":
        inner = inner.strip("`").strip()
    return inner


def _without_edges(text: str) -> str:
    for _ in range(_MOST_EDGES):
        if match := _EDGE.match(text):
            text = text[match.end() :].lstrip()
        elif text.endswith("|>") and _EDGE.fullmatch(text, start := max(text.rfind("<|"), 0)):
            text = text[:start].rstrip()
        else:
            break
    return text


def _json_amid_prose(text: str, offered: Offered) -> tuple[Call, ...]:
    """Return the calls in JSON amid prose, and after them what remains, begins like one and cannot be read."""
    calls: list[Call] = []
    rest: list[str] = []
    kept = 0
    # What may still be read in vain.
    tries, characters, place = _MOST_STARTS, 16 * len(text), 0
    while tries and characters > 0 and (match := _JSON_START.search(text, place)):
        start = match.start()
        read, end = _json_at(text, start)
        found = _meant(read, offered)
        if not found:
            tries -= 1
            characters -= end - start
        else:
            calls.extend(found)
            rest.append(text[kept:start])
            kept = end
        place = end if found else start + 1
    if not calls:
        return ()
    rest.append(text[kept:])
    attempts = (_attempt_in_json(part, offered) for part in rest)
    remains = next((attempt for attempt in attempts if attempt is not None), None) or _cut_off(rest[-1])
    return tuple(calls) if remains is None else (*calls, remains)


def _attempt_in_json(text: str, offered: Offered) -> MalformedCall | None:
    """Return the first thing that begins like a call in JSON and cannot be read."""
    place = 0
    for _ in range(_MOST_TRIES):
        match = _JSON_AMID.search(text, place)
        if match is None:
            return None
        meant = offered.has(match["a"] or match["b"] or match["c"])
        if meant and (attempt := malformed_json(text[match.start() :])) is not None:
            return attempt
        place = match.end()
    return None


def _cut_off(rest: str) -> MalformedCall | None:
    """Return the next call of a list that ends within it."""
    if not _NEXT_IN_LIST.match(rest) or _closing(rest, rest.index("{")) is not None:
        return None
    begun = rest[rest.index("{") :]
    return MalformedCall("the text ends within this call", len(begun), printable(begun[:LONGEST_SHOWN]))


def _json_at(text: str, start: int) -> tuple[tuple[Call, ...] | None, int]:
    """Return the calls of the JSON value that begins here, None where there are none, and how far it was read."""
    try:
        _, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        return None, error.pos
    except (ValueError, RecursionError):
        return None, len(text)
    try:
        return calls_of(load_json(text[start:end])), end
    except InvalidDocument:
        return None, end


def _python_amid_prose(text: str, offered: Offered) -> tuple[Call, ...]:
    for match in islice(_PYTHON_LIST.finditer(text), _MOST_TRIES):
        end = _closing(text, match.start())
        if end is not None and (calls := _meant(python_or_none(text[match.start() : end]), offered)):
            return calls
    lines = (line.strip(" \t").removesuffix(";").rstrip(" \t") for line in text.splitlines())
    called = (line for line in lines if _PYTHON_LINE.fullmatch(line))
    calls = tuple(call for line in called for call in _meant(python_or_none(line), offered))
    last = text.rstrip().rsplit("\n", 1)[-1].strip()
    if calls and _PYTHON_CUT.match(last) and _closing(last, last.index("(")) is None:
        return (*calls, MalformedCall("the text ends within this call", len(last), printable(last[:LONGEST_SHOWN])))
    return calls


def _closing(text: str, start: int) -> int | None:
    """Return the end of the bracket that opens at `start`, quotes respected; None where none closes it in reach."""
    depth = 0
    for place, bracket in brackets(text, start):
        depth += 1 if bracket in "([{" else -1
        if depth == 0:
            return place + 1
        if depth > MAX_NESTING:
            return None
    return None


def _attempt(piece: str, offered: Offered) -> MalformedCall | None:
    """Return what was meant as a call of an offered tool and cannot be read; None where nothing was meant."""
    named = _JSON_NAME.search(piece) if piece.startswith(("{", "[{")) else _CALLED.search(piece)
    if named is None or not offered.has(named["name"]):
        return None
    return attempt_in(piece, marked=False)


def _attempt_amid_prose(text: str, offered: Offered) -> MalformedCall | None:
    if attempt := _attempt_in_json(text, offered):
        return attempt
    match = _PYTHON_AMID.search(text)
    if match is None or not offered.has(match["name"]):
        return None
    return malformed_python(text[match.start() : _closing(text, match.start())])


# What is left out, in words.
UNHEEDED = "text behind an observation that the agent wrote itself"


def calls_said(message: Message, tools: Sequence[ToolSpec] | None) -> tuple[Call, ...]:
    """Return the calls in what a message of the assistant says; none where it has structured ones.

    Without the tools that were offered, only what a mark begins and whole texts of calls in JSON are calls.
    """
    if message.role != "assistant" or message.calls or not message.content:
        return ()
    return calls_in_text(message.content, tools or ())


def unheeded(transcript: Transcript, tools: Sequence[ToolSpec] | None, pointer: str) -> tuple[Loss, ...]:
    """Return what is left out of texts that calls were read from; `pointer` leads to what holds them."""
    texts = [message.content or "" for message in transcript.messages if message.from_text]
    count = sum(goes_on_alone(text, tools or ()) for text in texts)
    return (Loss(UNHEEDED, pointer, count, pointer),) if count else ()


def with_text_calls(transcript: Transcript, tools: Sequence[ToolSpec] | None) -> Transcript:
    """Return the transcript with the calls that the last turn of the assistant says in text.

    Where no message has structured calls, every turn of the assistant is read so. What calls is no answer.
    """
    given = transcript.messages
    structured = any(message.calls for message in given)
    last = max((place for place, message in enumerate(given) if message.role == "assistant"), default=-1)
    return _with(
        transcript,
        tuple(
            replace(message, calls=calls, from_text=True)
            if (place == last or not structured) and (calls := calls_said(message, tools))
            else message
            for place, message in enumerate(given)
        ),
    )


def read_with(transcript: Transcript, tools: Sequence[ToolSpec] | None) -> Transcript:
    """Return a transcript that was read when no one knew the tools: calls in text get the types of their schemas."""
    again = tuple(_again(message, tools) if tools else message for message in transcript.messages)
    return with_text_calls(_with(transcript, again), tools)


def _with(transcript: Transcript, messages: tuple[Message, ...]) -> Transcript:
    if messages == transcript.messages:
        return transcript
    answers = transcript.answer is not None and transcript.answer == last_words(transcript.messages)
    return replace(transcript, messages=messages, answer=last_words(messages) if answers else transcript.answer)


def _again(message: Message, tools: Sequence[ToolSpec]) -> Message:
    """Return a message, its calls typed by the tools' schemas where they are those of its text."""
    if not message.calls or not message.content or message.calls != calls_in_text(message.content):
        return message
    calls = calls_in_text(message.content, tools)
    same = [call.name for call in calls] == [call.name for call in message.calls]
    return replace(message, calls=calls) if same else message
