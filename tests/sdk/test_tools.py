"""Calls of tools as spans: plain, async, generators and async generators; what raises raises, and nothing else does."""

from __future__ import annotations

import asyncio
import inspect
import json
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator, Iterator
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from toolevals.sdk import agent_span, tool, tool_call, tracing

ARGUMENTS, RESULT, CALL = "gen_ai.tool.call.arguments", "gen_ai.tool.call.result", "gen_ai.tool.call.id"


def only(exporter: InMemorySpanExporter) -> ReadableSpan:
    (span,) = exporter.get_finished_spans()
    return span


def said(span: ReadableSpan, name: str) -> Any:
    return (span.attributes or {}).get(name)


def test_a_call_is_a_span_of_the_convention(exporter):
    @tool
    def get_order(order_id: str, *, fresh: bool = False) -> dict[str, str]:
        """Return an order."""
        return {"state": "sent"}

    with tool_call("c1"):
        assert get_order("A-1", fresh=True) == {"state": "sent"}
    span = only(exporter)
    assert span.name == "execute_tool get_order"
    assert dict(span.attributes or {}) == {
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get_order", "gen_ai.tool.type": "function",
        "gen_ai.tool.description": "Return an order.", CALL: "c1", ARGUMENTS: '{"order_id":"A-1","fresh":true}',
        RESULT: '{"state":"sent"}',
    }  # fmt: skip


def test_what_a_tool_raises_is_raised_and_recorded(exporter):
    @tool
    def get_stock(sku: int) -> int:
        raise LookupError("no such sku")

    with pytest.raises(LookupError, match="no such sku"):
        get_stock(7)
    span = only(exporter)
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, "no such sku")
    assert (said(span, "error.type"), [event.name for event in span.events]) == ("LookupError", ["exception"])


def test_async_tools_at_once_keep_their_ids_and_parents(exporter):
    @tool
    async def inner(name: str) -> str:
        await asyncio.sleep(0)
        return name

    @tool
    async def outer(name: str) -> str:
        await asyncio.sleep(0)
        return await inner(name)

    async def call(number: int) -> str:
        with tool_call(f"c{number}"):
            return await outer(str(number))

    async def both() -> list[str]:
        return await asyncio.gather(*map(call, range(3)))

    assert asyncio.run(both()) == ["0", "1", "2"]
    assert inspect.iscoroutinefunction(outer)
    spans = exporter.get_finished_spans()
    outers = {span.context.span_id: span for span in spans if span.name == "execute_tool outer"}
    assert sorted(said(span, CALL) for span in outers.values()) == ["c0", "c1", "c2"]
    for span in spans:
        if span.name == "execute_tool inner":
            assert said(span, CALL) is None
            assert said(outers[span.parent.span_id], ARGUMENTS) == said(span, ARGUMENTS)


def test_a_cancelled_tool_ends_its_span(exporter):
    @tool
    async def wait() -> None:
        await asyncio.Event().wait()

    async def cancelled() -> None:
        task = asyncio.create_task(wait())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert said(only(exporter), "error.type") == "asyncio.exceptions.CancelledError"


def test_a_generator_is_one_span_from_its_first_step_to_its_end(exporter):
    @tool
    def count(to: int) -> Generator[int, str, list[str | None]]:
        heard: list[str | None] = []
        for number in range(to):
            try:
                heard.append((yield number))
            except KeyError:
                heard.append("thrown")
        return heard

    steps = count(3)
    assert inspect.isgeneratorfunction(count)
    assert exporter.get_finished_spans() == ()
    assert next(steps) == 0
    # Between two steps the caller's spans are no children of the tool's.
    assert not trace.get_current_span().get_span_context().is_valid
    assert steps.send("a") == 1
    assert steps.throw(KeyError()) == 2
    with pytest.raises(StopIteration) as stop:
        next(steps)
    assert stop.value.value == ["a", "thrown", None]
    assert json.loads(said(only(exporter), RESULT)) == [0, 1, 2, ["a", "thrown", None]]


