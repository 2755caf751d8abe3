"""Bodies of operations that are no JSON, Swagger 2.0, and a choice of operations."""

from __future__ import annotations

from typing import Any

import pytest

from toolevals.grading.reading.specs import Choice, read_tools, survey_tools
from toolevals.grading.values.problems import InvalidDocument

FORM = {
    "type": "object",
    "required": ["amount"],
    "properties": {
        "amount": {"type": "integer"},
        "expand": {"type": "array", "items": {"type": "string"}},
        "receipt": {"type": "string", "format": "binary"},
    },
}


def openapi(content: dict[str, Any]) -> dict[str, Any]:
    body = {"required": True, "content": content}
    return {"openapi": "3.0.0", "paths": {"/charges": {"post": {"operationId": "charge", "requestBody": body}}}}


@pytest.mark.parametrize("media", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
def test_the_fields_of_a_form_are_arguments(media):
    read = read_tools(openapi({"application/xml": {"schema": {}}, media: {"schema": FORM, "encoding": {}}}))
    schema = read.tools[0].input_schema
    assert (list(schema["properties"]), schema["required"]) == (["amount", "expand", "receipt"], ["amount"])
    (loss,) = read.losses
    assert loss.pointer.endswith("/schema/properties/receipt")
    assert "is a file" in loss.message


def test_json_is_taken_before_a_form_and_text_is_one_argument():
    both = {"multipart/form-data": {"schema": FORM}, "application/json": {"schema": {"type": "string"}}}
    assert list(read_tools(openapi(both)).tools[0].input_schema["properties"]) == ["body"]
    (tool,) = read_tools(openapi({"text/plain": {"schema": {"type": "string", "maxLength": 9}}})).tools
    assert tool.input_schema["properties"] == {"body": {"type": "string", "maxLength": 9}}


PET = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "id": {"type": "integer"}}}
# After the specification's own examples.
SWAGGER: dict[str, Any] = {
    "swagger": "2.0",
    "consumes": ["application/json"],
    "parameters": {
        "skip": {"name": "skip", "in": "query", "type": "integer", "minimum": 0, "description": "Leave out."}
    },
    "definitions": {"Pet": PET, "Pets": {"type": "array", "items": {"$ref": "#/definitions/Pet"}}},
    "paths": {
        "/pets": {
            "parameters": [{"$ref": "#/parameters/skip"}],
            "get": {
                "operationId": "listPets",
                "tags": ["read"],
                "parameters": [
                    {
                        "name": "tags",
                        "in": "query",
                        "type": "array",
                        "items": {"type": "string"},
                        "collectionFormat": "csv",
                    }
                ],
                "responses": {"200": {"schema": {"$ref": "#/definitions/Pets"}}},
            },
            "post": {
                "operationId": "addPet",
                "tags": ["write"],
                "parameters": [
                    {"name": "pet", "in": "body", "required": True, "schema": {"$ref": "#/definitions/Pet"}}
                ],
            },
        },
        "/pets/{id}/photo": {
            "post": {
                "operationId": "addPhoto",
                "consumes": ["multipart/form-data"],
                "tags": ["write"],
                "parameters": [
                    {"name": "id", "in": "path", "required": True, "type": "integer"},
                    {"name": "caption", "in": "formData", "required": True, "type": "string", "maxLength": 80},
                    {"name": "photo", "in": "formData", "type": "file"},
                    {"name": "odd", "in": "cookie", "type": "string"},
                ],
            }
        },
    },
}


def test_swagger_becomes_tools():
    read = read_tools(SWAGGER)
    assert (read.format, read.because) == ("openapi", "swagger is '2.0'")
    pets, add, photo = read.tools
    assert pets.input_schema["properties"] == {
        "skip": {"type": "integer", "minimum": 0, "description": "Leave out."},
        "tags": {"type": "array", "items": {"type": "string"}},
    }
    assert pets.output_schema is not None
    assert (pets.output_schema["$ref"], list(pets.output_schema["$defs"])) == ("#/$defs/Pets", ["Pets", "Pet"])
    assert (list(add.input_schema["properties"]), add.input_schema["required"]) == (["skip", "name", "id"], ["name"])
    assert photo.input_schema["properties"] == {
        "id": {"type": "integer"},
        "caption": {"type": "string", "maxLength": 80},
        "photo": {"type": "string"},
    }
    assert photo.input_schema["required"] == ["id", "caption"]
    assert [loss.pointer.rpartition("/parameters")[2] for loss in read.losses] == ["/2", "/3/in"]


def test_another_version_of_swagger_is_refused():
    with pytest.raises(InvalidDocument, match=r"/swagger: is not version 2\.0"):
        read_tools({"swagger": "1.2", "apis": []})


@pytest.mark.parametrize(
    ("choice", "names"),
    [
        ({"tags": ["write"]}, ["addPet", "addPhoto"]),
        ({"paths": ["/pets"]}, ["listPets", "addPet", "addPhoto"]),
        ({"paths": ["/pet"], "search": ""}, []),
        ({"paths": ["/pets/{id}/"]}, ["addPhoto"]),
        ({"tags": ["write"], "search": "PETS photo"}, ["addPhoto"]),
        ({"tools": ["listPets"]}, ["listPets"]),
    ],
)
def test_operations_are_chosen_and_the_others_are_not_read(choice, names):
    bad = {**SWAGGER, "paths": {**SWAGGER["paths"], "/bad": {"get": {"operationId": "bad", "parameters": 3}}}}
    chosen = survey_tools(bad, choice=Choice.from_document(choice))
    assert [each.name for each in chosen.tools] == names
    assert all(each.tool for each in chosen.tools)


@pytest.mark.parametrize("choice", [{"tag": []}, {"tags": "x"}, {"search": ["x"]}, {"tools": [3]}])
def test_a_choice_that_cannot_be_read_is_refused(choice):
    with pytest.raises(InvalidDocument):
        Choice.from_document(choice)


def test_webhooks_are_a_loss():
    (loss,) = read_tools({"openapi": "3.1.0", "paths": {}, "webhooks": {"new": {"post": {}}}}).losses
    assert loss.pointer == "/webhooks/new"
