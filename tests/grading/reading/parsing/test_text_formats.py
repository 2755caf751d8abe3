import time

import pytest

from toolevals.grading.reading.parsing import calls_in_text
from toolevals.grading.reading.parsing.text import (
    _MARK,
    TEXT_FORMATS,
    UNHEEDED,
    _may_have_mark,
    before_calls,
    goes_on_alone,
)
from toolevals.grading.reading.predictions import read_prediction
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
IFM = PAIRS.replace("<", "<ifm|").replace("<ifm|/", "</ifm|")
WORD = PAIRS.replace("key>", "key:opensource>").replace("value>", "value:opensource>")
NS = "]<]minimax[>["
M3 = "".join(NS + tag for tag in (
    '<invoke name="seek">', "<city>Bergen", "</city>", "<days>2", "</days>", "</invoke>", "</tool_call>",
))  # fmt: skip
K3 = (
    '<|open|>call tool="seek" index="1"<|sep|><|open|>argument key="city" type="string"<|sep|>Bergen<|close|>argument<|sep|>'  # noqa: E501
    '<|open|>argument key="days" type="number"<|sep|>2<|close|>argument<|sep|><|close|>call<|sep|>'
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
        (f"<｜tool_calls_begin｜><｜tool_call_begin｜>{STEP}<｜tool_call_end｜><｜tool_sep｜>"
         f"<｜tool_call_begin｜>{STEP}<｜tool_call_end｜><｜tool_calls_end｜>", [BERGEN, BERGEN]),
        (f"<｜tool_call_begin｜>function<｜tool_sep｜>seek\n{STEP}<｜tool_call_end｜>", [BERGEN]),
        (f"<｜DSML｜ calls>\n{DSML.replace('DSML｜', 'DSML｜ ')}\n</｜DSML｜ calls>", [BERGEN]),
        (f"<｜GCML｜tool_calls>\n{DSML.replace('DSML', 'GCML')}\n</｜GCML｜tool_calls>", [BERGEN]),
        (f"<dots_function_call>\n{XML.replace(chr(34), '')}\n</dots_function_call>", [BERGEN]),
        (f'<dots_function_call>{{"name": "seek", "arguments": {A}}}</dots_function_call>', [OSLO]),
        (f"<|start|>assistant to=seek<|message|><atem:function_calls>{STEP.replace('steptml', 'atem')}"
         "</atem:function_calls><|eom|>", [BERGEN]),
        (f"Let me see.{NS}<tool_call>{M3}", [BERGEN]),
        (f"<|open|>response<|sep|>Ok<|close|>response<|sep|><|open|>tools<|sep|>{K3}<|close|>tools<|sep|>", [BERGEN]),
        ("<|tool_call:start|>seek\n<|tool_arg:start|>city<|tool_arg:value|>Bergen<|tool_arg:end|>\n"
         "<|tool_arg:start|>days<|tool_arg:value|>2<|tool_arg:end|>\n<|tool_call:end|>", [BERGEN]),
        ("<|tool_call:start|>ping\n<|tool_call:end|>", [ToolCall("ping", {})]),
        ("<|plamo:begin_tool_requests:plamo|><|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>seek"
         f"<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>{A}"
         "<|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|>", [OSLO]),
        (f"<ifm|tool_calls>\n<ifm|tool_call>seek\n{IFM}\n</ifm|tool_call>\n</ifm|tool_calls>", [BERGEN]),
        ("<ifm|tool_call>seek<ifm|arg_key>city</ifm|arg_key><ifm|arg_type>string</ifm|arg_type>"
         "<ifm|arg_value>  5 </ifm|arg_value></ifm|tool_call>", [ToolCall("seek", {"city": "  5 "})]),
        (f'<ifm|tool_call>{{"name": "seek", "arguments": {A}}}</ifm|tool_call>', [OSLO]),
        (f"<tool_calls:opensource><tool_call:opensource>seek{WORD}</tool_call:opensource></tool_calls:opensource>",
         [BERGEN]),
        ("<tool_calls>\n<tool_call>ping<tool_sep>\n</tool_call>\n</tool_calls>", [ToolCall("ping", {})]),
        (f"<iquest_tool_call>seek\n{PAIRS}</iquest_tool_call>", [BERGEN]),
        (f'<|function_call|>{{"name": "seek", "arguments": {A}}}</s>', [OSLO]),
        (f'Ok.<|message_sep|>\n\nfunction call<|role_sep|>\n{{"name": "seek", "arguments": {A}}}', [OSLO]),
        (f'<|message_model|>seek<|content_invoke_tool_json|>{{"name":"seek","args":{A}}}<|end_message|>', [OSLO]),
        (f' -> tool/function_call\n[{{"name": "seek", "arguments": {A}}}]<|im_end|>', [OSLO]),
        (f'**Tool Call:**\n```json\n{{"name": "seek", "arguments": {A}}}\n```', [OSLO]),
        ('<function name="seek"><param name="city"><![CDATA[a</param>b]]></param></function>',
         [ToolCall("seek", {"city": "a</param>b"})]),
        ("<start_function_call>call:seek{city:<escape>5<escape>,days:<escape>2<escape>}<end_function_call>",
         [ToolCall("seek", {"city": "5", "days": 2})]),
        ('<|tool_call>call:seek{city:,days:2.}<tool_call|>', [ToolCall("seek", {"city": "", "days": 2.0})]),
        ('<functionname="seek"><paramname="city">Oslo</param></function>', [OSLO]),
        (f'<|action_start|><|plugin|>{{"name": "seek", "parameters": {A}}}<|action_end|>', [OSLO]),
        (f'<|action_start|>{{"name": "seek", "parameters": {A}}}', [OSLO]),
        ('<invoke name="seek"><parameter name="city">  if x:\n</parameter></invoke>',
         [ToolCall("seek", {"city": "  if x:\n"})]),
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
        "<function_calls>", "<tool_call>", "Action: seek\nAction Input: {oops}", "<|function_call|>", "<ifm|tool_call>",
        "<tool_call:opensource>", "<｜DSML｜ calls>", "<|open|>tools<|sep|>", K3[:90], f"{NS}<tool_call>", M3[:60],
        "<|tool_call:start|>seek\n<|tool_arg:start|>city", "<|plamo:begin_tool_requests:plamo|>", "<iquest_tool_call>",
        "<|content_invoke_tool_json|>", "function call<|role_sep|>\n{", " -> tool/function_call\n", "<|tools_prefix|>",
    ],
)  # fmt: skip
def test_a_mark_that_cannot_be_read_is_malformed(text):
    (call, *_) = calls_in_text(text, TOOLS)
    assert isinstance(call, MalformedCall)


