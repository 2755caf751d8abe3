"""Defines a rule of a policy: options that are read and written as a document, and a test that they compile to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeAlias

from toolevals.grading.guard.decoding import Texts, is_too_large, texts_of
from toolevals.grading.guard.names import Names
from toolevals.grading.guard.request import Request, State
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.problems import Problem, parts_of
from toolevals.json_types import JsonMapping, JsonObject, JsonValue

Stage = Literal["call", "result"]
CALL: frozenset[Stage] = frozenset(("call",))


class Late(Exception):  # noqa: N818 (no error: the deadline has passed)
    """The deadline passed while a rule was looking."""


class Finding(NamedTuple):
    """One thing that a rule refuses, or with `is_unknown` that keeps it from telling, with its place in the request."""

    pointer: str
    sentence: str
    is_unknown: bool = False


class Look:
    """A request with what came before it. What several rules read of it is made once."""

    def __init__(self, request: Request, state: State) -> None:
        self.request = request
        self.state = state

    @cached_property
    def too_large(self) -> str:
        """The pointer to what is too large to be looked at, "" where nothing is."""
        if is_too_large(self.request.arguments):
            return "/arguments"
        return "/result" if self.request.has_result and is_too_large(self.request.result) else ""

    @cached_property
    def argument_texts(self) -> Texts:
        """The texts of the call's arguments."""
        return texts_of(self.request.arguments, "/arguments")

    @cached_property
    def result_texts(self) -> Texts:
        """The texts of the call's result."""
        return texts_of(self.request.result, "/result")

    def pause(self) -> None:
        """Raise Late where the deadline has passed."""
        if self.state.is_late is not None and self.state.is_late():
            raise Late


Test: TypeAlias = Callable[[Look], Iterable[Finding]]


@dataclass(frozen=True, slots=True)
class Options:
    """Options whose document is read and written by their fields; a field of other options says so by `of`."""

    @classmethod
    def from_document(cls, document: JsonMapping) -> Self:
        """Read a document that the schema has passed."""
        found: JsonObject = {}
        for each in fields(cls):
            if each.name in document:
                found[each.name] = _read(document[each.name], each.metadata.get("of"))
        return cls(**found)

    def to_document(self) -> JsonObject:
        """Return the normal form, without what is at its default."""
        document: JsonObject = {}
        for each in fields(self):
            value = getattr(self, each.name)
            default = each.default if each.default_factory is MISSING else each.default_factory()
            if value != default:
                document[each.name] = _written(value)
        return document

    def problems(self) -> Iterator[Problem]:
        """Yield what is wrong that the schema cannot tell, by pointers into the document."""
        yield from ()


@dataclass(frozen=True, slots=True)
class Rule(Options):
    """One rule of a policy, of a kind."""

    kind: ClassVar[str]
    # Whether it looks into arguments and results, which may be too large for it.
    reads_values: ClassVar[bool] = True

    @property
    def stages(self) -> frozenset[Stage]:
        """The stages at which the rule is asked: of a call before it is made, of its result, or of both."""
        return CALL

    def compiled(self, tools: Mapping[str, ToolSpec]) -> Test:
        """Return the test of this rule with the tools that are offered."""
        raise NotImplementedError


def _read(value: JsonValue, of: type[Options] | None) -> Any:
    if isinstance(value, list):
        return tuple(value if of is None else map(of.from_document, value))
    if isinstance(value, dict):
        return {name: inner if of is None else of.from_document(inner) for name, inner in value.items()}
    return value


def _written(value: JsonValue) -> Any:
    if isinstance(value, tuple):
        return [_written(each) for each in value]
    if isinstance(value, dict):
        return {name: _written(each) for name, each in value.items()}
    return value.to_document() if isinstance(value, Options) else value


@dataclass(frozen=True, slots=True)
class Place(Options):
    """Arguments of tools: a glob of the tool's name, and a JSON pointer into the arguments; `*` is any one part.

    A place holds all that is below it. The pointer "" is the whole call, its result included.
    """

    tool: str = "*"
    pointer: str = ""


class Places:
    """Places, compiled."""

    def __init__(self, places: Iterable[Place]) -> None:
        self._places = tuple((Names((each.tool,)), parts_of(each.pointer)) for each in places)

    def __bool__(self) -> bool:
        return bool(self._places)

    def of(self, tool: str) -> list[tuple[str, ...]]:
        """Return the parts of the pointers for a tool."""
        return [parts for names, parts in self._places if names.holds(tool)]

    def hold(self, tool: str, pointer: str) -> bool:
        """Tell whether a pointer into a request of a tool is at one of the places or below it."""
        stage, *path = parts_of(pointer) or ("",)
        return any(
            not parts or (stage == "arguments" and len(path) >= len(parts) and all(map(_fits, parts, path)))
            for parts in self.of(tool)
        )


def _fits(part: str, step: str) -> bool:
    return part in ("*", step)


def quoted(text: str, length: int = 80) -> str:
    """Return a text for a sentence: cut, and on one line."""
    line = " ".join(text[: 4 * length].split())
    return f"`{line[:length]}…`" if len(line) > length else f"`{line}`"
