import time

import pytest

from toolevals.grading.reading.parsing import calls_in_text
from toolevals.grading.reading.parsing.text_format_table import TEXT_FORMATS
from toolevals.grading.values import MalformedCall, ToolCall, ToolSpec
from toolevals.grading.values.thoughts import without_thoughts

SEEK = ToolSpec(
    "seek",
    input_schema={
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
    },
)
PING = ToolSpec("ping")
TOOLS = [SEEK, PING]
OSLO = ToolCall("seek", {"city": "Oslo"})
BERGEN = ToolCall("seek", {"city": "Bergen", "days": 2})
A, B = '{"city": "Oslo"}', '{"city": "Bergen", "days": 2}'
XML = '<invoke name="seek"><parameter name="city">Bergen</parameter><parameter name="days">2</parameter></invoke>'
DSML = XML.replace("<", "<｜DSML｜").replace("<｜DSML｜/", "</｜DSML｜")
STEP = XML.replace("<", "<steptml:").replace("<steptml:/", "</steptml:")
CODER = "<function=seek>\n<parameter=city>\nBergen\n</parameter>\n<parameter=days>\n2\n</parameter>\n</function>"
PAIRS = "\n".join(
    f"<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>" for key, value in (("city", "Bergen"), ("days", "2"))
)
OLD = "<invoke><tool_name>seek</tool_name><parameters><city>Bergen</city><days>2</days></parameters></invoke>"


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        (f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>seek\n```json\n{A}\n```"
         f"<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>seek\n```json\n{B}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
         [OSLO, BERGEN]),
        (f"Sure.<｜tool▁call▁begin｜>seek<｜tool▁sep｜>{A}<｜tool▁call▁end｜>", [OSLO]),
        (f"<｜DSML｜function_calls>\n{DSML}\n</｜DSML｜function_calls>", [BERGEN]),
        ('<｜DSML｜invoke name="seek"><｜DSML｜parameter name="city" string="true">5</｜DSML｜parameter></｜DSML｜invoke>',  # noqa: E501
         [ToolCall("seek", {"city": "5"})]),
        (f"<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜>{STEP}"
         "<｜tool_call_end｜><｜tool_calls_end｜>", [BERGEN]),
        (f"<|tool_calls_section_begin|><|tool_call_begin|>functions.seek:0<|tool_call_argument_begin|>{A}"
         f"<|tool_call_end|><|tool_calls_section_end|>", [ToolCall("seek", {"city": "Oslo"}, "functions.seek:0")]),
        (f"<|channel|>analysis<|message|>seek it<|end|><|start|>assistant<|channel|>commentary to=functions.seek "
         f"<|constrain|>json<|message|>{A}<|call|>", [OSLO]),
        (f"<|start|>assistant to=functions.seek<|channel|>commentary json<|message|>{A}", [OSLO]),
        (f"commentary to=functions.seek json{A}", [OSLO]),
        (f"[TOOL_CALLS]seek[ARGS]{A}[TOOL_CALLS]seek[ARGS]{B}", [OSLO, BERGEN]),
        (f"[TOOL_CALLS]seek{A}", [OSLO]),
        (f"seek[ARGS]{A}", [OSLO]),
        (f'Ok [TOOL_CALLS] [{{"name": "seek", "arguments": {A}}}]</s>', [OSLO]),
        (f'<|START_THINKING|>x<|END_THINKING|><|START_ACTION|>[{{"tool_call_id": "0", "tool_name": "seek", '
         f'"parameters": {A}}}]<|END_ACTION|>', [ToolCall("seek", {"city": "Oslo"}, "0")]),
        (f'Action: ```json\n[{{"tool_name": "seek", "parameters": {A}}}]\n```', [OSLO]),
        ('Action: ```json\n[{"tool_name": "directly_answer", "parameters": {}}]\n```', []),
        ("<start_function_call>call:seek{city:<escape>Bergen<escape>,days:2}<end_function_call>", [BERGEN]),
        ('<|tool_call>call:seek{city:<|"|>Bergen<|"|>,days:2}<tool_call|>', [BERGEN]),
        (f"Thought: look\nAction: seek\nAction Input: {B}\nObservation:", [BERGEN]),
        ("Action: ping\nAction Input:", [ToolCall("ping", {})]),
        ("<code>\nx = seek('Bergen', days=2)\nprint(x)\n</code>", [BERGEN]),
        ("Thought: go\nCode:\n```py\nseek(city='Oslo')\n```<end_code>", [OSLO]),
        (f"<tool_call>\n{CODER}\n</tool_call>", [BERGEN]),
        (f"<seed:tool_call>{CODER}</seed:tool_call>", [BERGEN]),
        (f"<function=seek>{A}</function>", [OSLO]),
        (f"<tool_call>seek\n{PAIRS}\n</tool_call><tool_call>ping</tool_call>", [BERGEN, ToolCall("ping", {})]),
        (f"<tool_call>seek{PAIRS}</tool_call>", [BERGEN]),
        (f'<tool_calls>\n{{"name": "seek", "arguments": {A}}}\n{{"name": "seek", "arguments": {B}}}\n</tool_calls>',
         [OSLO, BERGEN]),
        (f"<minimax:tool_call>\n{XML}\n</minimax:tool_call>", [BERGEN]),
        (f"Let me look.\n<function_calls>\n{XML}\n</function_calls>", [BERGEN]),
        (f"<function_calls>{OLD}</function_calls>", [BERGEN]),
        (f'functools[{{"name": "seek", "arguments": {A}}}]', [OSLO]),
        (f'<TOOLCALL>[{{"name": "seek", "arguments": {A}}}]</TOOLCALL>', [OSLO]),
        (f'<|tools_prefix|>[{{"seek": {A}}}]<|tools_suffix|>', [OSLO]),
        ("<|tool_call_start|>[seek(city='Oslo')]<|tool_call_end|>", [OSLO]),
        ('<tool_call>{"name": "seek", "arguments": {"city": "<think>x</think>"}}</tool_call>',
         [ToolCall("seek", {"city": "<think>x</think>"})]),
    ],
)  # fmt: skip
def test_a_models_own_form_is_read(text, calls):
    assert list(calls_in_text(text, TOOLS)) == calls


