"""Every operation of the REST interface, asked with drawn queries and bodies: each answer is one that is documented.

The application answers in this process. Paths name real rows, and so do queries and bodies where a name of theirs is
known here; each request is undone. The draws are the same every time.
"""

from __future__ import annotations

import json
import re
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest
import schemathesis
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import got_request_exception, request_finished, request_started
from django.db import close_old_connections, transaction
from django.test import Client
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import APIOperation, Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.core.result import Ok
from schemathesis.generation.feedback import NO_FEEDBACK
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from labeling.models import Dataset, Example
from tests.access.addresses import Address, addresses
from tests.access.asking import arguments_of
from tests.access.populated import populate
from tests.access.world import World
from tests.labeling.rows import NO_CALL
from toolevals.registry.models import Registry
from toolevals.runs.models import Agent, Experiment, Grading, Judge, Run, Simulator
from toolevals.workspace.models import Role
from toolevals.workspace.tokens.services import token_create

# The operations are asked in parts, so that several processes share them.
PARTS = 6
DRAWS = {GenerationMode.POSITIVE: 3, GenerationMode.NEGATIVE: 2}
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
METHODS = ("get", "post", "put", "patch", "delete")
JSON = "application/json"
# Text that is JSON, and yet no document of ours: what is wrong, and what the answer says of it.
NO_DOCUMENTS = {'"\\u0000"': "NUL", '"\\ud800"': "lone surrogate", "1e400": "beyond what a number can hold"}
ARGUMENT = re.compile(r"<(?:\w+:)?(\w+)>")


@cache
def document() -> dict[str, Any]:
    """Return the document that the application gives."""
    found: dict[str, Any] = Client().get("/api/v1/openapi.json").json()
    return found


@cache
def addresses_by_path() -> dict[str, Address]:
    """Return the addresses of the REST interface by how the document writes them."""
    return {"/" + ARGUMENT.sub(r"{\1}", address.route): address for address in addresses() if address.is_api}


@pytest.fixture(scope="module")
def full(world: World) -> World:
    """A world with a row of every model."""
    populate(world)
    return world


@pytest.fixture(scope="module")
def header(full: World) -> dict[str, str]:
    """The header of an owner's token."""
    owner = full.owner
    _, secret = token_create(project=full.project, actor=owner, user=owner, name="walk", role=Role.OWNER)
    return {"Authorization": f"Bearer {secret}"}


@pytest.fixture(scope="module")
def operations(full: World) -> list[APIOperation[Any, Any, Any, Any]]:
    """Every documented operation, which draws names of real rows among others."""
    named = names(full)
    seeded = json.loads(json.dumps(document()))
    for schema in seeded["components"]["schemas"].values():
        for name, said in schema.get("properties", {}).items():
            schema["properties"][name] = with_names(said, named.get(name, []))
    for path in seeded["paths"].values():
        for operation in path.values():
            for parameter in operation.get("parameters", []):
                if parameter["in"] == "query":
                    parameter["schema"] = with_names(parameter["schema"], named.get(parameter["name"], []))
    read = list(schemathesis.openapi.from_dict(seeded).get_all_operations())
    assert all(isinstance(each, Ok) for each in read)
    return [each.ok() for each in read if isinstance(each, Ok)]


def names(world: World) -> dict[str, list[Any]]:
    """Return what a query or a body can call real rows by, by the name of the parameter or of the property."""
    runs = list(Run.objects.order_by("number").values_list("number", flat=True))
    datasets = list(Dataset.objects.order_by("pk").values_list("slug", flat=True))
    experiments = list(Experiment.objects.order_by("pk").values_list("slug", flat=True))
    tools = ["get_order", "(none)"]
    return {
        "actual": tools,
        "after": runs,
        "candidate": runs,
        "dataset": datasets,
        "example": [str(pk) for pk in Example.objects.order_by("pk").values_list("pk", flat=True)[:2]],
        "expectation": [NO_CALL],
        "expected": tools,
        "experiment": experiments,
        "failing_of": runs,
        "grading": list(Grading.objects.order_by("pk").values_list("number", flat=True)),
        "judge": [str(pk) for pk in Judge.objects.order_by("pk").values_list("pk", flat=True)],
        "q": ["walk"],
        "registry": list(Registry.objects.order_by("pk").values_list("slug", flat=True)),
        "run": runs,
        "runs": [",".join(map(str, runs))],
        "simulator": [str(pk) for pk in Simulator.objects.order_by("pk").values_list("pk", flat=True)],
        "agent": list(Agent.objects.order_by("pk").values_list("name", flat=True)),
        "tool": tools,
        "version": [1],
    }


