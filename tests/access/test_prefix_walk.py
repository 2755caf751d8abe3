"""Every address, asked for by the owner where the application is served below a path: nothing leads out of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urljoin, urlsplit

import pytest
from allauth.mfa.models import Authenticator
from django.db import transaction
from django.http import HttpResponse
from django.template.loader import render_to_string
from django.test import RequestFactory, override_settings
from django.urls import get_script_prefix, set_script_prefix

from tests.access.addresses import Address, addresses
from tests.access.asking import at, client_of
from tests.access.populated import populate
from tests.access.world import World
from tests.fixtures.people import PASSWORD
from toolevals.path_prefix import TAKEN, path_below
from toolevals.workspace.api.document import made_document
from toolevals.workspace.errors import outage_answer
from toolevals.workspace.models import Job
from toolevals.workspace.outages import FULL
from toolevals.workspace.projects.services import project_create

PREFIX = "/evals"
HOST = "http://testserver"
METHODS = ("GET", "POST")
# Where a browser goes by itself, or by a script of ours.
LEADING = ("Location", "HX-Redirect", "HX-Location", "HX-Push-Url", "HX-Replace-Url")
ATTRIBUTE = re.compile(r'\s(?:href|src|action|formaction|hx-(?:get|post|push-url)|data-(?:[\w-]+-)?url)="(/[^"]*)"')
# Wherever a page shows it, to be copied for one.
WHOLE = re.compile(rf"{HOST}/?[^\s\"'<>&]*")
# Elsewhere on a page, in its JSON for one, and in other JSON: what begins as an address of ours does.
QUOTED = re.compile(r'"([^"\s]*)"')
OURS = re.compile(rf"(?:{HOST})?/(?:{'|'.join(sorted(TAKEN))}|{PREFIX[1:]})(?=[/?#]|$)")
EVERY = addresses()


@pytest.fixture(scope="module", autouse=True)
def below() -> Iterator[None]:
    """Serve the application below a path, as the settings do, and as a request does."""
    before = get_script_prefix()
    with override_settings(
        PATH_PREFIX=PREFIX,
        FORCE_SCRIPT_NAME=PREFIX,
        STATIC_URL=f"{PREFIX}/static/",
    ):
        set_script_prefix(f"{PREFIX}/")
        made_document.cache_clear()
        yield
    made_document.cache_clear()
    set_script_prefix(before)


@pytest.fixture(scope="module")
def full(world: World) -> World:
    """A world with a row of every model."""
    populate(world)
    return world


def is_below(address: str) -> bool:
    """Return whether an address of this application, as a browser reads it, stays below the prefix."""
    path = urlsplit(urljoin(f"{HOST}{PREFIX}/x/", address)).path
    return path == PREFIX or path.startswith(f"{PREFIX}/")


def texts_of(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from texts_of(each)
    elif isinstance(value, list):
        for each in value:
            yield from texts_of(each)


def named_in(response: Any) -> Iterator[str]:
    """Yield the addresses of this application that an answer names: in its head, its page or its JSON."""
    yield from (response[name] for name in LEADING if name in response)
    kind = response.get("Content-Type", "").partition(";")[0]
    body = b"" if response.streaming else response.content
    if kind == "text/html":
        yield from map(unescape, ATTRIBUTE.findall(body.decode()))
        yield from WHOLE.findall(body.decode())
        yield from (text for each in QUOTED.findall(body.decode()) if OURS.match(text := unescape(each)))
    elif "json" in kind and body:
        yield from (text for text in texts_of(json.loads(body)) if OURS.match(text))


def answers(world: World, address: Address) -> Iterator[tuple[str, str, Any]]:
    """Ask as a proxy does that takes the prefix off; yield who asks, how, and the answer, and undo what was done."""
    with at(world, address, world.owner) as (client, path):
        for who, asking in (("the owner", client), ("a stranger", client_of(world, None))):
            for method in METHODS:
                with transaction.atomic():
                    response = asking.generic(method, path.removeprefix(PREFIX), content_type="application/json")
                    transaction.set_rollback(True)
                yield who, method, response


def led_out(response: Any) -> list[str]:
    """Return the addresses in an answer that are not below the prefix."""
    return [named for named in named_in(response) if not is_below(named)]


@pytest.mark.parametrize("address", EVERY, ids=str)
def test_nothing_that_an_owner_or_a_stranger_is_answered_leads_out_of_the_prefix(full, address):
    wrong = []
    for who, method, response in answers(full, address):
        wrong += [f"{method} by {who}: {each}" for each in led_out(response)]
        asked = parse_qs(urlsplit(response.get("Location", "")).query).get("next", [])
        wrong += [f"{method} by {who}: back to {each}" for each in asked if not is_below(each)]
    assert wrong == []


def test_the_walk_sees_what_pages_lead_to(full):
    (page,) = [each for each in EVERY if each.name == "workspace:project"]
    (_, _, response), *_ = answers(full, page)
    named = [*named_in(response)]
    assert {f"{PREFIX}/", f"{PREFIX}/docs/"} < set(named)
    assert len(named) > 30
    out = HttpResponse(f'<a href="/"></a> <a data-more-url="{HOST}/p/shop/"> {{"to": "/p/shop/"}}')
    assert set(led_out(out)) == {"/", f"{HOST}/p/shop/", "/p/shop/"}
    assert led_out(HttpResponse(f"<code>curl {HOST}/v1/traces</code>")) == [f"{HOST}/v1/traces"]


def test_a_project_without_traces_shows_where_to_send_them(full):
    with transaction.atomic():
        project_create(actor=full.owner, slug="new", name="New")
        response = client_of(full, full.owner).get("/p/new/traces/")
        transaction.set_rollback(True)
    assert f"{HOST}{PREFIX}/v1/traces" in named_in(response)


def test_programs_are_refused_as_programs(full):
    refused = client_of(full, None).get("/api/v1/me/")
    assert (refused.status_code, refused["Content-Type"]) == (401, "application/problem+json")
    sent = client_of(full, None).post("/v1/traces", b"{}", content_type="application/json")
    assert (sent.status_code, sent.json()["code"]) == (401, 16)


def test_a_load_balancer_hears_of_an_outage_as_json(full):
    for path in (f"{PREFIX}/healthz", "/healthz"):
        request = RequestFactory().get(path_below(path, PREFIX))
        assert outage_answer(request, FULL)["Content-Type"] == "application/json"


def test_the_page_that_is_shown_is_marked_in_the_top_bar(full):
    page = client_of(full, full.owner).get("/p/shop/gates/").content.decode()
    assert re.search(rf'href="{PREFIX}/p/shop/runs/"[^>]*aria-current', page)


@pytest.mark.parametrize("template", ["500.html", "outage.html"])
def test_a_page_that_stands_alone_leads_to_the_start_page(template):
    page = HttpResponse(render_to_string(template, {"outage": FULL}))
    assert f"{PREFIX}/" in named_in(page)
    assert led_out(page) == []


def test_the_openapi_document_names_the_prefix_as_its_server(full):
    document = client_of(full, None).get("/api/v1/openapi.json").json()
    assert document["servers"] == [{"url": PREFIX}]
    assert all(path.startswith("/api/v1/") for path in document["paths"])


def test_an_old_address_leads_to_the_new_one_below_the_prefix(full):
    moved = client_of(full, full.owner).get("/p/shop/subjects/?q=a")
    assert (moved.status_code, moved["Location"]) == (308, f"{PREFIX}/p/shop/agents/?q=a")


@pytest.mark.parametrize(
    ("asked", "is_taken"),
    [
        (f"{PREFIX}/p/shop/?q=1", True),
        (f"{HOST}{PREFIX}/p/shop/", True),
        ("/p/shop/", False),
        ("/", False),
        (f"{PREFIX}-of-another/p/shop/", False),
        (f"{PREFIX}/../p/shop/", False),
        (f"{PREFIX}/%2e%2e/p/shop/", False),
        ("https://elsewhere.example.org/evals/", False),
        (f"//elsewhere.example.org{PREFIX}/", False),
    ],
)
def test_signing_in_leads_to_no_page_of_another_application(full, asked, is_taken):
    with transaction.atomic():
        full.owner.set_password(PASSWORD)
        full.owner.save()
        # A second step would come between.
        Authenticator.objects.filter(user=full.owner).delete()
        entered = {"email": full.owner.email, "password": PASSWORD, "next": asked}
        response = client_of(full, None).post("/sign-in/", entered)
        transaction.set_rollback(True)
    assert response["Location"] == (asked if is_taken else f"{PREFIX}/")


def test_where_a_job_leads_follows_the_prefix(full):
    with transaction.atomic():
        project = full.project
        before = Job.objects.create(project=project, kind="x", title="x", result_path="/p/shop/runs/1/")
        after = Job.objects.create(project=project, kind="x", title="x", result_path=f"{PREFIX}/p/shop/runs/1/")
        paths = Job.objects.filter(pk__in=[before.pk, after.pk]).values_list("result_path", flat=True)
        assert set(paths) == {f"{PREFIX}/p/shop/runs/1/"}
        assert Job.objects.filter(result_path=f"{PREFIX}/p/shop/runs/1/").count() >= 2
        with override_settings(PATH_PREFIX=""):
            assert set(paths.all()) == {"/p/shop/runs/1/"}
        transaction.set_rollback(True)
