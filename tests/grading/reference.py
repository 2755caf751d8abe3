"""The reference validator of JSON Schema, which says what the fast one has to say."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import jsonschema

from toolevals.grading.json_schema.conformance import FALSE
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.problems import pointer_to
from toolevals.grading.values.verdicts import SchemaProblem


def reference_problems(tool: ToolSpec, arguments: Any) -> list[SchemaProblem]:
    """Return what `call_problems` returns, found by the reference validator: slow, and matching patterns by `re`.

    A hostile pattern can hold `re` for ever.
    """
    kind = _with_places(_reference_of(tool.input_schema))
    found = (
        SchemaProblem(pointer_to(error.absolute_path), error.validator or FALSE, error.message[:300])
        for error in kind(tool.input_schema).iter_errors(arguments)
    )
    return sorted(found, key=lambda problem: (problem.pointer, problem.keyword, problem.message))


def _items_by_place(validator: Any, items: Any, instance: Any, schema: Any) -> Iterator[jsonschema.ValidationError]:
    if items is not False:
        yield from jsonschema.Draft202012Validator.VALIDATORS["items"](validator, items, instance, schema)
    elif validator.is_type(instance, "array"):
        for place in range(len(schema.get("prefixItems", [])), len(instance)):
            yield from validator.descend(instance[place], items, path=place)


@cache
def _with_places(kind: Any) -> Any:
    """Return a reference validator that says where a schema that is `false` stands.

    The library leaves out the last step of the path to the value, and counts the items that `"items": false` refuses in
    one error; each has its own here, as in other drafts.
    """
    changed = {"items": _items_by_place} if kind is jsonschema.Draft202012Validator else {}
    placed = jsonschema.validators.extend(kind, changed)  # type: ignore[no-untyped-call]  # its stubs have no types
    descend = kind.descend

    def descend_with_place(
        self: Any, instance: Any, schema: Any, path: Any = None, **more: Any
    ) -> Iterator[jsonschema.ValidationError]:
        for error in descend(self, instance, schema, path=path, **more):
            if schema is False and path is not None:
                error.path.appendleft(path)
            yield error

    placed.descend = descend_with_place
    return placed


def _reference_of(schema: dict[str, Any]) -> Any:
    if not isinstance(schema.get("$schema"), str):
        return jsonschema.Draft202012Validator
    return jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)
