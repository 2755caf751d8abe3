"""Make the baseline's one decision: which tool, if any, and with which arguments.

Arguments come from the conversation; what is not mentioned is not made up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import Any, Self

from toolevals.grading.values import Message, ToolCall, ToolSpec, Transcript
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping, JsonObject
from toolevals.runs.baseline.mentions import Kind, Mention, mentions
from toolevals.runs.baseline.ranking import relevances
from toolevals.runs.baseline.slots import Slot
from toolevals.runs.baseline.words import words

# How many characters may stand between a parameter's name and its value, for a required and for an optional one.
_NEAR, _CLOSE = 60, 25
_MAX_DEPTH = 3
# Longer texts are read up to here.
_MAX_TEXT = 20_000
_NEGATIONS = ("no ", "not ", "without ", "n't ", "exclude ", "disable ")
NAME = "baseline"
# Part of every baseline agent: a change of what it answers is a new version, and so a new agent.
VERSION = "1"
# Separates best, on single-tool requests, their own tool from the fifth most relevant of the other requests'; found
# by `tests/runs/baseline/test_threshold.py` on simple_python, simple_java, simple_javascript, live_simple of the BFCL.
THRESHOLD = 0.06
NO_TOOL = "No offered tool fits this request."


@dataclass(slots=True)
class Source:
    """A text to take values from; each of its mentions serves once."""

    text: str
    context: JsonMapping = field(default_factory=dict)
    mentions: list[Mention] = field(init=False)
    lower: str = field(init=False)

    def __post_init__(self) -> None:
        self.text = self.text[:_MAX_TEXT]
        self.mentions = mentions(self.text)
        self.lower = self.text.lower()

    def take(self, mention: Mention) -> None:
        """Mark `mention` as used."""
        self.mentions.remove(mention)

    def distance(self, slot: Slot, mention: Mention) -> int | None:
        """Return how many characters lie between the mention and a word of the slot's name; None where too many."""
        before = self.text[max(0, mention.start - _NEAR) : mention.start]
        after = self.text[mention.end : mention.end + _CLOSE]
        gaps = [len(before) - end for end in _ends(before, slot.cues)]
        # A unit or noun may follow its number ("100 trials"), but a name in front is the better sign.
        gaps += [end + _CLOSE for end in _ends(after, slot.cues)]
        return min(gaps, default=None)


def _ends(text: str, cues: frozenset[str]) -> Iterator[int]:
    """Yield where the words of `text` that are among `cues` end."""
    end = 0
    for is_word, letters in groupby(text, str.isalnum):
        token = "".join(letters)
        end += len(token)
        if is_word and cues.intersection(words(token)):
            yield end


def fill(schema: JsonMapping, source: Source, *, depth: int = 0) -> JsonObject:
    """Return arguments for an object schema, in the schema's order; only those for which something speaks."""
    slots = _slots(schema)
    values: JsonObject = {}
    for slot in slots:
        if (value := _said(slot, source)) is not None:
            values[slot.name] = value
    values |= _announced(_open(slots, values), source)
    for slot in _open(slots, values):
        if (value := _rest(slot, source, depth)) is not None:
            values[slot.name] = value
    return {slot.name: values[slot.name] for slot in slots if slot.name in values}


def _slots(schema: JsonMapping) -> list[Slot]:
    properties = schema.get("properties")
    required = schema.get("required")
    needed = set(map(str, required)) if isinstance(required, list) else set()
    pairs = properties.items() if isinstance(properties, dict) else ()
    return [Slot(name, inner if isinstance(inner, dict) else {}, name in needed) for name, inner in pairs]


def _open(slots: list[Slot], found: JsonMapping) -> list[Slot]:
    return [slot for slot in slots if slot.name not in found]


def _said(slot: Slot, source: Source) -> Any:
    """Return what the context, the only possible value, the mentioned choice or a flag's name decides, or None."""
    given = source.context.get(slot.name)
    if isinstance(given, str | int | float):
        return given
    if "const" in slot.schema:
        return slot.schema["const"] if slot.required else None
    choices = slot.schema.get("enum")
    if isinstance(choices, list):
        return _choice(choices, source)
    return _flag(slot, source) if slot.type == "boolean" else None


def _choice(choices: list[Any], source: Source) -> Any:
    """Return the longest choice that the text mentions, an underscore reading like a space."""
    mentioned = [
        choice for choice in choices if isinstance(choice, str) and choice and _mentioned(choice, source.lower)
    ]
    return max(mentioned, key=len, default=None)


def _mentioned(choice: str, lower: str) -> bool:
    return any(_whole_word(form, lower) for form in {choice.lower(), choice.lower().replace("_", " ")})


def _whole_word(form: str, lower: str) -> bool:
    at = lower.find(form)
    while at >= 0:
        end = at + len(form)
        if not (lower[at - 1 : at].isalnum() and at) and not lower[end : end + 1].isalnum():
            return True
        at = lower.find(form, at + 1)
    return False


def _flag(slot: Slot, source: Source) -> bool | None:
    """Return True where the flag's own words are in the text, False where a negation stands before them."""
    for end in _ends(source.lower, slot.cues):
        return not any(negation in source.lower[max(0, end - 30) : end] for negation in _NEGATIONS)
    return None


