# mypy: disable-error-code="union-attr,index"
"""Public datasets, training files and batch outputs: each is found, read, and refused or left out by name."""

from __future__ import annotations

import json
from typing import Any

import pytest

from labeling.imports.reading import file_looked_at
from toolevals.grading.files.evaluation_files.batches import read_openai
from toolevals.grading.files.evaluation_files.entry import Entry
from toolevals.grading.files.evaluation_files.reading import evaluation_file
from toolevals.grading.files.file_kinds import what_is
from toolevals.grading.reading.examples import ExampleRow
from toolevals.grading.values.problems import InvalidDocument

SEEK = {"name": "seek", "description": "Find a place.", "parameters": {"city": {"type": "str", "description": "Where"}}}
SEEK_SCHEMA = SEEK | {
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
}
CALL = {"name": "seek", "arguments": {"city": "Oslo"}}
ASKED = {"from": "human", "value": "Where is Oslo?"}
TURNS = [
    ASKED,
    {"from": "gpt", "value": f"<tool_call>\n{json.dumps(CALL)}\n</tool_call>"},
    {"from": "tool", "value": '<tool_response>\n{"found": true}\n</tool_response>'},
    {"from": "gpt", "value": "In Norway."},
]
HERMES = {"id": "h1", "conversations": TURNS, "tools": json.dumps([{"type": "function", "function": SEEK_SCHEMA}])}
TOOLACE = {
    "system": f"You may call these functions:\n{json.dumps([SEEK | {'name': 'Seek Place API'}])}\nUse [f(a=1)].",
    "conversations": [
        {"from": "user", "value": "Where is Oslo?"},
        {"from": "assistant", "value": '[Seek Place API(city="Oslo")]'},
    ],
}
APIGEN = {
    "conversations": [
        ASKED,
        {"from": "function_call", "value": json.dumps(CALL)},
        {"from": "observation", "value": '{"found": true}'},
        {"from": "gpt", "value": "In Norway."},
    ],
    "tools": json.dumps([SEEK_SCHEMA]),
    "system": "Be brief.",
}
TOOLLLAMA = {
    "id": "Step 2: Where is Oslo?",
    "conversations": [
        {"from": "system", "value": f"You have access to the following APIs: {[SEEK_SCHEMA]!r}"},
        {"from": "user", "value": "Where is Oslo?"},
        {"from": "assistant", "value": "In Norway."},
    ],
}
SEAL_TUNED = {
    "id": "dev-easy-0",
    "conversations": [
        {"from": "human", "value": f"Choose the apis.\napi_list = {[SEEK | {'api_name': 'seek'}]!r}\nWhere is Oslo?"},
        {
            "from": "gpt",
            "value": json.dumps([{"api": "seek", "parameters": {"city": "Oslo"}}]),
        },
    ],
}
XLAM = {"id": 0, "query": "Where is Oslo?", "answers": json.dumps([CALL]), "tools": json.dumps([SEEK])}
GLAIVE = {
    "system": "SYSTEM: You are helpful. Use these functions if required -\n" + json.dumps(SEEK_SCHEMA, indent=4),
    "chat": "USER: Where is Oslo?\n\n\nASSISTANT: <functioncall> "
    '{"name": "seek", "arguments": \'{"city": "Oslo"}\'} <|endoftext|>\n\n\n'
    'FUNCTION RESPONSE: {"found": true}\n\n\nASSISTANT: In Norway. <|endoftext|>',
}
TRL = {
    "prompt": [{"role": "user", "content": "Where is Oslo?"}],
    "completion": [{"role": "assistant", "tool_calls": [{"type": "function", "function": CALL}]}],
    "tools": [{"type": "function", "function": SEEK_SCHEMA}],
}
CHOSEN = f"<tool_call>{json.dumps(CALL)}</tool_call>"
PREFERENCE = {"prompt": "Where is Oslo?", "chosen": CHOSEN, "rejected": "No idea."}
QUESTION = [[{"role": "user", "content": "Where is Oslo?"}]]
BFCL: list[dict[str, Any]] = [
    {"id": "simple_python_0", "question": QUESTION, "function": [SEEK_SCHEMA | {"parameters": {
        "type": "dict", "properties": {"city": {"type": "string"}}, "required": ["city"]}}]},
    {"id": "simple_python_0", "ground_truth": [{"seek": {"city": ["Oslo"]}}]},
]  # fmt: skip
TURNED: list[dict[str, Any]] = [
    {"id": "multi_turn_base_0", "question": [*QUESTION, *QUESTION], "initial_config": {}, "path": ["M.seek"],
     "involved_classes": ["Maps"]},
    {"id": "multi_turn_base_0", "ground_truth": [["seek(city='Oslo')"], ["seek(city='Bergen')"]]},
]  # fmt: skip
ACEBENCH: list[dict[str, Any]] = [
    {"id": "normal_multi_turn_user_adjust_0_0", "question": "user: Find a city.\nsystem: Which?\nuser: Oslo\n",
     "function": [SEEK_SCHEMA], "time": ""},
    {"id": "normal_multi_turn_user_adjust_0_0", "ground_truth": {"seek": {"city": "Oslo"}}},
]  # fmt: skip
SEAL = {"id": "dev-easy-0", "query": "Where is Oslo?", "calling": [
    {"api": "seek", "parameters": {"city": "Oslo"}, "responses": ["API_call_0"]}]}  # fmt: skip
