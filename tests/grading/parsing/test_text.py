import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grading.benchmark import benchmark_rows, needs_benchmark
from tests.grading.strategies import arguments
from toolevals.grading.canonical import canonical
from toolevals.grading.parsing import calls_in_text
from toolevals.grading.values import MalformedCall, ToolCall

F, G = ToolCall("f", {"a": 1}), ToolCall("g", {"b": "x"})


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("f(a=1)", [F]),
        ("[f(a=1), g(b='x')]", [F, G]),
        ("f(a=1), g(b='x')", [F, G]),
        ("f(a=1)\ng(b='x')", [F, G]),
        ("f(a=1); g(b='x')", [F, G]),
        ("[[f(a=1)]]", [F]),
        ("```python\n[f(a=1)]\n```", [F]),
        ("`f(a=1)`", [F]),
        ("Sure! [f(a=1)] hope this helps", [F]),
        ("I will call:\nf(a=1)\nThen wait.", [F]),
        ("<tool_call>f(a=1)</tool_call>", [F]),
        ("a.b.c(x=-1.5, y=+2, z=- -1)", [ToolCall("a.b.c", {"x": -1.5, "y": 2, "z": 1})]),
        ("my-fine.tool-x(a=1)", [ToolCall("my-fine.tool-x", {"a": 1})]),
        ("f(a=[1, (2, 3)], b={'k': {'z': [True]}})", [ToolCall("f", {"a": [1, [2, 3]], "b": {"k": {"z": [True]}}})]),
        ("f(a=None, b=true, c=false, d=null)", [ToolCall("f", {"a": None, "b": True, "c": False, "d": None})]),
        ("f(class='x', b='(from =')", [ToolCall("f", {"class": "x", "b": "(from ="})]),
        ('f(a=\'it\'\'s\', b="""l1\nl2""")', [ToolCall("f", {"a": "its", "b": "l1\nl2"})]),
        ("f(a='naïve', b='100%')", [ToolCall("f", {"a": "naïve", "b": "100%"})]),
        ("f()", [ToolCall("f", {})]),
        ('{"name": "f", "arguments": {"a": 1}}', [F]),
        ('{"name": "f", "parameters": {"a": 1}}', [F]),
        ('{"name": "f", "input": {"a": 1}}', [F]),
        ('{"function": "f", "arguments": "{\\"a\\": 1}"}', [F]),
        ('{"type": "function", "function": {"name": "f", "arguments": "{\\"a\\": 1}"}}', [F]),
        ('[{"name": "f", "arguments": {"a": 1}}, {"name": "g", "arguments": {"b": "x"}}]', [F, G]),
        ('{"tool_calls": [{"name": "f", "arguments": {"a": 1}}]}', [F]),
        ('```json\n{"name": "f", "arguments": {"a": 1}}\n```', [F]),
        ('Here: {"name": "f", "arguments": {"a": 1}} and {"name": "g", "arguments": {"b": "x"}}.', [F, G]),
        ('{"name": "f", "arguments": {"a": 1}}\n{"name": "g", "arguments": {"b": "x"}}', [F, G]),
        (
            '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>\n'
            '<tool_call>\n{"name": "g", "arguments": {"b": "x"}}\n</tool_call>',
            [F, G],
        ),
    ],
)
def test_calls_are_read(text, calls):
    assert list(calls_in_text(text)) == calls


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "hello",
        "[1, 2]",
        "[f]",
        "I cannot help with that.",
        "Call me (maybe), if x = 1.",
        "print(x) is a function of Python",
        '{"name": "Ada", "age": 36}',
        'The order {"id": 1} is late.',
        "f(a=1) - g(b=2)",
        "```python\nx = 1\n```",
        "(" * 5000,
        "\x00f(a=1)",
    ],
)
def test_prose_holds_no_calls(text):
    assert calls_in_text(text) == ()


