"""Tools as Anthropic, Gemini and MCP servers write them."""

import pytest

from toolevals.grading.reading.specs import read_tools
from toolevals.grading.values import ToolAnnotations
from toolevals.grading.values.problems import InvalidDocument, Problem

SCHEMA = {"type": "object", "properties": {"order": {"type": "string"}}}
ANTHROPIC = {"name": "track", "description": "Says where.", "input_schema": SCHEMA, "strict": True}
MCP = {
    "name": "track",
    "title": "Track an order",
    "description": "Says where.",
    "inputSchema": SCHEMA,
    "outputSchema": {"type": "object", "properties": {"at": {"type": "string"}}},
    "annotations": {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False},
}
GEMINI = {
    "name": "track",
    "description": "Says where.",
    "parameters": {
        "type": "OBJECT",
        "properties": {
            "order": {"type": "STRING", "nullable": True, "enum": ["A-1", "A-2"], "format": "enum"},
            "floor": {"type": "INTEGER", "format": "enum", "enum": ["101", "201"]},
            "tags": {"type": "ARRAY", "items": {"type": "STRING"}, "minItems": "1", "max_items": 3},
            "either": {"any_of": [{"type": "NUMBER"}, {"type": "BOOLEAN"}], "nullable": True, "description": "Either."},
            "size": {"type": "TYPE_UNSPECIFIED", "example": 3},
        },
        "required": ["order"],
        "propertyOrdering": ["order", "floor"],
    },
}


@pytest.mark.parametrize(
    "document",
    [
        [ANTHROPIC],
        {"model": "m", "messages": [], "tools": [ANTHROPIC]},
        [{key: value for key, value in ANTHROPIC.items() if key != "strict"}, {**ANTHROPIC, "name": "other"}],
    ],
)
def test_anthropic_tools_are_told_from_native_ones_by_any_of_them(document):
    read = read_tools(document)
    assert (read.format, read.losses) == ("anthropic", [])
    assert read.tools[0].input_schema == SCHEMA


def test_what_anthropic_tools_hold_besides_is_a_loss():
    tool = {**ANTHROPIC, "cache_control": {"type": "ephemeral"}, "input_examples": [{"order": "A-1"}]}
    assert read_tools([tool]).losses == [Problem("/0/input_examples", "is not carried over")]


@pytest.mark.parametrize(("format_name", "key"), [("anthropic", "input_schema"), ("mcp", "inputSchema")])
def test_a_schema_that_the_format_requires_is_asked_for(format_name, key):
    with pytest.raises(InvalidDocument, match=f"/0: {key} is missing"):
        read_tools([{"name": "ping"}], format=format_name)


def test_the_shell_and_the_editor_that_anthropic_defines_are_tools_of_the_agent():
    read = read_tools([{"type": "bash_20250124", "name": "bash"}, ANTHROPIC])
    assert (read.format, [tool.name for tool in read.tools]) == ("anthropic", ["bash", "track"])
    assert read.tools[0].input_schema == {"type": "object"}
    assert [(loss.pointer, loss.message[:42]) for loss in read.losses] == [
        ("/0", "'bash_20250124' has the provider's own sch")
    ]


def test_a_tool_of_free_text_has_it_as_the_argument_input():
    custom = {"name": "run", "description": "Runs code.", "format": {"type": "text"}}
    for entry, root in (({"type": "custom", "custom": custom}, "/0/custom"), ({"type": "custom"} | custom, "/0")):
        read = read_tools([entry])
        assert (read.format, read.tools[0].name, read.tools[0].description) == ("openai", "run", "Runs code.")
        assert read.tools[0].input_schema["required"] == ["input"]
        assert read.losses == [Problem(f"{root}/format", "is not carried over")]


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ([{"type": "brand_new_20990101", "name": "x"}, ANTHROPIC], "/0/type"),
        ([{"type": "brand_new"}], "/0/type"),
        ({"tools": [{"functionDeclarations": [GEMINI]}, {"brandNew": {}}]}, "/tools/1/brandNew"),
    ],
)
def test_a_type_that_no_one_knows_is_refused_by_name(document, pointer):
    with pytest.raises(InvalidDocument, match="leave it out, or write") as caught:
        read_tools(document)
    assert [problem.pointer for problem in caught.value.problems] == [pointer]


