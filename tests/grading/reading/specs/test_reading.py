import pytest

from toolevals.grading.reading.specs import BFCL_TYPES, Choice, counted, read_tools, survey_tools
from toolevals.grading.values import ToolAnnotations
from toolevals.grading.values.problems import InvalidDocument, Problem

SCHEMA = {"type": "object", "properties": {"order": {"type": "string"}}}
NATIVE = {"name": "track", "description": "Says where.", "input_schema": SCHEMA, "annotations": {"read_only": True}}
INNER = {"name": "track", "description": "Says where.", "parameters": SCHEMA, "strict": True}
OPENAI = {"type": "function", "function": INNER}
BFCL = {
    "name": "geo.find",
    "description": "Finds.",
    "parameters": {
        "type": "dict",
        "properties": {
            "near": {"type": "tuple", "items": {"type": "float"}},
            "what": {"type": "any", "description": "Anything."},
            "opts": {"type": "dict", "properties": {"deep": {"type": "HashMap"}}, "required": ["deep"]},
            "n": {"type": "integer", "optional": True},
        },
        "required": ["near"],
    },
}


@pytest.mark.parametrize(
    ("entry", "format_name"),
    [
        (NATIVE, "native"),
        (OPENAI, "openai"),
        ({"type": "function", **INNER}, "openai"),
        (INNER, "openai"),
        (BFCL, "bfcl"),
    ],
)
def test_the_format_is_told_from_the_first_tool(entry, format_name):
    for document in ([entry], {"tools": [entry]}, {"functions": [entry]}, entry):
        read = read_tools(document)
        assert (read.format, len(read.tools)) == (format_name, 1)
    assert read_tools([entry], format=format_name).tools == read_tools([entry]).tools


def test_openai_tools_become_ours():
    (tool,) = read_tools([OPENAI]).tools
    assert (tool.name, tool.description, tool.input_schema) == ("track", "Says where.", SCHEMA)
    (bare,) = read_tools([{"type": "function", "function": {"name": "ping"}}]).tools
    assert bare.input_schema == {"type": "object", "properties": {}}


def test_native_tools_keep_what_is_said_of_them():
    (tool,) = read_tools([NATIVE]).tools
    assert tool.annotations == ToolAnnotations(read_only=True)


def test_the_leaderboards_types_become_json_schema_and_losses_are_named():
    read = read_tools([BFCL])
    assert read.tools[0].name == "geo.find"
    assert read.tools[0].input_schema == {
        "type": "object",
        "properties": {
            "near": {"type": "array", "items": {"type": "number"}},
            "what": {"description": "Anything."},
            "opts": {"type": "object", "properties": {"deep": {"type": "object"}}, "required": ["deep"]},
            "n": {"type": "integer"},
        },
        "required": ["near"],
    }
    assert read.losses == [Problem("/0/parameters/properties/n/optional", "is not a keyword of JSON Schema")]


@pytest.mark.parametrize(("written", "known"), BFCL_TYPES.items())
def test_every_type_of_the_leaderboard_is_known(written, known):
    read = read_tools([{"name": "f", "parameters": {"type": "dict", "properties": {"a": {"type": written}}}}])
    assert read.tools[0].input_schema["properties"]["a"] == ({} if known is None else {"type": known})
    assert read.losses == []


def test_an_unknown_type_admits_everything_and_says_so():
    read = read_tools([{"name": "f", "parameters": {"type": "dict", "properties": {"a": {"type": "blob"}}}}])
    assert read.tools[0].input_schema["properties"]["a"] == {}
    assert read.losses[0].pointer == "/0/parameters/properties/a/type"


def test_patterns_that_are_not_linear_are_imported_as_unchecked():
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": "(?=x)y"}}}
    read = read_tools({"tools": [{**NATIVE, "input_schema": schema}]})
    assert read.tools[0].input_schema["properties"]["a"] == {"type": "string", "x-unchecked-pattern": "(?=x)y"}
    assert [loss.pointer for loss in read.losses] == ["/tools/0/input_schema/properties/a/pattern"]


def test_what_openai_tools_hold_besides_is_a_loss():
    read = read_tools([{"type": "function", "function": {**INNER, "examples": []}}])
    assert read.losses == [Problem("/0/function/examples", "is not carried over")]


def test_no_tools_are_no_tools():
    assert read_tools([]).tools == []
    assert read_tools({"tools": []}).tools == []


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        (3, ""),
        ({}, ""),
        ([3], "/0"),
        ([NATIVE, 3], "/1"),
        ([NATIVE, NATIVE], "/1"),
        ([{**NATIVE, "input_schema": {"type": "objct"}}], "/0/input_schema/type"),
        ([{**NATIVE, "input_schema": {"$ref": "https://example.org/x"}}], "/0/input_schema/$ref"),
        ([{**NATIVE, "name": "(none)"}], "/0/name"),
        ([{**NATIVE, "nmae": "x"}], "/0"),
        ([{"type": "brand_new"}], "/0/type"),
        ([{"type": "function", "function": 3}], "/0/function"),
        ([{"type": "function", "function": {"parameters": {}}}], "/0/function/name"),
        ([{"type": "function", "function": {"name": "f", "parameters": 3}}], "/0/function/parameters"),
        ([{"type": "function", "function": {"name": "f", "parameters": {"type": "x"}}}], "/0/function/parameters/type"),
        ([{**BFCL, "parameters": {"type": "dict", "required": [1]}}], "/0/parameters/required/0"),
        ({"functions": [{**BFCL, "name": ""}]}, "/functions/0/name"),
        ({**NATIVE, "name": ""}, "/name"),
    ],
)  # fmt: skip
def test_bad_tools_are_refused_with_a_pointer_into_the_document(document, pointer):
    with pytest.raises(InvalidDocument) as caught:
        read_tools(document)
    assert pointer in [problem.pointer for problem in caught.value.problems]