@pytest.mark.parametrize("each", TEXT_FORMATS.values(), ids=lambda each: each.name)
def test_the_example_of_each_form_is_a_call(each):
    (call, *_) = calls_in_text(each.example, [ToolSpec("f")])
    assert isinstance(call, ToolCall)
    assert (call.name, call.arguments["a"]) == ("f", 1)


@pytest.mark.parametrize(
    "text",
    [
        "<｜tool▁calls▁begin｜>", '<｜tool▁call▁begin｜>seek<｜tool▁sep｜>{"city": ', "<|tool_call_begin|>x",
        "<|channel|>commentary to=functions.seek<|message|>{oops<|call|>", "[TOOL_CALLS]", '[TOOL_CALLS]seek[ARGS]{"a',
        "<|START_ACTION|>[{", "<start_function_call>call:seek{city", "<invoke name='seek'><parameter name='city'>Os",
        "<tool_call><function=seek><parameter=city>Os", "<tool_call>seek<arg_key>city</arg_key><arg_value>Os",
        "<function_calls>", "<tool_call>", "Action: seek\nAction Input: {oops}",
    ],
)  # fmt: skip
def test_a_mark_that_cannot_be_read_is_malformed(text):
    (call, *_) = calls_in_text(text, TOOLS)
    assert isinstance(call, MalformedCall)


DRAFT = f'<tool_call>{{"name": "seek", "arguments": {A}}}</tool_call>'


@pytest.mark.parametrize(
    "text",
    [
        f"<think>{DRAFT}</think>Hello", f"<think>{DRAFT}", f"maybe {DRAFT}</think>Hello",
        f"<thinking>{DRAFT}</thinking>Hello", f"<reasoning>{DRAFT}</reasoning>Hello", f"[THINK]{DRAFT}[/THINK]Hello",
        f"<|channel|>analysis<|message|>{DRAFT}<|end|><|start|>assistant<|channel|>final<|message|>Hello<|return|>",
        "<think>seek(city='Oslo')</think>Hello", "maybe <tool_call> then\n</think>Hello",
    ],
)  # fmt: skip
def test_a_draft_in_a_thought_is_no_call(text):
    assert calls_in_text(text, TOOLS) == ()
    assert calls_in_text(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "Here:\n```python\nprint('hello')\n```", "print('hi')", "```js\nconsole.log('hi');\n```",
        '```json\n{"name": "demo", "private": true}\n```', '```json\n[{"id": 1, "title": "a"}]\n```',
        'The record is {"name": "Ada", "parameters": {"age": 36}}.', "Use <code>print('x')</code> here.",
        '```json\n{"type": "object", "properties": {"name": {"type": "string"}}}\n```',
        "Action: call your bank.", "def f(a=1):\n    return a", "foo(bar=1)",
    ],
)  # fmt: skip
def test_ordinary_code_is_no_call(text):
    assert calls_in_text(text, TOOLS) == ()


def test_what_is_said_is_what_stands_outside_of_thoughts():
    assert without_thoughts("<think>QX77</think>No.") == "No."
    assert without_thoughts("QX77</think>No.") == "No."
    assert without_thoughts("Yes.<think>QX77") == "Yes."
    assert without_thoughts("A `<think>` tag, QX77") == "A `<think>` tag, QX77"


@pytest.mark.parametrize(
    "piece",
    [
        "<tool_call>", "<think>", "</think>", "[TOOL_CALLS]", "<｜tool▁call▁begin｜>", "<|channel|>", "a[ARGS]",
        '<tool_call>["', "<function=f><parameter=a>", "<invoke name='f'><parameter name='a'>", "f<arg_key>a</arg_key>",
        "Action: f\nAction Input: {\n", "<code>f(", "<start_function_call>call:f{a:{", "{\"name\": \"f\", ", "[f(a=",
        "commentary ", "```", "<invoke><tool_name>f</tool_name><parameters><a>",
    ],
)  # fmt: skip
def test_a_million_hostile_characters_are_read_in_time(piece):
    start = time.monotonic()
    calls_in_text((piece * (1_000_000 // len(piece) + 1))[:1_000_000], TOOLS)
    assert time.monotonic() - start < 20
