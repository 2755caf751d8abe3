"""Operations of OpenAPI documents as tools."""

from typing import Any

import pytest

from toolevals.grading.json_schema.conformance import call_problems
from toolevals.grading.reading.specs import openapi, openapi_schema, read_tools
from toolevals.grading.values import ToolAnnotations, ToolSpec
from toolevals.grading.values.problems import InvalidDocument, Problem

ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}


def document(paths: dict[str, Any], version: str = "3.1.0", **components: Any) -> dict[str, Any]:
    info = {"title": "Pets", "version": "1"}
    return {"openapi": version, "info": info, "paths": paths, "components": components}


def body(schema: Any, *, required: bool = True, media: str = "application/json") -> dict[str, Any]:
    return {"required": required, "content": {media: {"schema": schema}}}


def only(paths: dict[str, Any], version: str = "3.1.0", **components: Any) -> ToolSpec:
    (tool,) = read_tools(document(paths, version, **components)).tools
    return tool


def losses(paths: dict[str, Any], version: str = "3.1.0", **components: Any) -> list[Problem]:
    return read_tools(document(paths, version, **components)).losses


def test_parameters_and_body_become_one_object():
    operation = {
        "operationId": "rename",
        "summary": "Rename a pet",
        "description": "The old name is kept.",
        "parameters": [
            ID,
            {"name": "dry", "in": "query", "description": "Only try.", "schema": {"type": "boolean"}},
            {"name": "Authorization", "in": "header", "schema": {"type": "string"}},
            {"name": "trace", "in": "header", "content": {"application/json": {"schema": {"type": "object"}}}},
            {"name": "session", "in": "cookie", "schema": True},
        ],
        "requestBody": body({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}),
        "responses": {
            "404": {},
            "200": {"content": {"application/json; charset=utf-8": {"schema": {"type": "string"}}}},
        },
    }
    read = read_tools(document({"/pets/{id}": {"put": operation}}))
    (tool,) = read.tools
    assert (read.format, read.losses, tool.name) == ("openapi", [], "rename")
    assert tool.description == "Rename a pet\n\nThe old name is kept."
    assert tool.input_schema == {
        "type": "object",
        "properties": {
            "id": {"type": "integer"},
            "dry": {"type": "boolean", "description": "Only try."},
            "trace": {"type": "object"},
            "session": True,
            "name": {"type": "string"},
        },
        "required": ["id", "name"],
    }
    assert tool.output_schema == {"type": "string"}
    assert tool.annotations == ToolAnnotations(idempotent=True)


@pytest.mark.parametrize(
    ("method", "annotations"),
    [
        ("get", ToolAnnotations(read_only=True)),
        ("head", ToolAnnotations(read_only=True)),
        ("post", ToolAnnotations()),
        ("delete", ToolAnnotations(destructive=True, idempotent=True)),
    ],
)
def test_methods_say_what_tools_do(method, annotations):
    tool = only({"/pets/{petId}/toys": {method: {}}})
    assert tool.name == f"{method}_pets_petId_toys"
    assert tool.annotations == annotations
    assert tool.input_schema == {"type": "object", "properties": {}, "additionalProperties": False}


def test_names_that_clash_are_kept_apart_and_reported():
    operation = {
        "parameters": [ID, {"name": "id", "in": "query", "schema": {"type": "string"}}],
        "requestBody": body({"properties": {"id": {}, "query_id": {}}, "additionalProperties": False}),
    }
    read = read_tools(document({"/a/{id}": {"post": operation}, "/a/id": {"post": {}}}))
    assert [tool.name for tool in read.tools] == ["post_a_id", "post_a_id_2"]
    names = ["id", "query_id_2", "body_id", "query_id"]
    assert list(read.tools[0].input_schema["properties"]) == names
    assert read.tools[0].input_schema["additionalProperties"] is False
    assert [loss.pointer for loss in read.losses] == [
        "/paths/~1a~1{id}/post/parameters/1/schema",
        "/paths/~1a~1{id}/post/requestBody/content/application~1json/schema/properties/id",
        "/paths/~1a~1id/post",
    ]


def test_an_operations_parameters_replace_the_paths():
    shared = [ID, {"$ref": "#/components/parameters/page"}]
    page = {"name": "page", "in": "query", "schema": {"type": "integer"}}
    own = [{"name": "page", "in": "query", "required": True, "schema": {"type": "string"}}]
    tool = only({"/a/{id}": {"parameters": shared, "get": {"parameters": own}}}, parameters={"page": page})
    assert tool.input_schema["properties"]["page"] == {"type": "string"}
    assert tool.input_schema["required"] == ["id", "page"]


