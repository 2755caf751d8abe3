"""Declared tools together: their specs as registries import them, and their names."""

from __future__ import annotations

import pytest

from toolevals.grading.reading.specs import read_tools
from toolevals.sdk import ToolError, instrument, tool, tool_specs


def test_specs_of_declared_tools_are_what_registries_import():
    @tool(name="get.order", description="Return one.", hide=["context"])
    def get_order(context: object, order_id: str) -> None:
        """Return an order."""

    @tool
    def another() -> None:
        """Do another thing."""

    read = read_tools(tool_specs())
    assert [(spec.name, spec.description) for spec in read.tools] == [
        ("another", "Do another thing."),
        ("get.order", "Return one."),
    ]
    assert list(read.losses) == []
    assert vars(get_order)["tool_spec"].name == "get.order"
    for form in ("openai", "anthropic"):
        again = read_tools(tool_specs(form))
        assert [spec.input_schema for spec in again.tools] == [spec.input_schema for spec in read.tools]
    with pytest.raises(ValueError, match="not a form"):
        tool_specs("other")  # type: ignore[arg-type]


def test_two_tools_of_one_name_are_refused():
    @tool
    def get() -> None: ...

    with pytest.raises(ToolError, match="two tools have this name"):

        @tool(name="get")
        def other() -> None: ...


def test_a_second_instrument_returns_the_first(exporter, caplog):
    first = instrument(send=False)
    assert first is instrument(send=False, agent="other")
    assert "was called before" in caplog.text
