"""Turn annotations of Python into JSON Schema 2020-12.

Schemas of classes stand where they are used; one that holds itself stands under `$defs`. Pydantic's models describe
themselves. An annotation that JSON cannot hold is refused.
"""

from __future__ import annotations

import collections.abc as containers
import dataclasses
import datetime
import decimal
import enum
import inspect
import pathlib
import types
import typing
import uuid
from collections.abc import Mapping
from typing import Any

from toolevals.sdk.errors import ToolError

Schema = dict[str, Any]
_PLAIN: Mapping[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    None: {"type": "null"},
    type(None): {"type": "null"},
    Any: {},
    object: {},
    bytes: {"type": "string", "contentEncoding": "base64"},
    datetime.datetime: {"type": "string", "format": "date-time"},
    datetime.date: {"type": "string", "format": "date"},
    datetime.time: {"type": "string", "format": "time"},
    datetime.timedelta: {"type": "string", "format": "duration"},
    uuid.UUID: {"type": "string", "format": "uuid"},
    decimal.Decimal: {"anyOf": [{"type": "number"}, {"type": "string"}]},
    pathlib.Path: {"type": "string"},
    list: {"type": "array"},
    tuple: {"type": "array"},
    set: {"type": "array", "uniqueItems": True},
    frozenset: {"type": "array", "uniqueItems": True},
    dict: {"type": "object"},
}
_LISTS = (list, containers.Sequence, containers.Iterable, containers.Collection, containers.MutableSequence)
_SETS = (set, frozenset, containers.Set, containers.MutableSet)
_OBJECTS = (dict, containers.Mapping, containers.MutableMapping)
# What Pydantic's and annotated_types' constraints are called in a schema: of numbers, and of what has a length.
_NUMBERS = {
    "ge": "minimum", "le": "maximum", "gt": "exclusiveMinimum", "lt": "exclusiveMaximum", "multiple_of": "multipleOf",
}  # fmt: skip
_LENGTHS = {"string": ("minLength", "maxLength"), "array": ("minItems", "maxItems")}
_JSON_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


class Schemas:
    """Makes the schemas of one tool; `definitions` holds those that refer to themselves, and Pydantic's."""

    def __init__(self) -> None:
        self.definitions: Schema = {}
        self._open: dict[type, str] = {}
        self._referred: set[type] = set()

    def schema(self, annotation: object) -> Schema:
        """Return the schema of an annotation. Raises ToolError where JSON cannot hold what it stands for."""
        if annotation is inspect.Parameter.empty:
            return {}
        try:
            if annotation in _PLAIN:
                return dict(_PLAIN[annotation])
        except TypeError:
            # An annotation without a hash, such as Annotated with a list.
            pass
        origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
        if origin is typing.Annotated:
            return self._annotated(arguments[0], arguments[1:])
        if origin is typing.Literal:
            return _choices(list(arguments))
        if origin in (typing.Union, types.UnionType):
            return _any_of([self.schema(each) for each in arguments])
        if origin in (typing.Required, typing.NotRequired, typing.Final, typing.ClassVar):
            return self.schema(arguments[0])
        if origin is not None:
            return self._generic(annotation, origin, arguments)
        return self._named(annotation)

    def _generic(self, annotation: object, origin: object, arguments: tuple[object, ...]) -> Schema:
        if hasattr(origin, "model_json_schema"):
            return self._pydantic(annotation)
        if origin is tuple:
            if arguments[-1:] == (...,):
                return _items({"type": "array"}, self.schema(arguments[0]))
            made = {"type": "array", "minItems": len(arguments), "maxItems": len(arguments)}
            return made | ({"prefixItems": [self.schema(each) for each in arguments]} if arguments else {})
        if origin in _LISTS:
            return _items({"type": "array"}, self.schema(arguments[0]))
        if origin in _SETS:
            return _items({"type": "array", "uniqueItems": True}, self.schema(arguments[0]))
        if origin in _OBJECTS:
            return self._object(arguments)
        raise ToolError(f"{_shown(annotation)} has no JSON Schema: use list, dict, tuple, set, or a class with fields")

    def _object(self, arguments: tuple[object, ...]) -> Schema:
        keys, values = self.schema(arguments[0]), self.schema(arguments[1])
        if arguments[0] is not str and keys and not (keys.get("type") == "string"):
            raise ToolError(f"{_shown(arguments[0])} is not a type of keys: an object of JSON has text as keys")
        made: Schema = {"type": "object"}
        if len(keys) > 1:
            made["propertyNames"] = keys
        return made | ({"additionalProperties": values} if values else {})

    def _named(self, annotation: Any) -> Schema:
        if isinstance(annotation, typing.NewType):
            return self.schema(annotation.__supertype__)
        if isinstance(annotation, typing.TypeVar):
            bound = annotation.__bound__
            of = annotation.__constraints__
            return _any_of([self.schema(each) for each in of]) if of else self.schema(Any if bound is None else bound)
        # `type X = ...` of Python 3.12.
        if type(annotation).__name__ == "TypeAliasType":
            return self.schema(annotation.__value__)
        if isinstance(annotation, type):
            if hasattr(annotation, "model_json_schema"):
                return self._pydantic(annotation)
            if issubclass(annotation, enum.Enum):
                return _choices([each.value for each in annotation])
            if typing.is_typeddict(annotation) or dataclasses.is_dataclass(annotation):
                return self._class(annotation)
        raise ToolError(f"{_shown(annotation)} has no JSON Schema: use plain types, or a class with annotated fields")

    def _class(self, kind: type) -> Schema:
        if kind in self._open:
            self._referred.add(kind)
            return {"$ref": f"#/$defs/{self._open[kind]}"}
        self._open[kind] = _free_name(kind.__name__, {*self.definitions, *self._open.values()})
        try:
            made = self._typed_dict(kind) if typing.is_typeddict(kind) else self._dataclass(kind)
        finally:
            name = self._open.pop(kind)
        if kind not in self._referred:
            return made
        self._referred.discard(kind)
        self.definitions[name] = made
        return {"$ref": f"#/$defs/{name}"}

    def _typed_dict(self, kind: Any) -> Schema:
        hints = hints_of(kind)
        # Where annotations are text, the class itself takes all of its keys for required.
        marks = {name: typing.get_origin(each) for name, each in hints.items()}
        required = [
            name
            for name, mark in marks.items()
            if mark is typing.Required or (mark is not typing.NotRequired and name in kind.__required_keys__)
        ]
        return self._fields(kind, {name: self.schema(each) for name, each in hints.items()}, required)

    def _dataclass(self, kind: Any) -> Schema:
        hints, fields = hints_of(kind), [each for each in dataclasses.fields(kind) if each.init]
        made: Schema = {}
        for each in fields:
            made[each.name] = self.schema(hints[each.name])
            if each.default is not dataclasses.MISSING:
                made[each.name] |= default_of(each.default)
            if isinstance(words := each.metadata.get("description"), str):
                made[each.name]["description"] = words
        missing = dataclasses.MISSING
        required = [each.name for each in fields if each.default is missing and each.default_factory is missing]
        return self._fields(kind, made, required)

    def _fields(self, kind: type, properties: Schema, required: list[str]) -> Schema:
        words = inspect.cleandoc(kind.__doc__ or "")
        made: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
        # A dataclass without a docstring gets its own signature as one.
        if words and not words.startswith(f"{kind.__name__}(") and words != inspect.getdoc(dict):
            made["description"] = words
        return made | ({"required": required} if required else {})

    def _pydantic(self, model: Any) -> Schema:
        made: Schema = model.model_json_schema(ref_template="#/$defs/{model}")
        for name, inner in made.pop("$defs", {}).items():
            if self.definitions.setdefault(name, inner) != inner:
                raise ToolError(f"two models are called {name}: give one of them another name")
        return made

    def _annotated(self, annotation: object, notes: tuple[object, ...]) -> Schema:
        made = self.schema(annotation)
        for note in notes:
            if isinstance(note, str):
                made["description"] = note
            elif isinstance(words := getattr(note, "description", None), str) or hasattr(note, "metadata"):
                # Pydantic's Field.
                made |= {"description": words} if words else {}
                for each in getattr(note, "metadata", None) or ():
                    _constrain(made, each)
            else:
                _constrain(made, note)
        return made