API = {"category_name": "Maps", "tool_name": "City Maps", "api_name": "Seek", "api_description": " ", "method": "GET",
       "required_parameters": [{"name": "city", "type": "STRING", "description": "", "default": ""}],
       "optional_parameters": [{"name": "size", "type": "NUMBER", "description": "", "default": ""}]}  # fmt: skip
TOOLBENCH = {"api_list": [API], "query": "Where is Oslo?", "relevant APIs": [["City Maps", "Seek"]], "query_id": 1}
API_BANK = {
    "file": "seek-level-1-1.jsonl",
    "id": 2,
    "instruction": "\nGenerate an API request in the format of [ApiName(key1='value1')].\nAPI descriptions:\n"
    + json.dumps({"name": "seek", "description": "", "input_parameters": {"city": {"type": "str"}}}),
    "input": "User: Where is Bergen?\nAPI-Request: [seek(city='Bergen')]->success\nAI: There.\nUser: And Oslo?\n"
    "Generate API Request:\n",
    "expected_output": "API-Request: [seek(city='Oslo')]",
}
API_BANK_DIALOGUE = [
    {"role": "User", "text": "Where is Oslo?"},
    {"role": "API", "api_name": "seek", "param_dict": {"city": "Oslo"}, "result": {"api_name": "seek", "output": "N"}},
    {"role": "AI", "text": "In Norway."},
]
RESPONSE = {
    "id": "c", "object": "chat.completion", "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
        "role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": {
            "name": "seek", "arguments": '{"city": "Oslo"}'}}]}}], "usage": {"prompt_tokens": 5},
}  # fmt: skip
OPENAI = [
    {"id": "b1", "custom_id": "a", "error": None, "response": {"status_code": 200, "body": RESPONSE}},
    {"id": "b2", "custom_id": "b", "error": None,
     "response": {"status_code": 429, "body": {"error": {"message": "too many"}}}},
]  # fmt: skip
ANTHROPIC = [
    {"custom_id": "a", "result": {"type": "succeeded", "message": {
        "id": "m", "type": "message", "role": "assistant", "model": "x", "stop_reason": "tool_use",
        "content": [{"type": "tool_use", "id": "1", "name": "seek", "input": {"city": "Oslo"}}]}}},
    {"custom_id": "b", "result": {"type": "errored", "error": {"type": "error", "error": {"message": "too many"}}}},
]  # fmt: skip
GEMINI = [
    {"key": "a", "response": {"candidates": [{"content": {"role": "model", "parts": [
        {"functionCall": {"name": "seek", "args": {"city": "Oslo"}}}]}}], "usageMetadata": {"promptTokenCount": 4}}},
    {"key": "b", "error": {"code": 8, "message": "too many"}},
]  # fmt: skip