@pytest.mark.parametrize(
    ("text", "reason", "position"),
    [
        ("f(1, b=2)", "positional", 2),
        ("f(a=1, a=2)", "given twice", 9),
        ("f(**{'a': 1})", "unpacked", 4),
        ("f(a=g(b=1))", "not a literal", 4),
        ("f(a=1+2)", "not a literal", 4),
        ("f(a=not True)", "not a literal", 4),
        ("f(a={1: 2})", "a key is not text", 8),
        ("f(a=b'x')", "not one of JSON's", 4),
        ("f(a=1j)", "not one of JSON's", 4),
        ("f(a=-True)", "a sign before what is no number", 4),
        ("f(a=1e999)", "beyond what JSON can hold", 4),
        ("f(a='\\ud800')", "holds what JSON cannot", 4),
        ("f(a='\\x00')", "holds what JSON cannot", 4),
        ("get_x().y(a=1)", "not a plain name", 0),
        ("f(é='ü', b=x)", "not a literal", 11),
        ("[f(a=[1,2)]", "not a call", 9),
        ("f(a=1", "not a call", 1),
        (f"f(a={'[' * 200}{']' * 200})", "nested deeper", 63),
        ('{"name": "f", "arguments": {"a": }}', "not JSON", 33),
        ('{"name": "f", "arguments": {"a": 1, "a": 2}}', "appears twice", 36),
        ('{"name": "f", "arguments": [1]}', "not an object", None),
        ('```json\n{"name": "f", "arguments": {"a"\n```', "not JSON", 31),
    ],
)
def test_what_was_meant_as_a_call_and_cannot_be_read_is_malformed(text, reason, position):
    (call,) = calls_in_text(text)
    assert isinstance(call, MalformedCall)
    assert reason in call.reason
    assert call.position == position


def test_one_unreadable_call_leaves_the_others():
    good, bad = calls_in_text("[f(a=1), g(b=x)]")
    assert good == F
    assert isinstance(bad, MalformedCall)
    assert (bad.name, bad.text) == ("g", "g(b=x)")


@given(arguments)
def test_json_calls_are_read_whatever_they_say(given_arguments):
    text = canonical({"name": "f", "arguments": given_arguments})
    assert canonical([call.to_document() for call in calls_in_text(text)]) == canonical(
        [{"name": "f", "arguments": given_arguments}]
    )


@given(st.text(alphabet="f(a=1)[]{}'\"\\,:` \n<tool_call>/name.arguments-"))
def test_no_text_is_an_error(text):
    for call in calls_in_text(text):
        canonical(call.to_document())


@pytest.mark.parametrize(
    "text", ["{" * 20_000, "[f(" * 20_000, "f(a=" * 20_000, "`" * 50_000, '{"name":' * 9_000, "\n" * 90_000 + "f("]
)
def test_hostile_text_takes_no_time(text):
    start = time.process_time()
    calls_in_text(text)
    assert time.process_time() - start < 2


def test_text_beyond_the_limit_is_malformed():
    (call,) = calls_in_text("x" * 1_000_001)
    assert isinstance(call, MalformedCall)
    assert "longer than" in call.reason


@needs_benchmark
def test_wherever_the_leaderboards_decoder_reads_python_rightly_we_read_the_same():
    faults = {
        "[f(1, 2)]", "[f(1, b=2)]", "[f(*a)]",  # positional arguments are dropped
        "[f(a=+1)]", "[f(a=not True)]",  # any sign is read as minus
        "[f(a=True,b=None,c=false,d=null)]",  # JSON's constants become text
        "[f(a={1:2})]", "[f(a=1j)]", "[f(a=b'x')]", "[f(a=...)]",  # no values of JSON
        "[f(a=1+2*3)]", "[f(a='x'+'y')]",  # expressions are evaluated
        "[f(a=g(b=1))]", "[f(a=g(1))]", "[f(a=g())]", "[f(a=x[0])]",  # code becomes a value
        "[f(**{'a':1})]", "[f(a=1,a=2)]",  # a key is lost
        "[get_x().y(a=1)]",  # half of the name is lost
    }  # fmt: skip
    seen = set()
    for row in benchmark_rows("decode_cases.jsonl"):
        if row["format"] != "python" or row["tag"] or row["decoded"] is None or "$tuple" in str(row["decoded"]):
            continue
        read = [{call.name: call.arguments} for call in calls_in_text(row["raw"]) if isinstance(call, ToolCall)]
        if read != row["decoded"]:
            seen.add(row["raw"])
    assert seen == faults
