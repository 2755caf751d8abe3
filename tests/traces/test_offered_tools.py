"""The tools that production offered become a version of a registry, by way of its preview."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest

from tests.traces.sending import TOOL, conversation, export, send
from toolevals.registry.models import RegistryVersion
from toolevals.registry.services import registry_create
from toolevals.traces.models import Trace
from toolevals.traces.reading.services import traces_settle


@pytest.fixture
def trace(client, token, project, owner, settings) -> Trace:
    settings.TRACES_QUIET_SECONDS = 0
    registry_create(project=project, actor=owner, slug="production", name="In <production>")
    send(client, token, export(*conversation()))
    traces_settle()
    return Trace.objects.get()


def test_an_adjudicator_publishes_what_was_offered(trace, client, adjudicator):
    client.force_login(adjudicator)
    page = client.get(f"/p/shop/traces/{trace.pk}/").content.decode()
    assert "In &lt;production&gt;</button>" in page
    (path,) = re.findall(r'action="(/p/shop/registries/[^"]+)"', page)
    form = fields(page[page.index(path) :])
    assert [tool["name"] for tool in json.loads(form["text"])] == [TOOL["name"]]
    shown = client.post(path, form)
    assert shown.status_code == 200
    assert "get_order" in shown.content.decode()
    published = client.post(path, {name: form[name] for name in ("text", "format", "note")})
    assert published.status_code == 302
    version = RegistryVersion.objects.get()
    assert version.note == f"Offered in trace {trace.trace_id.hex}"
    (spec,) = client.get("/api/v1/projects/shop/registries/production/versions/1/").json()["tools"]
    assert (spec["name"], spec["description"]) == (TOOL["name"], TOOL["description"])
    assert spec["input_schema"] == TOOL["parameters"]


def fields(page: str) -> dict[str, str]:
    found: dict[str, Any] = dict(re.findall(r'name="(format|note|text)"\s+value="([^"]*)"', page))
    return {name: html.unescape(value) for name, value in found.items()} | {"preview": "1"}


def test_who_may_not_publish_sees_no_button(trace, client, viewer):
    client.force_login(viewer)
    assert "Preview as the next version" not in client.get(f"/p/shop/traces/{trace.pk}/").content.decode()
