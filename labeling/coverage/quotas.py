"""Tell how many examples of what a dataset should hold, and what it lacks.

A dataset's quotas are a document; what it does not say is as in `DEFAULTS`. Counts are of examples with gold in force.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from math import ceil
from typing import Any, Final

import jsonschema_rs
from django.db import transaction
from django.db.models import Count

from labeling.models import Dataset, Example, Resolution
from toolevals.grading.edge_cases import EdgeCase
from toolevals.grading.values.problems import InvalidDocument, Problem, pointer_to
from toolevals.json_types import JsonMapping, JsonObject
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.models import User

BUCKETS = ("selection", "no_call", "arguments", "result_use", "error_recovery")
DIFFICULTIES = ("easy", "medium", "hard")
ERRORS = ("400", "401", "403", "404", "408", "429", "5xx", "empty", "partial")
EDGE_CASES = tuple(kind.value for kind in EdgeCase)
# The strata that are counted, each with its classes.
CLASSES: Mapping[str, tuple[str, ...]] = {
    "bucket": BUCKETS,
    "difficulty": DIFFICULTIES,
    "edge_case": EDGE_CASES,
    "error_class": ERRORS,
}

_SPELLINGS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "bucket": {
        "selection": ("selection_correct", "tool_selection"),
        "no_call": ("selection_irrelevant", "irrelevance", "irrelevant", "none"),
        "arguments": ("argument", "argument_edge", "edge_case", "argument_extraction"),
        "result_use": ("result_utilization", "result_utilisation", "results"),
        "error_recovery": ("recovery", "error"),
    },
    "difficulty": {"easy": ("simple",), "medium": ("moderate",), "hard": ("difficult",)},
    "edge_case": {
        "null_optional": ("null", "null_on_optional"),
        "empty_array": ("empty_list",),
        "unicode_identifier": ("unicode", "special_characters"),
        "time_zone": ("timezone",),
        "currency": ("money",),
        "type_coercion": ("coercion",),
    },
    "error_class": {
        "408": ("timeout", "timed_out"),
        "429": ("rate_limit", "rate_limited", "too_many_requests"),
        "400": ("bad_request",),
        "401": ("unauthorized",),
        "403": ("forbidden",),
        "404": ("not_found",),
        "5xx": ("500", "501", "502", "503", "504", "server_error"),
        "empty": ("empty_result",),
        "partial": ("partial_result",),
    },
}
_CLASS_OF: Mapping[str, Mapping[str, str]] = {
    stratum: {
        spelling: name for name, others in spellings.items() for spelling in (name, *others)
    }
    for stratum, spellings in _SPELLINGS.items()
}  # fmt: skip


# What a tool needs beside its number of examples: a call of it, no call though it is offered, a reaction to its error.
NEEDS: Final = ("positive", "negative", "error_recovery")
DEFAULTS: Final[JsonMapping] = {
    "per_tool": 30,
    "needs": dict.fromkeys(NEEDS, 1),
    "bucket": {"selection": 0.40, "no_call": 0.10, "arguments": 0.20, "result_use": 0.15, "error_recovery": 0.15},
    "difficulty": {"easy": 0.4, "medium": 0.4, "hard": 0.2},
    "error_class": dict.fromkeys(ERRORS, 1),
    "edge_case": dict.fromkeys(EDGE_CASES, 1),
    "tools": {},
    "size": None,
}
MOST: Final = 1_000_000
MOST_TOOLS: Final = 5_000
_NUMBER: Final = {"type": "integer", "minimum": 0, "maximum": MOST}
_SHARE: Final = {"type": "number", "minimum": 0, "maximum": 1}


def class_of(stratum: str, value: str) -> str:
    """Return the class that a stratum's value is counted in, "time_zone" for "time zone"; else the value itself."""
    spelled = value.strip().lower().replace(" ", "_").replace("-", "_")
    return _CLASS_OF.get(stratum, {}).get(spelled, value)


def spellings_of(stratum: str, name: str) -> tuple[str, ...]:
    """Return how a class may be written in a stratum, in lower case: what a filter by that class looks for."""
    known = (name, *_SPELLINGS.get(stratum, {}).get(name, ()))
    return tuple(
        dict.fromkeys(form for each in known for form in (each, each.replace("_", " "), each.replace("_", "-")))
    )


def _object(names: tuple[str, ...], each: JsonMapping) -> JsonObject:
    return {"type": "object", "additionalProperties": False, "properties": dict.fromkeys(names, each)}


