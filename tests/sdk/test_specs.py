"""Specs of functions: their schemas pass JSON Schema's own check, and registries import them without a loss."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import json
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, NewType, NotRequired, Optional, TypedDict, TypeVar

import jsonschema
import pytest
from pydantic import BaseModel, Field

from toolevals.grading.reading.specs import read_tools
from toolevals.sdk import ToolError
from toolevals.sdk.specs import spec_of

Sku = NewType("Sku", int)
Bound = TypeVar("Bound", bound=str)
Either = TypeVar("Either", int, str)


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Address(TypedDict):
    """Where it goes."""

    street: Annotated[str, "With its number"]
    note: NotRequired[str]


@dataclasses.dataclass
class Item:
    sku: Sku
    count: int = 1
    tags: list[str] = dataclasses.field(default_factory=list, metadata={"description": "Free words"})


@dataclasses.dataclass
class Tree:
    """A tree."""

    name: str
    below: list[Tree] = dataclasses.field(default_factory=list)


class Payment(BaseModel):
    """How it is paid."""

    amount: float = Field(gt=0, description="In euro")
    to: Colour = Colour.RED


class Person(BaseModel):
    name: str
    friends: list[Person] = []


ONE = Item(Sku(1))
TEXT, WHOLE = {"type": "string"}, {"type": "integer"}
ITEM = {
    "type": "object",
    "properties": {
        "sku": WHOLE,
        "count": {"type": "integer", "default": 1},
        "tags": {"type": "array", "items": TEXT, "description": "Free words"},
    },
    "additionalProperties": False,
    "required": ["sku"],
}
ANNOTATIONS: dict[str, tuple[Any, dict[str, Any]]] = {
    "text": (str, TEXT),
    "anything": (Any, {}),
    "a choice": (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
    "a choice of kinds": (Literal[1, "b", None], {"type": ["integer", "string", "null"], "enum": [1, "b", None]}),
    "an enumeration": (Colour, {"type": "string", "enum": ["red", "blue"]}),
    "optional": (Optional[int], {"anyOf": [WHOLE, {"type": "null"}]}),  # noqa: UP045 (the older form)
    "a union": (int | str | None, {"anyOf": [WHOLE, TEXT, {"type": "null"}]}),
    "a union of unions": (
        (int | None) | Literal["x"],
        {"anyOf": [WHOLE, {"type": "null"}, {"type": "string", "enum": ["x"]}]},
    ),
    "a union with anything": (Optional[Any], {}),  # noqa: UP045
    "a list": (list[int], {"type": "array", "items": WHOLE}),
    "a list of anything": (list, {"type": "array"}),
    "a sequence": (Sequence[str], {"type": "array", "items": TEXT}),
    "an iterable": (Iterable[Any], {"type": "array"}),
    "a set": (frozenset[str], {"type": "array", "uniqueItems": True, "items": TEXT}),
    "a tuple": (tuple[int, str], {"type": "array", "minItems": 2, "maxItems": 2, "prefixItems": [WHOLE, TEXT]}),
    "a tuple of one kind": (tuple[int, ...], {"type": "array", "items": WHOLE}),
    "a dict": (dict[str, int], {"type": "object", "additionalProperties": WHOLE}),
    "a mapping": (Mapping[str, Any], {"type": "object"}),
    "a dict with chosen keys": (
        dict[Literal["a"], int],
        {"type": "object", "propertyNames": {"type": "string", "enum": ["a"]}, "additionalProperties": WHOLE},
    ),
    "a date": (datetime.date, {"type": "string", "format": "date"}),
    "an id": (uuid.UUID, {"type": "string", "format": "uuid"}),
    "a new type": (Sku, WHOLE),
    "a bound variable": (Bound, TEXT),
    "a variable of several": (Either, {"anyOf": [WHOLE, TEXT]}),
    "described": (Annotated[int, "How many"], {"type": "integer", "description": "How many"}),
    "constrained": (
        Annotated[int, Field(ge=1, lt=10, description="How many")],
        {"type": "integer", "minimum": 1, "exclusiveMaximum": 10, "description": "How many"},
    ),
    "constrained, or null": (
        Annotated[str | None, Field(max_length=3, pattern="^a")],
        {"anyOf": [{"type": "string", "maxLength": 3, "pattern": "^a"}, {"type": "null"}]},
    ),
    "a short list": (Annotated[list[int], Field(min_length=1)], {"type": "array", "items": WHOLE, "minItems": 1}),
    "a typed dict": (
        Address,
        {
            "type": "object",
            "properties": {"street": {"type": "string", "description": "With its number"}, "note": TEXT},
            "additionalProperties": False,
            "description": "Where it goes.",
            "required": ["street"],
        },
    ),
    "a dataclass": (Item, ITEM),
    "dataclasses in a list": (list[Item], {"type": "array", "items": ITEM}),
}  # fmt: skip


def with_parameter(annotation: Any) -> Callable[..., None]:
    def send(value):
        pass

    send.__annotations__ = {"value": annotation}
    return send


def checked(schema: dict[str, Any]) -> dict[str, Any]:
    jsonschema.Draft202012Validator.check_schema(schema)
    json.dumps(schema, allow_nan=False)
    read = read_tools([{"name": "send", "description": "", "input_schema": schema}])
    assert (len(read.tools), list(read.losses)) == (1, [])
    assert read.tools[0].input_schema == schema
    return schema


@pytest.mark.parametrize("case", ANNOTATIONS)
def test_an_annotation_is_its_schema(case: str) -> None:
    annotation, expected = ANNOTATIONS[case]
    schema = checked(spec_of(with_parameter(annotation)).input_schema)
    assert schema == {
        "type": "object", "properties": {"value": expected}, "additionalProperties": False, "required": ["value"],
    }  # fmt: skip


def test_what_holds_itself_is_a_definition() -> None:
    schema = checked(spec_of(with_parameter(Tree)).input_schema)
    assert schema["properties"]["value"] == {"$ref": "#/$defs/Tree"}
    assert schema["$defs"]["Tree"]["properties"]["below"] == {"type": "array", "items": {"$ref": "#/$defs/Tree"}}
    validator = jsonschema.Draft202012Validator(schema)
    assert validator.is_valid({"value": {"name": "a", "below": [{"name": "b"}]}})
    assert not validator.is_valid({"value": {"name": "a", "below": [{"nam": "b"}]}})


def test_models_of_pydantic_describe_themselves() -> None:
    def pay(payment: Payment, person: Person | None = None) -> None: ...

    schema = checked(spec_of(pay).input_schema)
    validator = jsonschema.Draft202012Validator(schema)
    assert validator.is_valid(
        {"payment": {"amount": 1.5, "to": "red"}, "person": {"name": "a", "friends": [{"name": "b"}]}}
    )
    assert not validator.is_valid({"payment": {"amount": 0}})
    assert not validator.is_valid({"payment": {"amount": 1, "to": "green"}})
    assert schema["properties"]["payment"]["properties"]["amount"]["description"] == "In euro"


def test_defaults_keywords_and_hidden_parameters() -> None:
    def search(
        context: object, text: str, *, colour: Colour = Colour.RED, limit: int = 5, when: Item = ONE
    ) -> None: ...

    schema = checked(spec_of(search, hidden=["context"]).input_schema)
    assert schema["required"] == ["text"]
    assert list(schema["properties"]) == ["text", "colour", "limit", "when"]
    assert (schema["properties"]["colour"]["default"], schema["properties"]["limit"]["default"]) == ("red", 5)
    assert "default" not in schema["properties"]["when"]


def test_a_method_is_a_tool_without_its_object() -> None:
    class Shop:
        def order(self, sku: int) -> None: ...

    assert list(spec_of(Shop.order).input_schema["properties"]) == ["sku"]


def args(*items: str) -> None: ...
def kwargs(**more: str) -> None: ...
def positional(first: int, /) -> None: ...
def of_callable(then: Callable[[], int]) -> None: ...
def of_keys(by: dict[int, str]) -> None: ...
def of_class(by: type) -> None: ...
def of_literal(by: Literal[b"x"]) -> None: ...


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (args, r"args: \*items cannot be an argument of a tool"),
        (kwargs, r"kwargs: \*\*more cannot be an argument of a tool"),
        (positional, r"positional: first \(positional only\)"),
        (of_callable, r"of_callable: parameter then: .*Callable.* has no JSON Schema"),
        (of_keys, "of_keys: parameter by: int is not a type of keys"),
        (of_class, "of_class: parameter by: type has no JSON Schema"),
        (of_literal, "of_literal: parameter by: b'x' is not a value of JSON"),
        (with_parameter("Nowhere"), "send: its annotations cannot be read: .*Nowhere"),
        (lambda a: a, "needs a name"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_tool_is_refused_by_name(function: Callable[..., Any], words: str) -> None:
    with pytest.raises(ToolError, match=words):
        spec_of(function)