def test_a_body_that_may_be_left_out_binds_its_own_properties_only():
    schema = {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a"], "additionalProperties": False}
    tool = only({"/x": {"post": {"requestBody": body(schema, required=False)}}})
    assert tool.input_schema["dependentRequired"] == {"b": ["a"]}
    assert call_problems(tool, {}) == []
    assert [each.keyword for each in call_problems(tool, {"b": 1})] == ["dependentRequired"]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {}},
        {"oneOf": [{"type": "object"}]},
        {"type": "object"},
        {"type": "object", "properties": {"a": {}}, "additionalProperties": {"type": "integer"}},
        {"type": "object", "properties": {"a": {}}, "minProperties": 1},
        True,
    ],
)
def test_any_other_body_is_one_argument(schema):
    tool = only({"/x": {"post": {"requestBody": body(schema, media="application/vnd.api+json")}}})
    assert tool.input_schema["properties"] == {"body": schema}
    assert tool.input_schema["required"] == ["body"]


def test_references_become_definitions_and_cycles_stay():
    node = {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/Node"}, "n": {"type": "integer"}}}
    operation = {"requestBody": {"$ref": "#/components/requestBodies/tree"}}
    tool = only(
        {"/x": {"$ref": "#/components/pathItems/x"}},
        schemas={"Node": node},
        requestBodies={"tree": body({"type": "array", "items": {"$ref": "#/components/schemas/Node"}})},
        pathItems={"x": {"post": operation}},
    )
    reference = {"$ref": "#/$defs/Node"}
    assert tool.input_schema["properties"]["body"] == {"type": "array", "items": reference}
    assert tool.input_schema["$defs"] == {
        "Node": {"type": "object", "properties": {"next": reference, "n": {"type": "integer"}}}
    }
    (problem,) = call_problems(tool, {"body": [{"next": {"next": {"n": "x"}}}]})
    assert problem.pointer == "/body/0/next/next/n"


def test_a_plain_body_behind_a_reference_gives_its_properties():
    node = {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/Node"}}}
    tool = only(
        {"/x": {"post": {"requestBody": body({"$ref": "#/components/schemas/Node"})}}},
        schemas={"Node": node, "a/Node": {"type": "string"}},
    )
    assert tool.input_schema["properties"] == {"next": {"$ref": "#/$defs/Node"}}


def test_the_words_of_3_0_become_those_of_json_schema():
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "integer", "minimum": 0, "exclusiveMinimum": True, "maximum": 9, "exclusiveMaximum": False},
            "b": {"type": "string", "nullable": True, "example": "x", "enum": ["x"]},
            "c": {"nullable": True, "allOf": [{"$ref": "#/components/schemas/C"}], "description": "The c."},
            "d": {"$ref": "#/components/schemas/C", "minLength": 3, "description": "The d."},
            "e": {"type": "number", "exclusiveMaximum": True},
        },
    }
    paths = {"/x": {"post": {"requestBody": body(schema)}}}
    tool = only(paths, "3.0.3", schemas={"C": {"type": "string"}})
    assert tool.input_schema["properties"] == {
        "a": {"type": "integer", "exclusiveMinimum": 0, "maximum": 9},
        "b": {"type": ["string", "null"], "examples": ["x"], "enum": ["x", None]},
        "c": {"description": "The c.", "anyOf": [{"allOf": [{"$ref": "#/$defs/C"}]}, {"type": "null"}]},
        "d": {"$ref": "#/$defs/C", "description": "The d."},
        "e": {"type": "number"},
    }
    at = "/paths/~1x/post/requestBody/content/application~1json/schema/properties"
    found = losses(paths, "3.0.3", schemas={"C": {"type": "string"}})
    assert [loss.pointer for loss in found] == [f"{at}/c/nullable", f"{at}/d/minLength", f"{at}/e/exclusiveMaximum"]


def test_read_only_properties_are_no_part_of_a_request_and_write_only_ones_none_of_a_response():
    pet = {
        "type": "object",
        "properties": {"id": {"type": "string", "readOnly": True}, "key": {"writeOnly": True}, "name": {}},
        "required": ["id", "key"],
    }
    reference = {"$ref": "#/components/schemas/Pet"}
    responses = {"2XX": {"content": {"application/json": {"schema": reference}}}}
    operation = {"requestBody": body({"type": "array", "items": reference}), "responses": responses}
    tool = only({"/x": {"post": operation}}, schemas={"Pet": pet})
    assert tool.input_schema["$defs"]["Pet"] == {
        "type": "object",
        "properties": {"key": {"writeOnly": True}, "name": {}},
        "required": ["key"],
    }
    assert tool.output_schema is not None
    assert tool.output_schema["$defs"]["Pet"]["required"] == ["id"]


