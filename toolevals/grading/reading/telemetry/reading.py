"""Read one span by the convention that its instrumentation follows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from toolevals.grading.reading.parsing.extras import is_count
from toolevals.grading.reading.telemetry.otlp import TelemetrySpan
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument, Problem, pointer_to
from toolevals.json_types import JsonMapping, JsonObject, JsonValue

Kind = Literal["model", "tool", "agent", "other"]
# Attributes of processes, networks and tracers: they tell nothing about a conversation.
_TECHNICAL = (
    "http.", "net.", "network.", "server.", "client.", "url.", "otel.", "telemetry.", "thread.", "code.", "process.",
    "host.", "os.", "rpc.", "db.", "messaging.", "peer.", "user_agent.", "service.", "deployment.", "library.",
)  # fmt: skip
# Stands for NUL, which is no text.
_FOR_NUL: Final = "\ufffd"
NUL_SHOWN: Final = f"holds NUL characters, shown as {_FOR_NUL}"
_CUT: Final = "is JSON that is cut off: a limit of the sender may have cut it"
# What JSON of objects begins with, as words hardly do.
_BEGUN: Final = re.compile(r"\s*(?:\{\s*\"|(?:\[\s*+)++(?:\{\s*\"|\"))")
# What is left of a value that ends in the middle.
_BEGINNINGS: Final = frozenset(("", ".", "-", "e", "e+", "e-", "E", "E+", "E-"))
_WORDS: Final = ("true", "false", "null")
_ESCAPE_LENGTH: Final = len("\\u000")
# Names of attributes that hold what a model made.
_MADE: Final = re.compile(r"^/[a-z]+/.*(?:output|completion|response|choice|events|all_messages)")


@dataclass(frozen=True, slots=True)
class SpanReading:
    """A span, read. `given` and `made` are its input and output: messages of a model call, else any values.

    `given_at` and `made_at` name the attributes they come from, as pointers. `tool` is a tool call's tool, `call_id`
    the id of the call. `tools` are the definitions offered to a model. `usage` counts tokens (`input_tokens`,
    `output_tokens`), `cost` is in the currency of the recorder. `error` is why the span failed, None where it
    did not. `unread` names the attributes that no reader knows.

    `step` is the kind of step in the sender's own word, where the convention has more kinds than these four.
    `damage` names what came cut, dropped or changed, by pointers from the span. `is_partial`: with it, part of what was
    done may be lost.
    """

    convention: str
    kind: Kind
    given: JsonValue = None
    made: Any = None
    given_at: str = ""
    made_at: str = ""
    tool: str = ""
    call_id: str | None = None
    tools: list[Any] | None = None
    usage: Mapping[str, float] = field(default_factory=dict)
    cost: float | None = None
    model: str = ""
    agent: str = ""
    agent_version: str = ""
    session: str = ""
    user: str = ""
    error: str | None = None
    step: str = ""
    unread: tuple[str, ...] = ()
    damage: tuple[Problem, ...] = ()
    is_partial: bool = False


class Attributes:
    """The attributes of a span, with an account of which were read."""

    def __init__(self, span: TelemetrySpan) -> None:
        self.span = span
        self._all = span.attributes
        self._read: set[str] = set()
        # What was wrong with the attributes that were read as JSON.
        self._checked: dict[str, str] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._all

    def value(self, *names: str) -> Any:
        """Return the value of the first of these names that is there; all of them count as read."""
        self._read.update(names)
        return next((self._all[name] for name in names if self._all.get(name) is not None), None)

    def text(self, *names: str) -> str:
        """Return the first value as text; empty where there is none, or where it is no text."""
        value = self.value(*names)
        return value if isinstance(value, str) else ""

    def number(self, *names: str) -> float | None:
        """Return the first value as a count or an amount; None where it is none."""
        value = self.value(*names)
        return value if is_count(value) else None

    def document(self, *names: str) -> Any:
        """Return the first value, read as JSON where it is text that is JSON; None where it began so and is cut."""
        value = self.value(*names)
        found, wrong = _read_json(value)
        self._checked.update((name, wrong) for name in names if self._all.get(name) is value)
        return found

    def result(self, *names: str) -> Any:
        """Return the same of a tool's result, which stays text where it is cut."""
        found = self.document(*names)
        return self.value(*names) if found is None else found

    def nested(self, prefix: str) -> Any:
        """Return everything below a prefix, `a.b.` say, as objects in objects, and lists where keys count from 0."""
        below = {name[len(prefix) :]: value for name, value in self._all.items() if name.startswith(prefix)}
        self._read.update(prefix + name for name in below)
        return listed(nested(below)) if below else None

    def first_name(self, *names: str) -> str:
        """Return the pointer of the first of these names that is there; of the first one where none is."""
        return f"/attributes/{next((name for name in names if self._all.get(name) is not None), names[0])}"

    def damage(self) -> list[Problem]:
        """Return what came cut, dropped or changed of what was read, and of the events."""
        found: list[tuple[tuple[str, ...], str]] = [
            (("attributes", name), self._checked[name] if name in self._checked else cut_in(value))
            for name, value in self._all.items()
            if name in self._read
        ]
        found += [
            (("events", event.name, name), cut_in(value))
            for event in self.span.events
            for name, value in event.attributes.items()
        ]
        dropped = [
            Problem("", f"{count:,} of its {what} {'was' if count == 1 else 'were'} dropped by the sender")
            for what, count in self.span.dropped.items()
            if count
        ]
        return [*(Problem(pointer_to(path), wrong) for path, wrong in found if wrong), *dropped]

    def unread(self) -> tuple[str, ...]:
        """Return the names that no one read, without those of processes, networks and tracers."""
        return tuple(name for name in self._all if name not in self._read and not name.startswith(_TECHNICAL))