def hints_of(holder: object) -> dict[str, Any]:
    """Return the annotations of a function or class, also those written as text. Raises ToolError."""
    try:
        return typing.get_type_hints(holder, include_extras=True)
    except (NameError, AttributeError, SyntaxError, TypeError) as error:
        raise ToolError(f"its annotations cannot be read: {error}. Import what they name at run time") from None


def default_of(value: object) -> Schema:
    """Return a default as a schema says it; nothing where JSON cannot hold it."""
    plain = value.value if isinstance(value, enum.Enum) else value
    return {"default": plain} if _is_json(plain) else {}


def _is_json(value: object) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_json(each) for key, each in value.items())
    if isinstance(value, list):
        return all(map(_is_json, value))
    if isinstance(value, float):
        return value - value == 0
    return value is None or type(value) in (str, int, bool)


def _items(made: Schema, inner: Schema) -> Schema:
    return made | ({"items": inner} if inner else {})


def _choices(values: list[Any]) -> Schema:
    plain = [each.value if isinstance(each, enum.Enum) else each for each in values]
    kinds = [_JSON_TYPES.get(type(each)) for each in plain]
    if None in kinds:
        odd = plain[kinds.index(None)]
        raise ToolError(f"{odd!r} is not a value of JSON: a choice is text, a number, true, false or None")
    types_named = list(dict.fromkeys(kind for kind in kinds if kind))
    return {"type": types_named[0] if len(types_named) == 1 else types_named, "enum": plain}


def _any_of(schemas: list[Schema]) -> Schema:
    if {} in schemas:
        return {}
    flat = [each for schema in schemas for each in (schema["anyOf"] if set(schema) == {"anyOf"} else [schema])]
    distinct = [each for place, each in enumerate(flat) if each not in flat[:place]]
    return distinct[0] if len(distinct) == 1 else {"anyOf": distinct}


def _constrain(schema: Schema, note: object) -> None:
    holder = schema
    if "anyOf" in schema:
        # Of a value that may be null, the constraint is of the value.
        others = [each for each in schema["anyOf"] if each.get("type") != "null"]
        holder = others[0] if len(others) == 1 else schema
    least, most = _LENGTHS.get(str(holder.get("type")), ("minProperties", "maxProperties"))
    names: dict[str, str] = {**_NUMBERS, "min_length": least, "max_length": most, "pattern": "pattern"}
    for name, keyword in names.items():
        value = getattr(note, name, None)
        if isinstance(value, str if name == "pattern" else int | float) and not isinstance(value, bool):
            holder[keyword] = value


def _free_name(name: str, taken: set[str]) -> str:
    free, number = name, 2
    while free in taken:
        free, number = f"{name}{number}", number + 1
    return free


def _shown(annotation: object) -> str:
    return annotation.__qualname__ if isinstance(annotation, type) else str(annotation)
