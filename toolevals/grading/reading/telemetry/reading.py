"""Read one span by the convention that its instrumentation follows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from toolevals.grading.reading.parsing.measures import is_count
from toolevals.grading.reading.telemetry.spans import TelemetrySpan
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument

Kind = Literal["model", "tool", "agent", "other"]
# Attributes of processes, networks and tracers: they tell nothing about a conversation.
_TECHNICAL = (
    "http.", "net.", "network.", "server.", "client.", "url.", "otel.", "telemetry.", "thread.", "code.", "process.",
    "host.", "os.", "rpc.", "db.", "messaging.", "peer.", "user_agent.", "service.", "deployment.", "library.",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SpanReading:
    """A span, read. `given` and `made` are its input and output: messages of a model call, else any values.

    `given_at` and `made_at` name the attributes they come from, as pointers. `tool` is a tool call's tool, `call_id`
    the id of the call. `tools` are the definitions offered to a model. `usage` counts tokens (`input_tokens`,
    `output_tokens`), `cost` is in the currency of the recorder. `error` is why the span failed, None where it
    did not. `unread` names the attributes that no reader knows.
    """

    convention: str
    kind: Kind
    given: Any = None
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
    unread: tuple[str, ...] = ()


class Attributes:
    """The attributes of a span, with an account of which were read."""

    def __init__(self, span: TelemetrySpan) -> None:
        self.span = span
        self._all = span.attributes
        self._read: set[str] = set()

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
        """Return the first value, read as JSON where it is text that is JSON."""
        return json_or_text(self.value(*names))

    def nested(self, prefix: str) -> Any:
        """Return everything below a prefix, `a.b.` say, as objects in objects, and lists where keys count from 0."""
        below = {name[len(prefix) :]: value for name, value in self._all.items() if name.startswith(prefix)}
        self._read.update(prefix + name for name in below)
        return listed(nested(below)) if below else None

    def first_name(self, *names: str) -> str:
        """Return the pointer of the first of these names that is there; of the first one where none is."""
        return f"/attributes/{next((name for name in names if self._all.get(name) is not None), names[0])}"

    def unread(self) -> tuple[str, ...]:
        """Return the names that no one read, without those of processes, networks and tracers."""
        return tuple(name for name in self._all if name not in self._read and not name.startswith(_TECHNICAL))


def json_or_text(value: Any) -> Any:
    """Return the value of JSON text; text that is no JSON, and what is no text, as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "[", '"'):
        return value
    try:
        return load_json(value)
    except InvalidDocument:
        return value


def nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object whose keys with dots are objects in objects; what meets a value on its way stays flat."""
    made: dict[str, Any] = {}
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


def listed(value: Any) -> Any:
    """Return objects whose keys are all whole numbers as lists, in their order, at every depth."""
    if not isinstance(value, dict):
        return value
    if value and all(key.isascii() and key.isdigit() and len(key) < 7 for key in value):
        return [listed(value[key]) for key in sorted(value, key=int)]
    return {key: listed(inner) for key, inner in value.items()}


def items_of(value: Any) -> Iterator[Any]:
    """Yield the items of a list; nothing of anything else."""
    if isinstance(value, list):
        yield from value


def failure(attributes: Attributes) -> str | None:
    """Return why a span failed: its status, an exception, or the type of its error. None where it did not."""
    span = attributes.span
    kind = attributes.text("error.type")
    raised = next((event.attributes for event in span.events if event.name == "exception"), {})
    words = str(raised.get("exception.message") or raised.get("exception.type") or "")
    if span.status == "error":
        return span.status_message or words or kind or "failed"
    if span.status == "ok":
        return None
    return (words or kind) if kind else None