# Rows, their format, the tool that the first example expects, and whether they offer tools.
FILES: list[tuple[list[Any], str, str, bool]] = [
    ([HERMES], "sharegpt", "seek", True),
    ([TOOLACE], "sharegpt", "Seek Place API", True),
    ([APIGEN], "sharegpt", "seek", True),
    ([TOOLLLAMA], "sharegpt", "", True),
    ([SEAL_TUNED], "sharegpt", "seek", True),
    ([XLAM], "xlam", "seek", True),
    ([GLAIVE], "glaive", "seek", True),
    ([TRL], "trl", "seek", True),
    ([PREFERENCE], "trl", "seek", False),
    (BFCL, "bfcl_rows", "seek", True),
    (TURNED, "bfcl_rows", "seek", False),
    (ACEBENCH, "acebench", "seek", True),
    ([SEAL], "seal_tools", "seek", False),
    ([TOOLBENCH], "toolbench", "seek_for_city_maps", True),
    ([API_BANK], "api_bank", "seek", True),
    (API_BANK_DIALOGUE, "api_bank_dialogue", "seek", False),
]
BATCHES: list[tuple[list[Any], str]] = [
    (OPENAI, "openai_batch"),
    (ANTHROPIC, "anthropic_batch"),
    (GEMINI, "gemini_batch"),
]


