import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grading.strategies import arguments
from toolevals.grading.reading.parsing import calls_in_text
from toolevals.grading.values import MalformedCall, ToolCall
from toolevals.grading.values.canonical import canonical

F, G = ToolCall("f", {"a": 1}), ToolCall("g", {"b": "x"})


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("f(a=1)", [F]),
        ('<function name="f"><param name="a">1</param></function>', [F]),
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
        ("f(from='a', to='b', import=[1])", [ToolCall("f", {"from": "a", "to": "b", "import": [1]})]),
        ("[a.import(x=1), del(y=2)]", [ToolCall("a.import", {"x": 1}), ToolCall("del", {"y": 2})]),
        ("import(lambda=1)", [ToolCall("import", {"lambda": 1})]),
        ("tool-2(x=1)", [ToolCall("tool-2", {"x": 1})]),
        ("f(ﬁ='ﬁ')", [ToolCall("f", {"ﬁ": "ﬁ"})]),
        ("f(a=" + "- " * 500 + "1)", [ToolCall("f", {"a": 1})]),
        (f"f(a='{'(' * 500}')", [ToolCall("f", {"a": "(" * 500})]),
        (f"f(a={2**70}, b=0x1F, c=1_000)", [ToolCall("f", {"a": 2**70, "b": 31, "c": 1000})]),
        ("f(a='```g(x=1)```')", [ToolCall("f", {"a": "```g(x=1)```"})]),
        ("```f(a=1)```", [F]),
        ('```json {"name": "f", "arguments": {"a": 1}} ```', [F]),
        ('<|python_tag|>{"name": "f", "parameters": {"a": 1}}<|eom_id|>', [F]),
        ("<|python_tag|>f(a=1)<|eom_id|><|end|>", [F]),
        ('[TOOL_CALLS] [{"name": "f", "arguments": {"a": 1}}]', [F]),
        ("[1] [2] (3) [x](y) " * 400 + 'so {"name": "f", "arguments": {"a": 1}}', [F]),
        ("f(a=1)\n" * 200 + "!", [F] * 200),
        ('{"name": "f", "arguments": {"a": 1}}, ' * 700 + "!", [F] * 700),
        ("```python\nf(a=1)\n```\nand\n```\nx = 1\n```\nand\n```json\n" + '{"name":"g","input":{"b":"x"}}```', [F, G]),
        ("I will call:\n  f(a=1);  \nThen wait.", [F]),
        ("x = 1 and then\r\nf(a=1)\r\n", [F]),
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
        "a - b(c=1)",
        "not (x)",
        "x = f(a=1)",
        "<html><body>functions</body></html>",
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
        ("f(a=-True)", "a sign before what is not a number", 4),
        ("f(a=1e999)", "beyond what JSON can hold", 4),
        ("f(a='\\ud800')", "holds what JSON cannot", 4),
        ("f(a='\ud800')", "lone surrogate", 5),
        ("f(a='\0')", "NUL", 5),
        ("f(a={'k': 1, 'k': 2})", "a key appears twice in one object", 13),
        (f"f(a=0x{'f' * 4000})", "more than 4,300 digits", 4),
        (f"f(a={'9' * 5000})", "an integer has more than 4,300 digits", 4),
        ("f(class='x', b=g)", "not a literal", 15),
        ("f(a='\u2028', b=g)", "not a literal", 11),
        ("f(a=1,\r\n  é=g)", "not a literal", 12),
        ("f(a=" + "- " * 40_000 + "1)", "not a call: too deeply nested", 0),
        ("f(a=f'{x}" + "{x}" * 4_000 + "')", "formatted string", 5),
        ('Well: {"name": "f", "arguments": {"a": }} as you said.', "not JSON", 33),
        ('Well: {"name": "f", "arguments": {"a": 1, "a": 2}} as you said.', "appears twice", 36),
        ("Well: [f(a=1, b=[2)] as you said.", "not a call", 12),
        ("<tool_call>the order</tool_call>", "the text in the tag is not a call", 0),
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


def test_an_unreadable_tag_stands_between_the_others():
    first, second, third = calls_in_text(
        '<tool_call>f(a=1)</tool_call> <tool_call>{"name": "g", "arguments": {]</tool_call> '
        '<tool_call>g(b="x")</tool_call>'
    )
    assert (first, third) == (F, G)
    assert isinstance(second, MalformedCall)


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


@given(st.text(st.characters()) | st.text(alphabet="f(a=1)[]{}'\"\\,:` \n<tool_call>/name.arguments-"))
def test_no_text_is_an_error(text):
    for call in calls_in_text(text):
        canonical(call.to_document())


def test_text_beyond_the_limit_is_malformed():
    (call,) = calls_in_text("x" * 1_000_001)
    assert isinstance(call, MalformedCall)
    assert "longer than" in call.reason


CALL = '{"name": "f", "arguments": {"a": 1}}'


@pytest.mark.parametrize(
    "rest",
    [
        f'[{CALL}, {{"name": "g", "argu',
        f'[{CALL}, {{"name": "g", "arguments": {{"b": "x"',
        f"[{CALL}, {{",
        f'```json\n[{CALL}, {{"name": "g", "arguments": {{"b": \n```',
        f"First {CALL} and then {{'name': 'g', 'arguments': {{'b': 'x'}}}}",
        f'First {CALL} and then {{name: "g", arguments: {{b: "x"}}}}',
        'f(a=1)\ng(b="x',
        f'<tool_call>{CALL}</tool_call> and {{"name": "g", "arguments": {{"b": ',
    ],
)
def test_what_remains_and_begins_like_a_call_cannot_be_read(rest):
    first, second = calls_in_text(rest)
    assert first == F
    assert isinstance(second, MalformedCall)


@pytest.mark.parametrize(
    "text",
    [
        "{'name': 'f', 'arguments': {'a': 1}}",
        '{name: "f", arguments: {a: 1}}',
        '{"name": "f", "arguments": {"a": 1',
        "I'll call {'name': 'f', 'arguments': {'a': 1}} now.",
    ],
)
def test_a_call_that_is_no_json_cannot_be_read(text):
    (call,) = calls_in_text(text)
    assert isinstance(call, MalformedCall)


DESCRIBED = (
    '{"name": "f", "description": "Does f.", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}'
)


@pytest.mark.parametrize(
    "text",
    [
        DESCRIBED,
        f"I have this tool: {DESCRIBED}",
        f"```json\n[{DESCRIBED}]\n```",
        f'{{"type": "function", "function": {DESCRIBED}}}',
        'The tool {"name": "f", "parameters": {"type": "object", "properties": {}}} takes nothing.',
    ],
)
def test_a_quoted_description_of_a_tool_is_no_call(text):
    assert calls_in_text(text) == ()
