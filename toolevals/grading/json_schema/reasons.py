"""Say why a value breaks a schema: the nearest rule, where it stands, and what the value lacks in each alternative.

The reference validator (`jsonschema`) has the words. It only runs on what the deciding validator has refused, and only
where it can read that in a short time: patterns by RE2, no schema from elsewhere. The server has it, so it is imported
when it is first asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from toolevals.grading.json_schema.conformance import CHECKED, Validator, draft_of, schema_words, validator_of
from toolevals.grading.json_schema.subschemas import subschemas
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.problems import InvalidDocument, pointer_to
from toolevals.grading.values.value_classes import value_class
from toolevals.grading.values.verdicts import SchemaProblem
from toolevals.json_types import JsonObject, JsonValue

if TYPE_CHECKING:
    from jsonschema import ValidationError

# Of alternatives that are listed, and of a message.
_MOST_ALTERNATIVES = 8
_MESSAGE_LENGTH = 300
_CHOICES = ("anyOf", "oneOf")
_LONGEST_FORMATTED = 1_000
# They are read by a grammar, and patterns by an engine that is not the one that decides.
_SLOW_FORMATS = frozenset({"iri", "iri-reference", "regex"})


@value_class
class SchemaReason:
    """The reason why a value breaks a schema: `pointer` leads into the value, `rule` to the keyword in the schema.

    `alternatives` say of each schema of an `anyOf` or `oneOf` around it what is wrong there; `within` leads to
    what has to fit one of them, and their pointers begin there.
    """

    pointer: str
    rule: str
    message: str
    within: str = ""
    alternatives: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """Return the reason in one line."""
        where = f"{self.pointer}: " if self.pointer else ""
        if not self.alternatives:
            return f"{where}{self.message}"
        return f"fits none of {len(self.alternatives)} alternatives: {'; '.join(self.alternatives)}"

    def to_document(self) -> JsonObject:
        """Return the form for files and REST."""
        return {
            "pointer": self.pointer, "rule": self.rule, "message": self.message, "alternatives": [*self.alternatives],
        }  # fmt: skip


def call_reason(tool: ToolSpec, arguments: object) -> SchemaReason | None:
    """Return why arguments break a tool's schema; None where they do not, or where no reason is found quickly."""
    try:
        return reason_of(validator_of(tool), arguments)
    except InvalidDocument:
        return None


def reasoned_words(validator: Validator, value: object) -> list[SchemaProblem]:
    """Return what `schema_words` does, and where a value fits no alternative, what it lacks in each."""
    found = schema_words(validator, value)
    if not any(problem.keyword in _CHOICES for problem in found) or (reason := reason_of(validator, value)) is None:
        return found
    return [
        replace(problem, message=reason.sentence)
        if problem.keyword in _CHOICES and problem.pointer == reason.within and reason.alternatives
        else problem
        for problem in found
    ]


def reason_of(validator: Validator, value: object) -> SchemaReason | None:
    """Return why a value is refused; None where it is not, or where no reason is found in a short time."""
    from jsonschema.exceptions import best_match
    from referencing.exceptions import Unresolvable

    # By patterns of names the reference decides with an engine that can take for ever.
    if validator.is_valid(value) or not validator.is_quick_to_explain(value) or _names_patterns(validator):
        return None
    try:
        nearest = best_match(_reference(validator).iter_errors(value))
    except (Unresolvable, RecursionError):
        return None
    return None if nearest is None else _reason(nearest)


def _names_patterns(validator: Validator) -> bool:
    return any("patternProperties" in schema for _, schema in subschemas(validator.schema))


def _reference(validator: Validator) -> Any:
    from referencing import Registry

    schema: JsonValue = validator.schema
    draft = draft_of(schema)
    checker = _format_checker(draft) if validator.assert_formats else None
    whole = _reference_class(draft)(schema, registry=Registry(), format_checker=checker)
    for step in validator.path:
        schema = schema[step]
    return whole.evolve(schema=schema)


@cache
def _reference_class(draft: str) -> Any:
    from jsonschema import validators

    known = validators.validator_for({"$schema": draft}, validators.Draft202012Validator)
    return validators.extend(known, {"pattern": _pattern})  # type: ignore[no-untyped-call]  # its stubs have no types


@cache
def _format_checker(draft: str) -> Any:
    """Return what says in words why a text is not in its format; of long texts, and of what may take long, nothing."""
    from jsonschema import FormatChecker

    class Short(FormatChecker):
        def check(self, instance: object, format: str) -> None:  # noqa: A002
            if not isinstance(instance, str) or len(instance) <= _LONGEST_FORMATTED:
                super().check(instance, format)

    checker = Short(())
    known = _reference_class(draft).FORMAT_CHECKER.checkers
    checker.checkers = {name: known[name] for name in CHECKED[draft] & known.keys() - _SLOW_FORMATS}
    return checker


def _pattern(_validator: object, pattern: str, value: object, _schema: object) -> Iterator[ValidationError]:
    from jsonschema import ValidationError

    compiled = _compiled(pattern) if isinstance(value, str) else None
    if compiled is not None and not compiled.search(value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error:
        return None


def _reason(nearest: ValidationError) -> SchemaReason:
    choice: Any = None
    above: Any = nearest
    while above is not None:
        choice = above if above.validator in _CHOICES and above.context else choice
        above = above.parent
    return SchemaReason(
        pointer_to(nearest.absolute_path),
        pointer_to(nearest.absolute_schema_path),
        _words(nearest),
        *(() if choice is None else (pointer_to(choice.absolute_path), tuple(_alternatives(choice)))),
    )


def _alternatives(choice: ValidationError) -> Iterator[str]:
    from jsonschema.exceptions import best_match

    branches: dict[Any, list[ValidationError]] = {}
    for error in choice.context or ():
        branches.setdefault(error.schema_path[0], []).append(error)
    for errors in [*branches.values()][:_MOST_ALTERNATIVES]:
        error = best_match(iter(errors))
        if error is not None:
            where = pointer_to([*error.absolute_path][len(choice.absolute_path) :])
            yield f"{where}: {_words(error)}" if where else _words(error)
    if len(branches) > _MOST_ALTERNATIVES:
        yield f"and {len(branches) - _MOST_ALTERNATIVES} more"


def _words(error: ValidationError) -> str:
    because = f": {error.cause}" if error.validator == "format" and error.cause is not None else ""
    return f"{error.message[:_MESSAGE_LENGTH]}{because[:_MESSAGE_LENGTH]}"