def _announced(slots: list[Slot], source: Source) -> JsonObject:
    """Give mentions to the parameters whose names stand nearest to them."""
    pairs = sorted(
        (
            (gap, slot.kinds.index(mention.kind), number, mention.start, slot, mention)
            for number, slot in enumerate(slots)
            for mention in source.mentions
            if mention.kind in slot.kinds and (gap := source.distance(slot, mention)) is not None
            if slot.required or gap <= _CLOSE
        ),
        key=lambda pair: pair[:4],
    )
    values: JsonObject = {}
    for *_, slot, mention in pairs:
        if slot.name not in values and mention in source.mentions and (value := slot.value(mention)) is not None:
            values[slot.name] = value
            source.take(mention)
    return values


def _rest(slot: Slot, source: Source, depth: int) -> Any:
    """Return a value for a parameter that nothing in the text announces, or None."""
    if slot.type == "array":
        return _items(slot, source)
    if slot.type == "object":
        inner = fill(slot.schema, source, depth=depth + 1) if depth < _MAX_DEPTH else {}
        return inner or ({} if slot.required else None)
    if not slot.required:
        return None
    for kind in slot.kinds:
        for mention in source.mentions:
            if mention.kind is kind and (value := slot.value(mention)) is not None:
                source.take(mention)
                return value
    if slot.schema.get("default") is not None:
        return slot.schema["default"]
    return source.text.strip() if slot.takes_whole_text else None


def _items(slot: Slot, source: Source) -> list[Any] | None:
    """Return the longest list that the text enumerates, as items of the array; None where there is none."""
    items = slot.schema.get("items")
    item = Slot(slot.name, items if isinstance(items, dict) else {}, required=True)
    choices = item.schema.get("enum")
    if isinstance(choices, list):
        return [choice for choice in choices if isinstance(choice, str) and _mentioned(choice, source.lower)] or None
    runs = [run for kind in item.kinds for run in _enumerations(source, kind)]
    longest = max(runs, key=len, default=[])
    if not longest or (len(longest) == 1 and not slot.required):
        return None
    values = [item.value(mention) for mention in longest]
    for mention in longest:
        source.take(mention)
    return [value for value in values if value is not None] or None


def _enumerations(source: Source, kind: Kind) -> list[list[Mention]]:
    """Return the runs of mentions of one kind between which only commas, brackets and "and" stand."""
    runs: list[list[Mention]] = []
    for mention in (mention for mention in source.mentions if mention.kind is kind):
        between = source.lower[runs[-1][-1].end : mention.start] if runs else ""
        if runs and not between.replace("and", "").replace("or", "").strip(" ,;[]()\n"):
            runs[-1].append(mention)
        else:
            runs.append([mention])
    return runs


@dataclass(frozen=True, slots=True)
class BaselineOptions:
    """`threshold`: the relevance, from 0 to 1, below which no tool is called."""

    threshold: float = THRESHOLD

    @classmethod
    def from_document(cls, document: JsonMapping) -> Self:
        """Read an agent's options; what is not said is at its default. Raises InvalidDocument."""
        value = document.get("threshold", THRESHOLD)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise InvalidDocument.at("/threshold", "must be a number from 0 to 1")
        if not 0 <= value <= 1:
            raise InvalidDocument.at("/threshold", "must be from 0 to 1")
        if unknown := set(document) - {"threshold", "version"}:
            raise InvalidDocument.at(f"/{min(unknown)}", "is not an option of the baseline")
        return cls(float(value))

    def to_document(self) -> JsonObject:
        """Return every option and the version that reads them."""
        return {**asdict(self), "version": VERSION}


def respond(example: JsonMapping, tools: Sequence[ToolSpec], options: BaselineOptions) -> Transcript:
    """Return what the baseline does with an example's input, `{"messages": [...], "context": {...}}`.

    It calls the tool most relevant to the last thing the user said, the first of equals, or none below the threshold.
    Arguments come from that turn, what is still missing from earlier ones.
    """
    turns = list(_user_turns(example.get("messages")))
    request = turns[-1] if turns else ""
    scores = relevances(request, tools)
    best = max(range(len(tools)), key=lambda place: (scores[place], -place), default=None)
    if best is None or scores[best] < options.threshold or not scores[best]:
        return Transcript(messages=(Message("assistant", NO_TOOL),), answer=NO_TOOL)
    context = example.get("context")
    tool = tools[best]
    call = ToolCall(tool.name, _arguments(tool, turns, context if isinstance(context, dict) else {}))
    return Transcript(messages=(Message("assistant", None, (call,)),))


def _arguments(tool: ToolSpec, turns: Sequence[str], context: JsonMapping) -> JsonObject:
    """Return arguments from the newest turn; required ones that it lacks from the turns before, newest first."""
    schema = tool.input_schema
    filled = fill(schema, Source(turns[-1], context))
    required = schema.get("required")
    for turn in reversed(turns[:-1]):
        missing = [name for name in required if name not in filled] if isinstance(required, list) else []
        if not missing:
            break
        earlier = fill(schema, Source(turn))
        filled |= {name: earlier[name] for name in missing if name in earlier}
    return filled


def _user_turns(messages: Any) -> Iterator[str]:
    """Yield the texts of the user's messages; a message may be a list of parts."""
    for message in messages if isinstance(messages, list) else ():
        if not isinstance(message, dict) or message.get("role") != "user":
            continue
        content = message.get("content")
        parts = content if isinstance(content, list) else [{"text": content}]
        texts = [part.get("text") for part in parts if isinstance(part, dict)]
        if text := "\n".join(text for text in texts if isinstance(text, str)):
            yield text
