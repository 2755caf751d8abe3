"""Four times the input takes about four times as long, whatever it holds; sixteen would be quadratic."""

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from tests.fixtures.effort import TRIES, seconds
from toolevals.grading.reading.parsing import calls_in_text, read_run, transcript_in
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument

# It takes long: `./dev check` leaves it out.
pytestmark = pytest.mark.thorough

# Below this many seconds a measurement says nothing.
FLOOR = 0.004
MOST_RATIO = 10


def read(function: Callable[[Any], object], given: Any) -> None:
    with suppress(InvalidDocument):
        function(given)


def assert_linear(function: Callable[[Any], object], make: Callable[[int], Any], size: int) -> None:
    """Fail where the best time of several grows by more than the ratio: what disturbs the machine only adds."""
    small, large = make(size), make(4 * size)
    few = many = float("inf")
    for _ in range(TRIES):
        few = min(few, seconds(lambda: read(function, small)))
        many = min(many, seconds(lambda: read(function, large)))
        if many <= MOST_RATIO * max(few, FLOOR):
            return
    pytest.fail(f"seconds for {size:,} and {4 * size:,}: {few} and {many}")


def test_what_grows_faster_is_noticed():
    # Cubic, so that no disturbance of the machine hides it.
    with pytest.raises(pytest.fail.Exception, match="seconds for 50 and 200"):
        assert_linear(lambda number: sum(1 for _ in range(number**3)), lambda size: size, 50)


# A beginning, what is repeated, and an end.
TEXTS = {
    "braces": ("", "{", ""),
    "brackets": ("", "[", ""),
    "calls that open": ("", "f(a=", ""),
    "lists of calls that open": ("", "[f(", ""),
    "objects that open": ("", '{"name":', ""),
    "calls amid prose": ("", '{"name": "f" ', ""),
    "double quotes": ("[f(a=", '"', ""),
    "single quotes": ("[f(a=", "'", ""),
    "escaped quotes": ('"', '\\"', ""),
    "triple quotes": ("f(a=", '"""\\', ""),
    "backticks": ("", "`", ""),
    "fences": ("", "```json\n{\n```\n", ""),
    "open fences": ("", "```a", ""),
    "tags": ("", "<tool_call>{", ""),
    "marks": ("", "<|a|>", "f(a=1)"),
    "marks at the end": ("x", "<|a|>", ""),
    "lines": ("", "\n", "f("),
    "spaces": ("f(a=)", " ", "x"),
    "spaces within": ("[", " ", "f"),
    "calls in lines": ("", "f(a=1)\n", "!"),
    "malformed calls": ("[", "f(1),", "]"),
    "malformed calls beyond ASCII": ("[", "f('é'),", "]"),
    "signs": ("f(a=", "-", "1)"),
    "dots": ("", "a.", "b(x=1)"),
    "one word": ("", "a", ""),
    "one word of digits and letters": ("", "1a", ""),
    "one word with dots": ("", "a.", ""),
    "one word behind JSON": ('Hi {"a": ', "a-", ""),
    "whole calls": ("", '{"name": "x", "arguments": {"a": 1}} ', ""),
    "keys": ("", '{"a": ', ""),
    "hyphens": ("", "a-", "b(x=1)"),
    "reserved words": ("f(", "class=1,", ")x"),
    "comparisons": ("f(a=", "1<", "1)"),
    "conditions": ("f(a=", "1 if 1 else ", "1)"),
    "literals side by side": ("f(a=", "'x'", ")"),
    "formatted strings": ("f(a=f'", "{x}", "')"),
    "digits": ("f(a=", "9", ")"),
    "elements": ("", '<function name="f">', ""),
}


@pytest.mark.parametrize("name", TEXTS)
def test_text_is_read_in_linear_time(name):
    before, part, after = TEXTS[name]
    assert_linear(calls_in_text, lambda size: before + part * (size // len(part)) + after, 6_000)


JSON = {
    "lists": lambda size: "[" * size,
    "keys": lambda size: "{" + ",".join(f'"{number}": 1' for number in range(size // 10)) + ', "0": 1}',
    "open quotes": lambda size: '["a", NaN, ' + '"\\' * size,
    "digits": lambda size: "1" * size,
    "escapes": lambda size: '"' + "\\ud83d" * (size // 6) + '"',
    "spaces": lambda size: '{"a": 1, "a"' + " " * size + ": 1}",
    "wide and then refused": lambda size: "[" + "[]," * (size // 3) + '"\\u0000"]',
}


@pytest.mark.parametrize("name", JSON)
def test_json_is_read_in_linear_time(name):
    assert_linear(load_json, JSON[name], 40_000)


DOCUMENTS = {
    "results without calls": lambda size: [{"role": "tool", "content": "x", "name": "f"}] * size,
    "calls without ids": lambda size: [
        {"role": "assistant", "tool_calls": [{"name": "f"}] * size},
        *[{"role": "tool", "content": "x"}] * size,
    ],
    "results of another name": lambda size: [
        {"role": "model", "parts": [{"functionCall": {"name": "f"}}] * size},
        {"role": "user", "parts": [{"functionResponse": {"name": "g"}}] * size},
    ],
    "blocks": lambda size: [{"role": "user", "content": [{"type": "tool_result"}, {"type": "text"}] * size}],
    "items": lambda size: [{"type": "function_call", "name": "f"}] * size,
    "JSON-RPC": lambda size: [{"jsonrpc": "2.0", "id": 1, "method": "tools/call"}] * size,
    "arguments": lambda size: [{"role": "assistant", "tool_calls": [{"name": "f", "arguments": "[" * 10 * size}]}],
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_messages_are_read_in_linear_time(name):
    assert_linear(lambda document: transcript_in(document).results, DOCUMENTS[name], 500)


def test_steps_are_read_in_linear_time():
    step = json.loads('{"tool": "f", "id": "1", "arguments": {}, "result": "x"}')
    assert_linear(read_run, lambda size: [step] * size, 500)