def test_every_bad_tool_is_named():
    with pytest.raises(InvalidDocument) as caught:
        read_tools([3, NATIVE, {**NATIVE, "name": ""}])
    assert [problem.pointer for problem in caught.value.problems] == ["/0", "/2/name"]


def test_an_unknown_format_is_refused():
    with pytest.raises(InvalidDocument, match="is not a format"):
        read_tools([NATIVE], format="wsdl")


def test_the_sign_of_the_format_is_named():
    assert read_tools([OPENAI]).because == "/0 has function"
    assert read_tools({"openapi": "3.1.0", "paths": {}}).because == "openapi is '3.1.0'"
    assert read_tools([OPENAI], format="openai").because == ""


@pytest.mark.parametrize(
    ("document", "pointer", "words"),
    [
        ([{"name": "f", "args": {"a": {"type": "string"}}}], "/0", "nearest format is openai, which has parameters"),
        ([{"name": "f", "input-schema": SCHEMA}], "/0", "rename input-schema to inputSchema"),
        ([{"name": "f"}], "/0", "say the format"),
        ({"data": [OPENAI]}, "/data", "rename data to tools"),
        ({"track": INNER}, "", "Below track is what looks like openai"),
        ([OPENAI, {"name": "f", "input_schema": SCHEMA}], "/1/input_schema", "parameters is missing"),
        ([{"name": "f", "parameters": {"order": {"type": "string"}}}], "/0/parameters/order", "under properties"),
        ([{"type": "function", "function": {"name": "f"}, "parameters": SCHEMA}], "/0/parameters", "move it there"),
    ],
)
def test_what_no_reader_knows_is_refused_with_the_nearest_format(document, pointer, words):
    with pytest.raises(InvalidDocument) as caught:
        read_tools(document)
    (problem,) = caught.value.problems
    assert problem.pointer == pointer
    assert words in problem.message


def test_what_the_leaderboards_functions_hold_besides_is_a_loss():
    assert [loss.pointer for loss in read_tools([{**BFCL, "response": {}}]).losses] == [
        "/0/response",
        "/0/parameters/properties/n/optional",
    ]


def test_losses_are_counted_by_kind():
    tools = [{"name": name, "parameters": SCHEMA, "cost": 1} for name in ("a", "b")]
    kinds = counted(read_tools(tools).losses)
    assert [(each.key, each.count, each.first) for each in kinds] == [("cost", 2, "/0/cost")]


def test_tools_are_chosen_by_name_and_search_and_the_others_are_not_checked():
    listed = [OPENAI, {"name": "find", "description": "Finds orders.", "parameters": SCHEMA}, {"name": 3}]
    assert [tool.name for tool in read_tools(listed, choice=Choice(search="ORDERS finds")).tools] == ["find"]
    assert [tool.name for tool in read_tools(listed, choice=Choice(tools=frozenset({"track"}))).tools] == ["track"]
    for choice in (Choice(search="nothing"), Choice(tools=frozenset({"track", "gone"})), Choice(tags=frozenset("x"))):
        with pytest.raises(InvalidDocument, match="holds no tool"):
            read_tools(listed, choice=choice)


def test_an_empty_list_of_what_is_required_is_left_out_where_draft_4_forbids_it():
    inner = {"type": "object", "properties": {"b": {"type": "string"}}, "required": []}
    schema = {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "type": "object",
        "properties": {"a": inner},
        "required": [],
    }
    read = read_tools([{"name": "f", "inputSchema": schema}])
    assert read.tools[0].input_schema == {
        "$schema": schema["$schema"],
        "type": "object",
        "properties": {"a": {"type": "object", "properties": {"b": {"type": "string"}}}},
    }
    assert [loss.pointer for loss in read.losses] == [
        "/0/inputSchema/properties/a/required",
        "/0/inputSchema/required",
    ]
    newer = {**schema, "$schema": "https://json-schema.org/draft/2020-12/schema"}
    assert read_tools([{"name": "f", "inputSchema": newer}]).losses == []


def test_null_for_no_properties_is_left_out_and_the_tool_is_read():
    inner = {"type": "object", "properties": None}
    schema = {"type": "object", "properties": {"a": inner}, "required": None}
    read = survey_tools({"tools": [{"name": "f", "inputSchema": schema}]})
    (tool,) = read.tools
    assert tool.tool is not None
    assert tool.tool.input_schema == {"type": "object", "properties": {"a": {"type": "object"}}}
    assert {loss.pointer for loss in tool.losses} == {
        "/tools/0/inputSchema/properties/a/properties",
        "/tools/0/inputSchema/required",
    }