def with_names(schema: Any, values: list[Any]) -> Any:
    """Return a schema of the same values, of which these are drawn more often."""
    return {"anyOf": [{"enum": values}, schema]} if values else schema


@contextmanager
def undone() -> Iterator[None]:
    """Let a request use the test's connection, as Django's own client does, and undo what it did."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
    for signal in signals:
        signal.connect(close_old_connections)


@contextmanager
def faults() -> Iterator[list[str]]:
    """Yield a list of what breaks in the application meanwhile."""
    found: list[str] = []

    def note(**_: Any) -> None:
        found.append(traceback.format_exc(limit=-4))

    got_request_exception.connect(note)
    yield found
    got_request_exception.disconnect(note)


def wrong_answers(
    operation: APIOperation[Any, Any, Any, Any], values: dict[str, Any], header: dict[str, str]
) -> list[str]:
    """Ask an operation as often as DRAWS says, and return what is wrong with the answers."""
    found: list[str] = []

    def ask(case: Case[Any]) -> None:
        with faults() as broken, undone():
            # As it is before it is compressed: what the client of the test does not unpack.
            response = case.call(app=WSGIHandler(), headers=header | {"Accept-Encoding": "identity"})
        try:
            case.validate_response(response, checks=CHECKS)
        except FailureGroup as failures:
            said = "; ".join(f"{failure.title}: {failure.message}" for failure in failures.exceptions)
            found.append(f"{operation.label} {case.query} {case.body!r:.300}: {said}\n{''.join(broken)}")

    for mode, draws in DRAWS.items():
        cases = operation.as_strategy(generation_mode=mode, path_parameters=values, feedback=NO_FEEDBACK)
        asking = settings(max_examples=draws, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
        try:
            asking(given(cases)(ask))()
        except Unsatisfiable:
            # There is nothing that an operation without parameters could be asked wrongly.
            assert mode is GenerationMode.NEGATIVE
    return found


def test_every_address_is_documented():
    # The document itself is the one address that it leaves out.
    assert set(addresses_by_path()) - set(document()["paths"]) == {"/api/v1/openapi.json"}


@pytest.mark.parametrize("part", range(PARTS))
def test_every_answer_is_documented(full, header, operations, part):
    wrong = []
    for operation in operations[part::PARTS]:
        with transaction.atomic():
            values = arguments_of(full, addresses_by_path()[operation.path], full.owner)
            wrong += wrong_answers(operation, {name: str(value) for name, value in values.items()}, header)
            transaction.set_rollback(True)
    assert wrong == [], "\n".join(sorted(wrong))


def bodies(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield path, method and a body that holds this text as its values, for every operation that takes JSON."""
    schemas = document()["components"]["schemas"]
    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            content = operation.get("requestBody", {}).get("content", {}).get(JSON)
            if content:
                named = schemas.get(content["schema"].get("$ref", "").rpartition("/")[2], {})
                fields = ", ".join(f'"{name}": {text}' for name in named.get("properties", {"x": {}}))
                yield path, method, f"{{{fields}}}"


@pytest.mark.parametrize(("text", "said"), NO_DOCUMENTS.items())
@pytest.mark.parametrize("key", ["", "a-key"])
def test_a_body_that_cannot_be_kept_is_refused_with_its_place(full, header, text, said, key):
    wrong = []
    client = Client(raise_request_exception=False)
    headers = header | ({"Idempotency-Key": key} if key else {})
    for path, method, body in bodies(text):
        with transaction.atomic():
            values = arguments_of(full, addresses_by_path()[path], full.owner)
            answer = client.generic(method.upper(), path.format(**values), body, content_type=JSON, headers=headers)
            transaction.set_rollback(True)
        problems = answer.json().get("problems", [])
        if answer.status_code != 400 or not all(said in each["message"] and each["pointer"] for each in problems):
            wrong.append(f"{method} {path}: {answer.status_code} {problems}")
    assert wrong == [], "\n".join(wrong)