def test_a_generator_that_is_left_or_breaks_ends_its_span(exporter):
    closed = []

    @tool
    def count(to: int) -> Iterator[int]:
        try:
            for number in range(to):
                yield 6 // (1 - number)
        finally:
            closed.append(to)

    for number in count(5):
        assert number == 6
        break
    with pytest.raises(ZeroDivisionError):
        list(count(2))
    left, broken = exporter.get_finished_spans()
    assert (said(left, RESULT), left.status.status_code) == ("[6]", StatusCode.UNSET)
    assert (said(broken, "error.type"), closed) == ("ZeroDivisionError", [5, 2])


def test_async_generators_are_spans_too(exporter):
    @tool
    async def count(to: int) -> AsyncGenerator[int, None]:
        for number in range(to):
            await asyncio.sleep(0)
            yield number

    @tool
    async def broken() -> AsyncGenerator[int, None]:
        yield 1
        raise ValueError("no more")

    async def use() -> None:
        assert [number async for number in count(3)] == [0, 1, 2]
        steps = count(9)
        assert await anext(steps) == 0
        await steps.aclose()
        with pytest.raises(ValueError, match="no more"):
            [number async for number in broken()]

    asyncio.run(use())
    spans = exporter.get_finished_spans()
    assert [said(span, RESULT) for span in spans] == ["[0,1,2]", "[0]", None]
    assert said(spans[2], "error.type") == "ValueError"


class Odd:
    def __repr__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize("value", [2**70, "\ud800", float("nan"), {1: {2, 3}}, object(), b"x", Odd(), [[[]]]])
def test_values_of_any_kind_are_recorded_or_left_and_never_raise(exporter, value):
    @tool
    def echo(value: Any) -> Any:
        return value

    assert echo(value) is value
    only(exporter)


def test_what_holds_itself_is_recorded(exporter):
    @tool
    def echo(value: Any) -> Any:
        return value

    value: list[Any] = []
    value.append(value)
    assert echo(value) is value
    only(exporter)


def test_long_values_are_cut_and_say_so(exporter):
    @tool
    def echo(text: str, number: int) -> str:
        return text

    echo("x" * 50_000, 3)
    found = json.loads(said(only(exporter), ARGUMENTS))
    assert found["number"] == 3
    assert found["text"].endswith("… (cut: 50,000 characters)")
    assert len(said(only(exporter), RESULT)) < 21_000


def test_without_content_only_names_are_recorded(exporter, monkeypatch):
    monkeypatch.setattr(tracing._tracing, "content", False)

    @tool
    def get(order: str) -> str:
        raise ValueError(f"secret {order}")

    with pytest.raises(ValueError, match="secret"):
        get("A-1")
    span = only(exporter)
    assert "A-1" not in span.to_json()
    assert said(span, "error.type") == "ValueError"


def test_a_fault_of_tracing_is_logged_once_and_never_raised(exporter, monkeypatch, caplog):
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("broken tracer")

    @tool
    def get() -> int:
        return 1

    assert tracing._tracing is not None
    monkeypatch.setattr(tracing._tracing.tracer, "start_span", broken)
    with agent_span("support"):
        assert [get(), get()] == [1, 1]
    assert len(caplog.records) == 1
    assert "broken tracer" in caplog.text


def test_without_instrument_nothing_is_traced_and_opentelemetry_not_loaded():
    code = """
import sys
from toolevals.sdk import agent_span, chat_span, tool, tool_call, tool_specs
@tool
def get(order: str) -> str:
    return order
with agent_span("support"), chat_span("model-x", []) as chat, tool_call("c1"):
    chat.answered("yes")
    assert get("A-1") == "A-1"
roots = {name.partition(".")[0] for name in sys.modules}
own = ("toolevals.sdk", "toolevals.json_types")
core = [name for name in sys.modules if name.startswith("toolevals.") and not name.startswith(own)]
print(sorted(roots & {"opentelemetry", "django", "pydantic", "google"}), core)
"""
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert made.stdout.strip() == "[] []"
