"""A registry's source: looked at over HTTP and MCP, compared, and what it means for gold."""

from __future__ import annotations

import json

import pytest

from labeling.models import Revision
from tests.agents.mcp_shop import shop_over_http
from tests.reports.tool_drift.sources import examples, looked, offered, openapi, view_of, with_changes
from tests.runs.building import REFUND, STATUS, TOOLS, call, silence, uploaded_run, version_of
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.mcp_servers import registry_fetch_begin
from toolevals.registry.models import ToolSource
from toolevals.registry.services import registry_create, registry_publish
from toolevals.registry.sources.services import source_set
from toolevals.workspace.models import AuditEntry
from toolevals.workspace.secrets.services import secret_set

pytestmark = pytest.mark.django_db
PAGE = "/p/shop/registries/shop/source/"


def test_a_source_that_says_the_same_shows_no_change(source):
    view = looked(source)
    assert (view.changes, view.source.error, view.newest.number) == ((), "", 1)
    assert view.source.tools == view.newest.tools


def test_changes_are_shown_by_kind_with_the_gold_and_the_pairs_that_they_touch(
    project, registry, source, site, run_jobs
):
    version = version_of(project, examples(registry))
    uploaded_run(project, version, [call("status", REFUND), call("refund", STATUS), silence("hello")])
    run_jobs()
    site.show(with_changes())
    view = looked(source)
    assert [(each.tool, each.kind, each.what) for each in view.changes] == [
        ("get_order_status", "breaking", "pattern added"),
        ("cancel_order", "widening", "tool added"),
        ("get_order_history", "wording", "description changed"),
    ]
    assert [(each.external_id, each.problem.split(" ")[0]) for each in view.misfits] == [
        ("status", "/alternatives/0/ordered/0/arguments/order_id/exact")
    ]
    assert (view.gold, view.is_whole) == (1, True)
    assert {(pair.expected, pair.actual) for pair in view.pairs} >= {(STATUS, REFUND), (REFUND, STATUS)}


def test_gold_of_a_removed_tool_no_longer_validates_and_what_is_reopened_is_told_to_no_one(
    project, registry, source, site
):
    version_of(project, examples(registry))
    site.show(TOOLS[:2])
    view = looked(source)
    assert [each.external_id for each in view.misfits] == ["refund"]
    Revision.objects.filter(pk=view.misfits[0].example.current_id).update(resolution="open")
    assert view_of(source).misfits == ()


def test_another_order_is_no_change(source, site):
    site.show(TOOLS[::-1])
    assert looked(source).changes == ()


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (500, b"", "answered with status 500"),
        (200, b"not json: [", "not YAML at line 2"),
        (200, json.dumps(openapi([])).encode(), "lists no tool"),
        (200, b'{"openapi": "3.1.0", "info": {}, "paths": {}}', "lists no tool"),
        (200, b"[" * 100_000, ""),
        (200, b"x" * (17 * 1024 * 1024), "is longer than"),
    ],
)
def test_a_look_that_fails_is_said_and_the_last_good_one_stays(source, site, status, body, words):
    good = looked(source)
    site.status, site.body = status, body
    view = looked(source)
    assert words in view.source.error
    assert view.source.error
    assert (view.source.tools, view.source.seen_at) == (good.source.tools, good.source.seen_at)
    assert view.source.looked_at > good.source.looked_at
    assert view.changes == ()


def test_a_server_that_is_gone_is_no_removal_and_the_page_says_since_when(client, viewer, source, site):
    looked(source)
    ToolSource.objects.update(options={"url": "http://127.0.0.1:9/openapi.json", "timeout": 30.0})
    view = looked(source)
    assert view.changes == ()
    client.force_login(viewer)
    shown = client.get(PAGE).content.decode()
    assert "failed: /url can&#x27;t be read" in shown
    assert "Last good look" in shown


def test_no_redirect_and_no_private_address_is_followed(source, site, settings):
    site.status, site.headers = 302, {"Location": "http://127.0.0.1:1/secret"}
    assert "Redirects are not followed" in looked(source).source.error
    settings.AGENT_NETWORKS = []
    assert "private address" in looked(source).source.error


def test_a_secret_goes_to_the_address_that_it_is_bound_to_alone(project, registry, site):
    said = {"registry": registry, "actor": None, "kind": "openapi", "options": {"url": site.url, "secret": "key"}}
    secret_set(project=project, actor=None, name="key", value="s-0815", addresses=["https://tools.example.org"])
    with pytest.raises(InvalidDocument, match="may not be sent to"):
        source_set(**said)
    assert AuditEntry.objects.filter(verb="secret_refuse").exists()
    secret_set(project=project, actor=None, name="key", value="s-0815", addresses=[site.url.rpartition("/")[0]])
    looked(source_set(**said))
    assert site.asked[-1]["Authorization"] == "Bearer s-0815"


def test_the_source_of_an_mcp_server_is_kept_with_what_it_lists_and_looked_at_again(project, settings, run_jobs):
    settings.AGENT_NETWORKS = ["127.0.0.0/8"]
    registry = registry_create(project=project, actor=None, slug="mcp", name="MCP")
    with shop_over_http() as url:
        registry_fetch_begin(registry=registry, actor=None, options={"url": url})
        run_jobs()
        source = ToolSource.objects.get(registry=registry)
        assert (source.kind, source.schedule, source.address) == ("mcp", "off", url)
        assert looked(source).changes == ()
        without = [tool for tool in offered(registry) if tool["name"] != "cancel"]
        registry_publish(registry=registry, actor=None, document=without)
        assert [(each.kind, each.what) for each in looked(source).changes] == [("widening", "tool added")]
    view = looked(source)
    assert view.source.error.startswith("/url The MCP server cannot be used")
    assert len(view.changes) == 1
