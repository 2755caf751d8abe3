"""Make the baseline's one decision: which tool, if any, and with which arguments."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

from toolevals.grading.values import Message, ToolCall, ToolSpec, Transcript
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.baseline.arguments import Source, fill
from toolevals.runs.baseline.ranking import relevances

NAME = "baseline"
# Part of every baseline agent: a change of what it answers is a new version, and so a new agent.
VERSION = "1"
# Separates best, on single-tool requests, their own tool from the fifth most relevant of the other requests'; found
# by `benchmarks/_threshold.py` on simple_python, simple_java, simple_javascript and live_simple of the BFCL.
THRESHOLD = 0.06
NO_TOOL = "No offered tool fits this request."


@dataclass(frozen=True, slots=True)
class BaselineOptions:
    """`threshold`: the relevance, from 0 to 1, below which no tool is called."""

    threshold: float = THRESHOLD

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Read an agent's options; what is not said is at its default. Raises InvalidDocument."""
        value = document.get("threshold", THRESHOLD)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise InvalidDocument.at("/threshold", "must be a number from 0 to 1")
        if not 0 <= value <= 1:
            raise InvalidDocument.at("/threshold", "must be from 0 to 1")
        if unknown := set(document) - {"threshold", "version"}:
            raise InvalidDocument.at(f"/{min(unknown)}", "is not an option of the baseline")
        return cls(float(value))

    def to_document(self) -> dict[str, Any]:
        """Return every option and the version that reads them."""
        return {**asdict(self), "version": VERSION}


def respond(example: Mapping[str, Any], tools: Sequence[ToolSpec], options: BaselineOptions) -> Transcript:
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


def _arguments(tool: ToolSpec, turns: Sequence[str], context: Mapping[str, Any]) -> dict[str, Any]:
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