STEP_OF_ITS_OWN = f"Thought: go\nAction: seek\nAction Input: {A}\nObservation: rain\nAction: seek\nAction Input: {B}"


@pytest.mark.parametrize(
    ("text", "is_alone"),
    [
        (STEP_OF_ITS_OWN, True), (f"{STEP_OF_ITS_OWN}\nObservation: sun\nFinal Answer: rain", True),
        (f"<think>{STEP_OF_ITS_OWN}</think>Action: seek\nAction Input: {A}\nObservation:", False),
        (f'Action:\n```json\n{{"action": "seek", "action_input": {A}}}\n```\nObservation: rain\nAction: ping', True),
    ],
)  # fmt: skip
def test_what_follows_an_observation_of_its_own_is_no_call(text, is_alone):
    assert calls_in_text(text, TOOLS) == (OSLO,)
    assert goes_on_alone(text, TOOLS) is is_alone
    expected = [UNHEEDED] if is_alone else []
    said = [{"role": "assistant", "content": text}]
    for row in ({"text": text}, {"messages": said}):
        prediction = read_prediction({"id": "a", **row}, tools=TOOLS)
        assert prediction.transcript.calls == (OSLO,)
        assert [loss.what for loss in prediction.losses] == expected


DRAFT = f'<tool_call>{{"name": "seek", "arguments": {A}}}</tool_call>'


@pytest.mark.parametrize(
    "text",
    [
        f"<think>{DRAFT}</think>Hello", f"<think>{DRAFT}", f"maybe {DRAFT}</think>Hello",
        f"<thinking>{DRAFT}</thinking>Hello", f"<reasoning>{DRAFT}</reasoning>Hello", f"[THINK]{DRAFT}[/THINK]Hello",
        f"<|channel|>analysis<|message|>{DRAFT}<|end|><|start|>assistant<|channel|>final<|message|>Hello<|return|>",
        f"<ifm|think>{DRAFT}</ifm|think>Hello", f"<|open|>think<|sep|>{DRAFT}{K3}<|close|>think<|sep|>Hello",
        f"<|think:start|>{DRAFT}<|think:end|>Hello", f"to=self<|message|>{DRAFT}<|eom|>to=user<|message|>Hello<|eot|>",
        f"<|plamo:begin_think:plamo|>{DRAFT}<|plamo:end_think:plamo|>Hello", "to=user<|message|>Hello",
        "<think>seek(city='Oslo')</think>Hello", "maybe <tool_call> then\n</think>Hello",
    ],
)  # fmt: skip
def test_a_draft_in_a_thought_is_no_call(text):
    assert calls_in_text(text, TOOLS) == ()
    assert calls_in_text(text) == ()


def test_text_without_a_sign_of_a_mark_holds_none():
    texts = [each.example for each in TEXT_FORMATS.values()]
    texts += ["commentary to=functions.f", "assistant to=functions.f", "  -> tool/f", "Action:", "Code:\n```py\n"]
    texts += ["functools[", "seek[ARGS]", "f<arg_key>", "analysisx assistantfinal", "**Tool Call:** ```"]
    for text in texts:
        for start in range(len(text)):
            piece = text[start:]
            assert _may_have_mark(piece) or not _MARK.search(piece)


@pytest.mark.parametrize(
    "text",
    [
        "Here:\n```python\nprint('hello')\n```", "print('hi')", "```js\nconsole.log('hi');\n```",
        '```json\n{"name": "demo", "private": true}\n```', '```json\n[{"id": 1, "title": "a"}]\n```',
        'The record is {"name": "Ada", "parameters": {"age": 36}}.', "Use <code>print('x')</code> here.",
        '```json\n{"type": "object", "properties": {"name": {"type": "string"}}}\n```',
        "Models write `<tool_call>` before a call.", "Action: call your bank.",
        "def f(a=1):\n    return a", "foo(bar=1)",
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
        '<|open|>call tool="f"<|sep|>', "<|tool_call:start|>f\n<|tool_arg:start|>a<|tool_arg:value|>", NS + "<a>",
        f'{NS}<invoke name="f">{NS}<a>', "<|plamo:begin_tool_name:plamo|>", "<ifm|arg_key>",
        "commentary ", "```", "<invoke><tool_name>f</tool_name><parameters><a>", "a", "1a", "a.", "a-", '{"a": ',
        '{"name": "x", "arguments": {"a": 1}} ', '{"name": "seek", "arguments": {"a": 1}}\n', '{"a":"b"}',
    ],
)  # fmt: skip
def test_a_million_hostile_characters_are_read_in_time(piece):
    start = time.monotonic()
    text = (piece * (1_000_000 // len(piece) + 1))[:1_000_000]
    before_calls(text, calls_in_text(text, TOOLS))
    assert time.monotonic() - start < 20
