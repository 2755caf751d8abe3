"""No operation of the REST interface leaves unread in silence what it does not know."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from tests.access.addresses import Address, addresses
from tests.access.asking import at
from toolevals.workspace.access import Audience, rules
from toolevals.workspace.api.document import document

ARGUMENT = re.compile(r"<(?:\w+:)?(\w+)>")
UNKNOWN = "unheard_of"
JSON = "application/json"
# The parameters are those of the page whose table it is.
ANY_PARAMETER = ("reports-api:table",)


def operations(address: Address) -> dict[str, Any]:
    """Return what the document says of an address, by method."""
    found: dict[str, Any] = document()["paths"].get("/" + ARGUMENT.sub(r"{\1}", address.route), {})
    return found


def bodies(address: Address, operation: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return bodies with a field that no operation knows, by the media types of its fields."""
    content = operation.get("requestBody", {}).get("content", {JSON: {}})
    found: list[tuple[str, Any]] = [(JSON, {UNKNOWN: 1})] if JSON in content else []
    if "multipart/form-data" in content:
        file = SimpleUploadedFile("rows.jsonl", b"{}\n")
        found.append((MULTIPART_CONTENT, encode_multipart(BOUNDARY, {UNKNOWN: file})))
    return found


API = [address for address in addresses() if address.is_api and operations(address)]


def names_it(response: Any) -> bool:
    """Return whether an answer refuses what is unknown, and names it."""
    if response.status_code != 422:
        return False
    problems = response.json().get("problems", [])
    return any(UNKNOWN in each["pointer"] or repr(UNKNOWN) in each["message"] for each in problems)


@pytest.mark.parametrize("address", API, ids=lambda address: address.name)
def test_an_unknown_parameter_and_an_unknown_field_are_refused_by_name(world, address, settings):
    passed = []
    shown = {}
    if rules()[address.name].read is Audience.OPERATOR:
        settings.METRICS_TOKEN = "operators-own"
        shown = {"Authorization": "Bearer operators-own"}
    for method, operation in operations(address).items():
        with at(world, address, world.owner) as (client, url):
            response = client.generic(method.upper(), f"{url}?{UNKNOWN}=1", headers=shown)
            if not names_it(response) and address.name not in ANY_PARAMETER:
                passed.append(f"{method} with a parameter: {response.status_code}")
        if method == "get":
            continue
        for media_type, body in bodies(address, operation):
            with at(world, address, world.owner) as (client, url):
                said = body if isinstance(body, bytes) else json.dumps(body)
                response = client.generic(method.upper(), url, said, media_type)
            if not names_it(response):
                passed.append(f"{method} with {media_type}: {response.status_code} {response.content[:200]!r}")
    assert passed == []