def json_or_text(value: object) -> Any:
    """Return the value of JSON text; None of what began as JSON and cannot be read. All else comes back as it is."""
    return _read_json(value)[0]


def _read_json(value: object) -> tuple[Any, str]:
    """Return what a value says, read as JSON where it is such text, and what is wrong with it."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "[", '"'):
        return value, ""
    try:
        return load_json(value), ""
    except InvalidDocument as error:
        if _is_cut(value):
            return None, _CUT
        if _BEGUN.match(value) and "Extra data" not in error.problems[0].message:
            return None, f"is JSON that cannot be read: {error.problems[0].message}"
        return value, ""


def cut_in(value: object) -> str:
    """Return that a text, or a text in a list, is JSON that is cut. Else nothing."""
    texts = value if isinstance(value, list) else [value]
    return _CUT if any(isinstance(text, str) and _is_cut(text) for text in texts) else ""


def _is_cut(text: str) -> bool:
    """Tell whether an object or a list of JSON ends in the middle."""
    if text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        rest = text[error.pos :].strip()
        if "Unterminated" in error.msg or ("escape" in error.msg and len(rest) <= _ESCAPE_LENGTH):
            return True
        return rest in _BEGINNINGS or any(word.startswith(rest) for word in _WORDS)
    except (ValueError, RecursionError):
        return False
    return False


def without_nul(value: object) -> Any:
    """Return a value of JSON with what stands for NUL in its place, in texts that are JSON too."""
    if isinstance(value, str):
        text = value.replace("\0", _FOR_NUL) if "\0" in value else value
        is_json = "\\u0000" in text and text.lstrip()[:1] in ("{", "[", '"')
        return text.replace("\\u0000", "\\ufffd") if is_json else text
    if isinstance(value, list):
        return [without_nul(each) for each in value]
    if isinstance(value, Mapping):
        return {without_nul(key): without_nul(each) for key, each in value.items()}
    return value


def is_partial(reading: SpanReading, span: TelemetrySpan) -> bool:
    """Tell whether part of what was done in a span may be lost: cut, or dropped by the sender."""
    cut = [each.pointer for each in reading.damage if each.message != NUL_SHOWN]
    if reading.kind == "tool":
        return reading.given is None and reading.given_at in cut
    dropped = span.dropped.get("attributes") or span.dropped.get("events")
    return reading.kind == "model" and bool(dropped or any(_MADE.match(pointer) for pointer in cut))


def nested(flat: JsonMapping) -> JsonObject:
    """Return an object whose keys with dots are objects in objects; what meets a value on its way stays flat."""
    made: JsonObject = {}
    for name, value in flat.items():
        at, path = made, name.split(".")
        for depth, part in enumerate(path[:-1]):
            below = at.setdefault(part, {})
            if not isinstance(below, dict):
                path = [*path[:depth], ".".join(path[depth:])]
                break
            at = below
        at[path[-1]] = value
    return made


def listed(value: object) -> Any:
    """Return objects whose keys are all whole numbers as lists, in their order, at every depth."""
    if not isinstance(value, dict):
        return value
    if value and all(key.isascii() and key.isdigit() and len(key) < 7 for key in value):
        return [listed(value[key]) for key in sorted(value, key=int)]
    return {key: listed(inner) for key, inner in value.items()}


def items_of(value: object) -> Iterator[Any]:
    """Yield the items of a list; nothing of anything else."""
    if isinstance(value, list):
        yield from value


def failure(attributes: Attributes) -> str | None:
    """Return why a span failed: its status, an exception, or the type of its error. None where it did not."""
    span = attributes.span
    kind = attributes.text("error.type")
    raised = next((event.attributes for event in span.events if event.name == "exception"), {})
    words = str(raised.get("exception.message") or raised.get("exception.type") or attributes.text("error.message"))
    if span.status == "error":
        return span.status_message or words or kind or "failed"
    if span.status == "ok":
        return None
    return (words or kind) if kind or attributes.text("error.message") else None