def lines(rows: list[Any]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def examples(rows: list[Any], decision: str = "") -> list[ExampleRow]:
    found = [row for _, row in evaluation_file(lines(rows), decision=decision).examples()]
    assert all(isinstance(row, ExampleRow) for row in found), found
    return [row for row in found if isinstance(row, ExampleRow)]


def tools_expected(row: ExampleRow) -> list[str]:
    return [call.tool for each in row.expectation.alternatives for call in each.calls]


@pytest.mark.parametrize(("rows", "name", "tool", "offers"), FILES)
def test_rows_are_found_as_lines_and_as_a_list_and_read(rows, name, tool, offers):
    assert what_is(lines(rows)).format == what_is(json.dumps(rows).encode()).format == name
    row = examples(rows)[0]
    assert row.input["messages"][-1]["role"] == "user"
    assert tools_expected(row) == ([tool] if tool else [])
    assert bool(row.tools) is offers


@pytest.mark.parametrize(("rows", "name"), [(rows, name) for rows, name, *_ in FILES if len(rows) == 1])
def test_a_file_of_one_row_is_no_list_of_tools(rows, name):
    assert what_is(json.dumps(rows[0], indent=1).encode()).format == name


@pytest.mark.parametrize(
    ("row", "pointer"),
    [
        (HERMES | {"conversations": []}, ""),
        (HERMES | {"conversations": [ASKED, {"from": "narrator", "value": "x"}]}, "/conversations/1/from"),
        (HERMES | {"conversations": [ASKED, {"from": "gpt", "value": "<tool_call>{no, no"}]}, "/conversations/1/0"),
        (APIGEN | {"conversations": [ASKED, {"from": "function_call", "value": "x"}]}, "/conversations/1/value"),
        (HERMES | {"conversations": [ASKED, {"from": "gpt", "value": '{"tool": "seek"}'}]}, "/conversations/1/value"),
        (XLAM | {"answers": "[1]"}, "/answers"),
        (XLAM | {"query": ""}, "/query"),
        (XLAM | {"tools": '[{"nome": "x"}]'}, "/tools/0"),
        (GLAIVE | {"chat": "Before.\nUSER: x"}, "/chat"),
        (TRL | {"completion": [{"role": "user", "content": "x"}]}, "/completion"),
        (BFCL[0] | {"function": [{"name": 1}]}, "/function/0/name"),
        (ACEBENCH[0] | {"function": [{"parameters": {}}]}, "/function/0"),
        (SEAL | {"calling": [{"api": "seek"}]}, "/calling/0"),
        (TOOLBENCH | {"relevant APIs": ["Seek"]}, "/relevant APIs/0"),
        (API_BANK | {"expected_output": "API-Request: seek Oslo"}, "/expected_output"),
    ],
)
def test_what_cannot_be_read_is_named_by_its_place(row, pointer):
    name = "sharegpt" if "conversations" in row else what_is(json.dumps(row).encode()).format
    found = [each for _, each in evaluation_file(json.dumps(row).encode(), name).examples()]
    assert [each.problems[0].pointer for each in found if isinstance(each, InvalidDocument)] == [
        pointer or "/conversations"
    ]


def test_the_decision_that_becomes_an_example_is_chosen_and_the_others_are_named():
    (first,) = examples([HERMES], "first")
    (last,) = examples([HERMES], "last")
    every = examples([HERMES], "every")
    assert tools_expected(first) == ["seek"]
    assert last.expectation.kind == "no_call"
    assert [row.external_id for row in every] == ["h1-1", "h1-2"]
    assert [tools_expected(row) for row in every] == [["seek"], []]
    assert "take the decision first or every" in last.losses[0].message
    assert "1 × the assistant's turns after it are left out" in first.losses[0].message
    assert not every[0].losses


def test_a_type_of_python_is_turned_and_an_unknown_one_is_named():
    parameters = {
        "a": {"type": "float"}, "b": {"type": "List[int], optional"}, "c": {"type": "Optional[str]"},
        "d": {"type": "wibble"}, "e": {"type": "Dict[str, Any]"},
    }  # fmt: skip
    (row,) = examples([XLAM | {"tools": json.dumps([SEEK | {"parameters": parameters}])}])
    assert row.tools[0].input_schema["properties"] == {
        "a": {"type": "number"}, "b": {"type": "array", "items": {"type": "integer"}}, "c": {"type": "string"},
        "d": {}, "e": {"type": "object"},
    }  # fmt: skip
    assert [loss.pointer for loss in row.losses] == ["/tools/0/parameters/properties/d/type"]


def test_one_bad_row_is_a_loss_of_the_look_and_none_alone():
    look = file_looked_at(lines([XLAM | {"id": number} for number in range(3)] + [XLAM | {"answers": "x"}]))
    assert look.counts == {"examples": 3}
    assert (look.error_count, [loss.message for loss in look.losses]) == (
        0,
        ["line 4: is not a list of calls with name and arguments: the row is left out"],
    )
    assert file_looked_at(lines([XLAM | {"answers": "x"}])).error_count


def test_answers_without_questions_and_questions_without_answers_say_what_to_do():
    (row,) = examples(BFCL[:1])
    assert row.expectation is None
    assert "put the answer rows into the same file" in row.losses[-1].message
    with pytest.raises(InvalidDocument, match="an answer to no question"):
        examples([BFCL[0], {"id": "simple_python_9", "ground_truth": []}])
    with pytest.raises(InvalidDocument, match="answered twice"):
        examples([*BFCL, BFCL[1]])


@pytest.mark.parametrize(
    ("text", "tools"),
    [
        ('{"city": "Oslo"}', []),
        ("```python\nprint('hello')\n```", []),
        ("Oslo is in Norway.", []),
        ("[seek(city='Oslo')]", ["seek"]),
        ('{"name": "seek", "arguments": {"city": "Oslo"}}', ["seek"]),
    ],
)
def test_words_code_and_json_are_no_calls_unless_they_call_an_offered_tool(text, tools):
    (row,) = examples([HERMES | {"conversations": [ASKED, {"from": "gpt", "value": text}]}])
    assert tools_expected(row) == tools
    assert row.expectation.kind == ("calls" if tools else "no_call")


def test_a_result_of_an_earlier_call_is_any_value():
    parameters = {"city": "API_call_0"}
    (row,) = examples([SEAL | {"calling": [*SEAL["calling"], {"api": "show", "parameters": parameters}]}])
    assert row.losses[0].pointer == "/calling/1/parameters/city"
    assert row.expectation.alternatives[0].calls[1].arguments["city"].kind == "key_only"


@pytest.mark.parametrize(("rows", "name"), BATCHES)
def test_batch_output_is_predictions_by_the_requests_names(rows, name):
    file = evaluation_file(lines(rows))
    assert file.detected.format.name == name
    good, failed = [trial for _, trial, _ in file.trials("")]
    assert (good.external_id, failed.external_id) == ("a", "b")
    assert [(call.name, call.arguments) for call in good.transcript.calls] == [("seek", {"city": "Oslo"})]
    assert failed.transcript.error == "too many"


def test_a_request_without_a_name_is_refused():
    ((pointer, found),) = read_openai([OPENAI[0] | {"custom_id": None}])
    assert not isinstance(found, Entry)
    assert (pointer, found.problems[0].pointer) == ("/0", "/custom_id")