SCHEMA: Final[JsonMapping] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "urn:toolevals:quotas:v1",
    "title": "Quotas",
    "description": "How many examples of what a dataset should hold. What is left out is as by default.",
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "per_tool": _NUMBER | {"description": "Examples that expect each tool."},
        "needs": _object(NEEDS, _NUMBER) | {"description": "Of these kinds, for each tool."},
        "bucket": _object(BUCKETS, _SHARE) | {"description": "Shares of all examples by layer."},
        "difficulty": _object(DIFFICULTIES, _SHARE) | {"description": "Shares of all examples by difficulty."},
        "error_class": _object(ERRORS, _NUMBER) | {"description": "For each tool, examples of each error."},
        "edge_case": _object(EDGE_CASES, _NUMBER) | {"description": "For each tool that admits the edge case."},
        "tools": {
            "description": "Exceptions per tool; 0 means no examples needed.",
            "type": "object",
            "maxProperties": MOST_TOOLS,
            "propertyNames": {"minLength": 1, "maxLength": 200},
            "additionalProperties": _NUMBER,
        },
        "size": {
            "description": "The number of examples that the percentages apply to; null: the current size.",
            "type": ["integer", "null"],
            "minimum": 1,
            "maximum": 100 * MOST,
        },
    },
}


def quotas_check(document: Any) -> None:
    """Raise InvalidDocument, with pointers, for what are no quotas: the schema's faults, shares of more than 1."""
    problems = [Problem(pointer_to(error.instance_path), error.message) for error in _validator().iter_errors(document)]
    if not problems:
        full = quotas_document(document)
        problems = [
            Problem(f"/{name}", f"the shares make {total:.0%}, more than the whole")
            for name in ("bucket", "difficulty")
            if (total := sum(full[name].values())) > 1 + 1e-9
        ]
    if problems:
        raise InvalidDocument(problems)


def quotas_document(document: Any) -> JsonObject:
    """Return valid quotas with what they leave out: a group keeps the defaults of the names that it does not name."""
    said = document if isinstance(document, dict) else {}
    return {
        name: {**usual, **said.get(name, {})} if isinstance(usual, dict) else said.get(name, usual)
        for name, usual in DEFAULTS.items()
    }


def quotas_of(dataset: Dataset) -> JsonObject:
    """Return a dataset's quotas, nothing left out."""
    return quotas_document(dataset.quotas)


def wanted_shares(quotas: JsonMapping, size: int) -> Iterator[tuple[str, str, int]]:
    """Yield stratum, class and how many examples are wanted of it, of those that are shares of the whole."""
    whole = quotas["size"] or size
    for stratum in ("bucket", "difficulty"):
        for name, share in quotas[stratum].items():
            yield stratum, name, ceil(share * whole - 1e-9)


def strata_of(example: Example) -> list[tuple[str, str]]:
    """Return an example's strata as they are counted: (stratum, class)."""
    return [(stratum, class_of(stratum, value)) for stratum, value in example.strata.items()]


def deficits(dataset: Dataset) -> dict[tuple[str, str], int]:
    """Return how many examples with gold each (stratum, class) lacks; what lacks none is left out.

    Compare with `strata_of`. What is wanted of each tool (errors, edge cases) counts as often as there are default
    tools, at least once: which tool an example is about is known only when it has gold.
    """
    quotas = quotas_of(dataset)
    examples = Example.objects.of_dataset(dataset).order_by()
    size = examples.count() if quotas["size"] is None else 0
    tools = max(1, dataset.default_tools.tools.size if dataset.default_tools else 1)
    wanted = {(stratum, name): number for stratum, name, number in wanted_shares(quotas, size)}
    for stratum in ("error_class", "edge_case"):
        wanted |= {(stratum, name): number * tools for name, number in quotas[stratum].items()}
    for stratum in ("bucket", "difficulty", "error_class", "edge_case"):
        rows = examples.filter(current__resolution=Resolution.RESOLVED).exclude(**{stratum: ""})
        for value, count in rows.values_list(stratum).annotate(n=Count("pk")):
            if (pair := (stratum, class_of(stratum, value))) in wanted:
                wanted[pair] -= count
    return {pair: lacking for pair, lacking in wanted.items() if lacking > 0}


@cache
def _validator() -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(dict(SCHEMA))


@transaction.atomic
def quotas_set(*, dataset: Dataset, actor: User | None, document: Any) -> Dataset:
    """Change a dataset's quotas (`coverage.quotas.SCHEMA`); what is as by default is not kept. Raises InvalidDocument.

    The queue's order follows at the sweeper's next turn.
    """
    quotas_check(document)
    dataset.quotas = _without_defaults(quotas_document(document))
    dataset.save(update_fields=["quotas"])
    audit_record(project=dataset.project, actor=actor, verb="quotas_set", target=dataset)
    return dataset


def _without_defaults(full: JsonObject) -> JsonObject:
    said: JsonObject = {}
    for name, value in full.items():
        usual = DEFAULTS[name]
        if isinstance(usual, dict):
            value = {key: number for key, number in value.items() if usual.get(key) != number}  # noqa: PLW2901
        if value not in (usual, {}):
            said[name] = value
    return said