@pytest.mark.parametrize(
    ("document", "root"),
    [
        ([MCP], ""),
        ({"tools": [MCP]}, "/tools"),
        ({"jsonrpc": "2.0", "id": 1, "result": {"tools": [MCP], "nextCursor": "p2"}}, "/result/tools"),
    ],
)
def test_mcp_tools_become_ours(document, root):
    read = read_tools(document)
    (tool,) = read.tools
    assert (read.format, tool.name, tool.title) == ("mcp", "track", "Track an order")
    assert (tool.input_schema, tool.output_schema) == (SCHEMA, MCP["outputSchema"])
    assert tool.annotations == ToolAnnotations(read_only=True, destructive=False, idempotent=True)
    lost = [Problem(f"{root}/0/annotations/openWorldHint", "is not carried over")]
    if root == "/result/tools":
        lost.append(Problem("/result/nextCursor", "the list has more pages: read them too"))
    assert read.losses == lost


def test_the_title_of_older_servers_stands_in_the_annotations():
    old = {**MCP, "title": None, "annotations": {"title": "Older"}}
    (tool,) = read_tools([old]).tools
    assert tool.title == "Older"
    assert tool.annotations == ToolAnnotations()


@pytest.mark.parametrize(
    ("changed", "pointer"),
    [
        ({"inputSchema": {"type": "objct"}}, "/tools/0/inputSchema/type"),
        ({"annotations": {"readOnlyHint": "yes"}}, "/tools/0/annotations/readOnlyHint"),
        ({"name": ""}, "/tools/0/name"),
    ],
)
def test_a_bad_mcp_tool_is_pointed_at_in_its_own_words(changed, pointer):
    with pytest.raises(InvalidDocument) as caught:
        read_tools({"tools": [{**MCP, **changed}]})
    assert [problem.pointer for problem in caught.value.problems] == [pointer]


def test_a_bad_output_schema_is_left_out():
    read = read_tools({"tools": [{**MCP, "outputSchema": {"$ref": "https://example.org/x"}, "annotations": {}}]})
    assert read.tools[0].output_schema is None
    (loss,) = read.losses
    assert loss.pointer == "/tools/0/outputSchema/$ref"
    assert loss.message.startswith("the output schema is left out: ")


GEMINI_SCHEMA = {
    "type": "object",
    "properties": {
        "order": {"type": ["string", "null"], "enum": ["A-1", "A-2", None], "format": "enum"},
        "floor": {"type": "integer", "format": "enum", "enum": [101, 201]},
        "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3},
        "either": {
            "description": "Either.",
            "anyOf": [{"anyOf": [{"type": "number"}, {"type": "boolean"}]}, {"type": "null"}],
        },
        "size": {"examples": [3]},
    },
    "required": ["order"],
    "propertyOrdering": ["order", "floor"],
}


@pytest.mark.parametrize(
    ("document", "at"),
    [
        ([GEMINI], "/0"),
        ({"functionDeclarations": [GEMINI]}, "/functionDeclarations/0"),
        ([{"function_declarations": [GEMINI]}], "/0/function_declarations/0"),
        ({"tools": [{"functionDeclarations": [GEMINI]}]}, "/tools/0/functionDeclarations/0"),
    ],
)
def test_geminis_subset_of_openapi_becomes_json_schema(document, at):
    read = read_tools(document)
    assert read.format == "gemini"
    assert read.tools[0].input_schema == GEMINI_SCHEMA
    (loss,) = read.losses
    assert loss.pointer == f"{at}/parameters/properties/size/type"


def test_gemini_takes_json_schema_as_it_is():
    declared = {"name": "track", "parametersJsonSchema": SCHEMA, "responseJsonSchema": {"type": "string"}}
    read = read_tools([{**declared, "behavior": "BLOCKING"}])
    assert (read.format, read.tools[0].input_schema) == ("gemini", SCHEMA)
    assert read.tools[0].output_schema == {"type": "string"}
    assert read.losses == [Problem("/0/behavior", "is not carried over")]


def test_an_enum_of_no_numbers_is_a_loss_on_a_number():
    schema = {"type": "OBJECT", "properties": {"n": {"type": "NUMBER", "enum": ["1.5", "many"]}}}
    read = read_tools({"functionDeclarations": [{"name": "f", "parameters": schema}]})
    assert read.tools[0].input_schema["properties"]["n"] == {"type": "number"}
    assert read.losses[0].pointer == "/functionDeclarations/0/parameters/properties/n/enum"


def test_what_a_bad_declaration_says_is_pointed_at():
    with pytest.raises(InvalidDocument) as caught:
        read_tools({"functionDeclarations": [GEMINI, {"name": "f", "parameters": {"required": [1]}}, 3]})
    assert [problem.pointer for problem in caught.value.problems] == [
        "/functionDeclarations/1/parameters/required/0",
        "/functionDeclarations/2",
    ]