def test_what_is_no_argument_is_a_loss():
    operation = {
        "parameters": [{"name": "a", "in": "matrix", "schema": {}}, {"name": "b", "in": "query"}],
        "requestBody": {"content": {"application/xml": {"schema": {}}}},
        "callbacks": {},
    }
    found = losses({"/x": {"post": operation}})
    assert [loss.pointer.removeprefix("/paths/~1x/post") for loss in found] == [
        "/parameters/0/in",
        "/parameters/1",
        "/requestBody/content",
        "/callbacks",
    ]


def test_an_output_that_cannot_be_used_is_left_out():
    responses = {"200": {"content": {"application/json": {"schema": {"$ref": "other.json"}}}}}
    paths = {"/x": {"get": {"responses": responses}}}
    assert only(paths).output_schema is None
    (loss,) = losses(paths)
    assert loss.pointer == "/paths/~1x/get/responses/200/content/application~1json/schema/$ref"


@pytest.mark.parametrize(
    ("changed", "pointer"),
    [
        ({"openapi": "2.0"}, "/openapi"),
        ({"paths": []}, "/paths"),
        ({"paths": {"/x": 3}}, "/paths/~1x"),
        ({"paths": {"/x": {"get": 3}}}, "/paths/~1x/get"),
        ({"paths": {"/x": {"get": {"parameters": {}}}}}, "/paths/~1x/get/parameters"),
        ({"paths": {"/x": {"get": {"parameters": [{"in": "query"}]}}}}, "/paths/~1x/get/parameters/0"),
        ({"paths": {"/x": {"get": {"operationId": 3}}}}, "/paths/~1x/get/operationId"),
        ({"paths": {"/x": {"$ref": "#/paths/~1x"}}}, "/paths/~1x"),
        ({"paths": {"/x": {"$ref": "#/nowhere"}}}, "/paths/~1x/$ref"),
        ({"paths": {"/x": {"post": {"requestBody": body({"$ref": "x.json"})}}}},
         "/paths/~1x/post/requestBody/content/application~1json/schema/$ref"),
        ({"paths": {"/x": {"get": {"parameters": [{**ID, "schema": {"type": "objct"}}]}}}},
         "/paths/~1x/get/parameters/0/schema/type"),
        ({"paths": {"/x": {"get": {"parameters": [{**ID, "schema": {"$ref": "#/components/schemas/P"}}]}}},
          "components": {"schemas": {"P": {"required": 3}}}}, "/components/schemas/P/required"),
    ],
)  # fmt: skip
def test_a_bad_document_is_pointed_at(changed, pointer):
    with pytest.raises(InvalidDocument) as caught:
        read_tools({**document({}), **changed})
    assert [problem.pointer for problem in caught.value.problems] == [pointer]


def test_a_repeated_operation_id_is_refused():
    with pytest.raises(InvalidDocument, match="a second tool"):
        read_tools(document({"/x": {"get": {"operationId": "a"}, "post": {"operationId": "a"}}}))


def test_a_tool_does_not_draw_in_most_of_a_document(monkeypatch):
    monkeypatch.setattr(openapi_schema, "MAX_DEFINITIONS", 3)
    schemas = {f"S{n}": {"items": {"$ref": f"#/components/schemas/S{n + 1}"}} for n in range(9)} | {"S9": {}}
    answer = {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/S5"}}}}}
    read = read_tools(document({"/x": {"get": {"responses": answer}}}, schemas=schemas))
    assert read.tools[0].output_schema is None
    assert read.losses[0].pointer == "/components/schemas/S8"
    with pytest.raises(InvalidDocument, match="references most of the document"):
        read_tools(
            document({"/x": {"post": {"requestBody": body({"$ref": "#/components/schemas/S0"})}}}, schemas=schemas)
        )


def test_all_tools_together_have_a_limit(monkeypatch):
    monkeypatch.setattr(openapi, "MAX_CHARACTERS_IN_ALL", 5_000)
    shared = {"parameters": [{**ID, "description": "x" * 900}], "get": {}}
    paths: dict[str, Any] = {f"/{n}": {"$ref": "#/components/pathItems/x"} for n in range(1_000)}
    with pytest.raises(InvalidDocument, match="choose some of the operations") as caught:
        read_tools(document(paths, pathItems={"x": shared}))
    assert len(caught.value.problems) == 1
