"""Pages of registries: the list, publishing, a version, what changed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from tests.labeling_pages.conftest import body
from tests.labeling_pages.shop import TOOLS
from toolevals.grading.reading import specs
from toolevals.registry.forms import FORMATS
from toolevals.registry.models import Registry
from toolevals.registry.services import registry_create, registry_publish
from toolevals.workspace.models import Project, User

AsUser = Callable[[User], Client]
EVIL = "<script>alert(1)</script>\"'>"


def url(name: str, *arguments: object) -> str:
    return reverse(f"registry:{name}", args=["shop", *arguments])


@pytest.fixture
def client(adjudicator: User, as_user: AsUser) -> Client:
    return as_user(adjudicator)


def test_the_list(registry: Registry, viewer: User, as_user: AsUser):
    page = body(as_user(viewer).get(url("registries")))
    assert "Shop tools" in page
    assert "Add a registry" not in page


def test_a_registry_is_added(project: Project, client: Client):
    entered = {"name": "More tools", "slug": "more"}
    assert client.post(url("registries"), entered)["Location"] == url("registry", "more")
    assert "There is a registry of this short name." in body(client.post(url("registries"), entered))
    assert Registry.objects.count() == 1


def test_roles(registry: Registry, reviewer: User, outsider: User, as_user: AsUser):
    assert as_user(reviewer).post(url("registries"), {"name": "x", "slug": "x"}).status_code == 403
    assert as_user(reviewer).post(url("registry", "tools"), {}).status_code == 403
    for name, arguments in (("registries", []), ("version", ["tools", 1]), ("changes", ["tools", 2, 1])):
        assert as_user(outsider).get(url(name, *arguments)).status_code == 404
        assert as_user(reviewer).get(url(name, *arguments)).status_code == 200


@pytest.mark.parametrize("way", ["text", "file"])
def test_tools_are_published(registry: Registry, client: Client, way: str):
    content = json.dumps([*TOOLS, {"name": "new_tool", "description": "", "input_schema": {"type": "object"}}])
    entered = {"format": "auto", "note": "one more", "text": content}
    if way == "file":
        entered |= {"text": "", "file": SimpleUploadedFile("tools.json", content.encode())}  # type: ignore[dict-item]
    assert client.post(url("registry", "tools"), entered)["Location"] == url("version", "tools", 3)
    assert registry.versions.get(number=3).note == "one more"


def test_the_form_offers_every_format():
    assert {name for name, _ in FORMATS} == {"auto", *specs.FORMATS}


@pytest.mark.parametrize("format_name", ["auto", "openapi"])
def test_an_openapi_document_is_published(registry: Registry, client: Client, format_name: str):
    content = {"openapi": "3.0.3", "paths": {"/orders": {"get": {"operationId": "list_orders", "callbacks": {}}}}}
    response = client.post(url("registry", "tools"), {"format": format_name, "text": json.dumps(content)})
    assert response["Location"] == url("version", "tools", 3)
    assert "1 not carried over" in body(client.get(url("registry", "tools")))
    assert "list_orders" in body(client.get(url("version", "tools", 3)))


def test_equal_content_is_no_new_version(registry: Registry, client: Client):
    registry_publish(registry=registry, actor=None, document=TOOLS)
    response = client.post(url("registry", "tools"), {"format": "auto", "text": json.dumps(TOOLS)})
    assert response["Location"] == url("version", "tools", 3)
    assert registry.versions.count() == 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not JSON"),
        ('[{"name": "a"}, {"name": 7}]', "/1"),
        (f'[{{"name": {json.dumps(EVIL)}, "input_schema": 3}}]', "/0"),
        ("", "Choose a file, or paste the tools."),
    ],
)
def test_tools_that_cannot_be_read_are_refused_by_pointer(registry: Registry, client: Client, text: str, said: str):
    response = client.post(url("registry", "tools"), {"format": "native", "text": text})
    assert response.status_code == 422
    assert said in body(response)
    assert "<script>alert" not in body(response)
    assert registry.versions.count() == 2


def test_a_versions_tools_are_readable(registry: Registry, viewer: User, as_user: AsUser):
    page = body(as_user(viewer).get(url("version", "tools", 1)))
    assert "pickup.window" in page
    assert "list of string" in page
    assert "≥ 1, default 1" in page
    assert "destructive" in page
    assert as_user(viewer).get(url("version", "tools", 9)).status_code == 404


def test_what_changed(registry: Registry, viewer: User, as_user: AsUser):
    page = body(as_user(viewer).get(url("changes", "tools", 2, 1)))
    assert "<ins> whose</ins>" in page.replace("<ins>whose</ins>", "<ins> whose</ins>")
    assert "<del>" in page
    assert "In the customer’s words" in page
    assert "express" in page
    assert "idempotent: yes, before: not set" in page
    assert ">added</span>" in page
    back = body(as_user(viewer).get(url("changes", "tools", 1, 2)))
    assert ">removed</span>" in back


def test_equal_versions_say_so(registry: Registry, viewer: User, as_user: AsUser):
    assert "Both versions hold the same tools." in body(as_user(viewer).get(url("changes", "tools", 1, 1)))


def test_hostile_names_are_text(project: Project, client: Client):
    made = registry_create(project=project, actor=None, slug="evil", name=EVIL)
    schema = {"type": "object", "properties": {EVIL: {"enum": [EVIL], "description": EVIL, "default": EVIL}}}
    for words in (EVIL, f"other {EVIL}"):
        document = [{"name": "evil", "description": words, "input_schema": schema}]
        registry_publish(registry=made, actor=None, document=document, note=EVIL)
    for address in (
        url("registries"),
        url("registry", "evil"),
        url("version", "evil", 2),
        url("changes", "evil", 2, 1),
    ):
        page = body(client.get(address))
        assert "alert(1)" in page
        assert "<script>alert" not in page


@pytest.mark.parametrize(("name", "arguments"), [("registries", []), ("registry", ["tools"])])
def test_lists_take_as_many_queries_for_many(
    registry: Registry, project: Project, viewer: User, as_user: AsUser, name: str, arguments: list[str]
):
    client = as_user(viewer)

    def queries() -> int:
        client.get(url(name, *arguments))
        with CaptureQueriesContext(connection) as found:
            client.get(url(name, *arguments))
        return len(found)

    few = queries()
    for number in range(5):
        registry_publish(registry=registry, actor=None, document=[{**TOOLS[0], "name": f"t{number}"}])
        more = registry_create(project=project, actor=None, slug=f"r{number}", name="R")
        registry_publish(registry=more, actor=None, document=TOOLS)
    assert queries() == few <= 10


def document_of(count: int) -> dict[str, object]:
    paths = {f"/t{n}": {"get": {"operationId": f"t{n}", "tags": [EVIL], "deprecated": True}} for n in range(count)}
    return {"openapi": "3.1.0", "paths": paths}


def test_what_is_read_is_shown_first_and_a_choice_of_it_published(registry: Registry, client: Client):
    entered = {"format": "auto", "text": json.dumps(document_of(1_100))}
    address = url("registry", "tools")
    page = body(client.post(address, entered | {"preview": "1"}, headers={"HX-Request": "true"}))
    assert "Read as <b>openapi</b>: openapi is &#x27;3.1.0&#x27;. 1100 tools, 1100 parts not carried over." in page
    assert "The document holds 1,100 tools." in page
    assert (page.count('name="tool"'), page.count(" checked>")) == (1_100, 0)
    assert "<script>alert" not in page
    assert registry.versions.count() == 2
    chosen = entered | {"previewed": re.findall(r'name="previewed" value="(\w+)"', page)[0]}
    assert "no tool is chosen" in body(client.post(address, chosen))
    changed = chosen | {"text": json.dumps(document_of(3)), "tool": ["t1"]}
    assert "has changed since the preview" in body(client.post(address, changed))
    assert registry.versions.count() == 2
    names = [f"t{n}" for n in range(1_050)]
    assert client.post(address, chosen | {"tool": names})["Location"] == url("version", "tools", 3)
    assert registry.versions.get(number=3).tools.size == 1_050


def test_losses_are_a_file_before_they_are_published(registry: Registry, client: Client):
    response = client.post(url("losses-csv", "tools"), {"format": "auto", "text": json.dumps(document_of(2))})
    lines = b"".join(response).decode().splitlines()
    assert lines[0].endswith("part,message,count,first")
    assert lines[1].startswith("deprecated,is not carried over,2,/paths/~1t0")
    refused = client.post(url("losses-csv", "tools"), {"format": "auto", "text": "[]x"})
    assert refused.status_code == 422


def test_formats_are_asserted_by_the_form_and_shown(registry: Registry, client: Client):
    properties = {"day": {"format": "date"}, "call": {"format": "phone"}}
    text = json.dumps([{"name": "book", "input_schema": {"type": "object", "properties": properties}}])
    for said, asserted in (("annotations", False), ("asserted", True), ("", True)):
        client.post(url("registry", "tools"), {"text": text, "format": "auto", "formats": said})
        page = body(client.get(url("version", "tools", registry.versions.latest("number").number)))
        assert ("formats asserted" in page) is asserted
        assert ("Nothing checks the format phone of book." in page) is asserted
    assert registry.versions.count() == 4
    assert "formats asserted: yes, before: no" in body(client.get(url("changes", "tools", 4, 3)))


def test_a_tool_says_whose_strict_mode_takes_it_and_what_stands_in_the_way(
    registry: Registry, viewer: User, client: Client, as_user: AsUser
):
    closed = {"type": "object", "properties": {}, "additionalProperties": False}
    loose = {"type": "object", "properties": {EVIL: {"type": "string", "minLength": 3}}, "required": []}
    free = {"type": "object", "properties": {"a": {"type": "object", "additionalProperties": True}}}
    tools = [{"name": name, "input_schema": each} for name, each in (("f", closed), ("l", loose), ("o", free))]
    client.post(url("registry", "tools"), {"text": json.dumps(tools), "format": "auto"})
    number = registry.versions.latest("number").number
    person = as_user(viewer)
    shown = " ".join(body(person.get(url("version", "tools", number))).split())
    assert "Strict mode: OpenAI yes, Anthropic yes, Gemini yes." in shown
    assert "Strict mode: OpenAI no, Anthropic no, Gemini no." in shown
    fits = body(person.get(url("strict", "tools", number, 1)))
    assert fits.count("No problems found in the schema.") == 3
    assert "Copy schema" not in fits
    refused = body(person.get(url("strict", "tools", number, 2)))
    assert "must be closed: set additionalProperties to false" in refused
    assert "minLength: 3" in refused
    assert EVIL not in refused
    assert "Change this by hand as well" in body(person.get(url("strict", "tools", number, 3)))
    for place in (0, 4):
        assert person.get(url("strict", "tools", number, place)).status_code == 404
