"""Declare tools by a decorator: their specs are kept, and each call is a span where tracing is on."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncIterator, Callable, Collection, Generator
from typing import Any, TypeVar, cast, overload

from toolevals.json_types import JsonMapping, JsonObject
from toolevals.sdk.errors import ToolError
from toolevals.sdk.specs import Form, ToolSpec, parameters_of, spec_of
from toolevals.sdk.tracing import Recording, is_tracing, tool_answered, tool_failed, tool_started

Function = TypeVar("Function", bound=Callable[..., Any])
_declared: dict[str, tuple[ToolSpec, Callable[..., Any]]] = {}
# So many items of a generator are recorded.
_MOST_ITEMS = 1_000


@overload
def tool(function: Function) -> Function: ...


@overload
def tool(*, name: str = "", description: str = "", hide: Collection[str] = ()) -> Callable[[Function], Function]: ...


def tool(
    function: Function | None = None, *, name: str = "", description: str = "", hide: Collection[str] = ()
) -> Function | Callable[[Function], Function]:
    """Declare a function to be a tool: `@tool`, or `@tool(name=..., description=..., hide=[...])`.

    `hide` names parameters that the agent's own code fills. The function stays what it was: plain, async, a generator
    or an async generator. Its spec is `function.tool_spec`. Raises ToolError where it cannot be a tool.
    """

    def declare(of: Function) -> Function:
        spec = spec_of(of, name, description, hide)
        _keep(spec, of)
        made: Any = functools.wraps(of)(_wrapped(of, spec, frozenset(hide)))
        made.tool_spec = spec
        return cast("Function", made)

    return declare if function is None else declare(function)


def tool_specs(form: Form = "native") -> list[JsonObject]:
    """Return the specs of all declared tools, by name: native, as registries import them, or an interface's."""
    return [spec.document(form) for _, (spec, _) in sorted(_declared.items())]


def _keep(spec: ToolSpec, function: Callable[..., Any]) -> None:
    before = _declared.get(spec.name)
    # A module that is loaded again declares its tools again.
    if before is not None and _home(before[1]) != _home(function):
        raise ToolError(
            f"{spec.name}: two tools have this name, of {_home(before[1])} and {_home(function)}: give name="
        )
    _declared[spec.name] = (spec, function)


def _home(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"


def _wrapped(function: Callable[..., Any], spec: ToolSpec, hidden: frozenset[str]) -> Callable[..., Any]:
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": spec.name,
        "gen_ai.tool.type": "function",
    } | ({"gen_ai.tool.description": spec.description} if spec.description else {})
    every = list(inspect.signature(function).parameters)
    shown = {each.name for each in parameters_of(function)} - hidden

    def begin(args: tuple[object, ...], kwargs: JsonMapping) -> Recording:
        given = {**dict(zip(every, args, strict=False)), **kwargs}
        return tool_started(spec.name, attributes, {key: value for key, value in given.items() if key in shown})

    if inspect.isasyncgenfunction(function):
        return _async_generator(function, begin)
    if inspect.isgeneratorfunction(function):
        return _generator(function, begin)
    if inspect.iscoroutinefunction(function):
        return _coroutine(function, begin)
    return _plain(function, begin)


Begin = Callable[[tuple[Any, ...], JsonMapping], Recording]


def _plain(function: Callable[..., Any], begin: Begin) -> Callable[..., Any]:
    def called(*args: object, **kwargs: object) -> Any:
        if not is_tracing():
            return function(*args, **kwargs)
        recording = begin(args, kwargs)
        recording.enter()
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            recording.leave()
            tool_failed(recording, error)
            raise
        recording.leave()
        tool_answered(recording, result)
        return result

    return called


def _coroutine(function: Callable[..., Any], begin: Begin) -> Callable[..., Any]:
    async def called(*args: object, **kwargs: object) -> Any:
        if not is_tracing():
            return await function(*args, **kwargs)
        recording = begin(args, kwargs)
        recording.enter()
        try:
            result = await function(*args, **kwargs)
        except BaseException as error:
            recording.leave()
            tool_failed(recording, error)
            raise
        recording.leave()
        tool_answered(recording, result)
        return result

    return called


def _generator(function: Callable[..., Any], begin: Begin) -> Callable[..., Any]:
    def called(*args: object, **kwargs: object) -> Generator[Any, Any, Any]:
        recording = begin(args, kwargs)
        steps, items = function(*args, **kwargs), _Items()
        step, value = steps.send, None
        try:
            while True:
                # Between its steps other code runs, whose spans are not below this one.
                recording.enter()
                try:
                    item = step(value)
                finally:
                    recording.leave()
                items.add(item)
                try:
                    value, step = (yield item), steps.send
                except GeneratorExit:
                    steps.close()
                    raise
                except BaseException as error:  # noqa: BLE001 - the tool's own to deal with
                    value, step = error, steps.throw
        except StopIteration as stop:
            tool_answered(recording, items.with_return(stop.value))
            return stop.value
        except GeneratorExit:
            tool_answered(recording, items.with_return(None))
            raise
        except BaseException as error:
            tool_failed(recording, error)
            raise

    return called


def _async_generator(function: Callable[..., Any], begin: Begin) -> Callable[..., Any]:
    async def called(*args: object, **kwargs: object) -> AsyncIterator[Any]:
        recording = begin(args, kwargs)
        steps, items = function(*args, **kwargs), _Items()
        step, value = steps.asend, None
        try:
            while True:
                recording.enter()
                try:
                    item = await step(value)
                finally:
                    recording.leave()
                items.add(item)
                try:
                    value, step = (yield item), steps.asend
                except GeneratorExit:
                    await steps.aclose()
                    raise
                except BaseException as error:  # noqa: BLE001 - as above
                    value, step = error, steps.athrow
        except (StopAsyncIteration, GeneratorExit) as end:
            tool_answered(recording, items.with_return(None))
            if isinstance(end, GeneratorExit):
                raise
        except BaseException as error:
            tool_failed(recording, error)
            raise

    return called


class _Items:
    """The yield of a generator: the first items, and how many more."""

    def __init__(self) -> None:
        self._kept: list[Any] = []
        self._more = 0

    def add(self, item: object) -> None:
        if len(self._kept) < _MOST_ITEMS:
            self._kept.append(item)
        else:
            self._more += 1

    def with_return(self, value: object) -> list[Any]:
        """Return the items, with what the generator returned as the last where it returned something."""
        more = [f"… (cut: {self._more:,} more items)"] if self._more else []
        return [*self._kept, *more, *([] if value is None else [value])]
