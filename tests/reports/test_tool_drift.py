"""A registry's source: looked at over HTTP and MCP, compared, told of, published; and what it means for gold."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from labeling.models import Revision
from reports.tool_drift.queries import source_of, source_view
from reports.tool_drift.services import drift_publish, look_ask, sources_due, sources_look
from tests.agents.mcp_shop import shop_over_http
from tests.reports.gate_building import checks, hold
from tests.runs.building import EXAMPLES, REFUND, STATUS, TOOLS, baseline_run, call, silence, uploaded_run, version_of
from toolevals.grading.gates.documents import read_gate
from toolevals.grading.gates.evaluation import evaluate_gate
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.mcp_servers import registry_fetch_begin
from toolevals.registry.models import Registry, RegistryVersion, ToolSource
from toolevals.registry.services import registry_create, registry_publish
from toolevals.registry.sources import services as sources
from toolevals.registry.sources.services import LEASE, MOST_ATTEMPTS, source_set, source_take
from toolevals.registry.tool_lists import tools_in
from toolevals.runs.agents.services import agent_ensure
from toolevals.runs.models import Run
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import AuditEntry, Delivery
from toolevals.workspace.notifications.services import webhook_save
from toolevals.workspace.secrets.services import secret_set
from toolevals.workspace.trash.services import trash_destroy, trash_put

pytestmark = pytest.mark.django_db
PAGE = "/p/shop/registries/shop/source/"
REST = "/api/v1/projects/shop/registries/shop/source/"


def openapi(tools: list[dict[str, Any]]) -> dict[str, Any]:
    """Return an OpenAPI document whose operations are these tools."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Shop", "version": "1"},
        "paths": {
            f"/{tool['name']}": {
                "post": {
                    "operationId": tool["name"],
                    "description": tool["description"],
                    "parameters": [
                        {
                            "name": name,
                            "in": "query",
                            "required": name in tool["input_schema"].get("required", []),
                            "schema": part,
                        }
                        for name, part in tool["input_schema"]["properties"].items()
                    ],
                    "responses": {"200": {"description": "Done."}},
                }
            }
            for tool in tools
        },
    }


class Site:
    """A server whose answer can be changed: `status`, `headers`, `body`; `asked` holds what was sent to it."""

    def __init__(self) -> None:
        self.status, self.headers, self.body = 200, dict[str, str](), b""
        self.asked: list[dict[str, str]] = []
        self.url = ""

    def show(self, tools: list[dict[str, Any]]) -> None:
        self.body = json.dumps(openapi(tools)).encode()


@pytest.fixture
def site(settings) -> Iterator[Site]:
    settings.AGENT_NETWORKS = ["127.0.0.0/8"]
    with site_over_http() as found:
        found.show(TOOLS)
        yield found


@contextmanager
def site_over_http() -> Iterator[Site]:
    found = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.asked.append(dict(self.headers))
            self.send_response(found.status)
            for name, value in found.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(found.body)))
            self.end_headers()
            self.wfile.write(found.body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    found.url = f"http://127.0.0.1:{server.server_port}/openapi.json"
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def registry(project):
    made = registry_create(project=project, actor=None, slug="shop", name="Shop")
    registry_publish(registry=made, actor=None, document=openapi(TOOLS))
    return made


@pytest.fixture
def source(registry, site) -> ToolSource:
    return source_set(registry=registry, actor=None, kind="openapi", options={"url": site.url})


def looked(source: ToolSource) -> Any:
    """Look at a source, and return what its page shows."""
    look_ask(source=source)
    assert sources_look() == 1
    return view_of(source)


def view_of(source: ToolSource) -> Any:
    found = source_of(source.registry)
    assert found is not None
    return source_view(found)


def with_changes() -> list[dict[str, Any]]:
    """Return the tools with one that breaks, one that is worded otherwise, and one that is new."""
    tools = json.loads(json.dumps(TOOLS))
    tools[0]["input_schema"]["properties"]["order_id"]["pattern"] = "^A-[0-9]{5}$"
    tools[1]["description"] += " Newest first."
    return [*tools, {**TOOLS[2], "name": "cancel_order"}]


def offered(registry: Any) -> list[dict[str, Any]]:
    """Return the tools of a registry's newest version, as examples offer them."""
    entries = registry.versions.first().tools.entries.select_related("spec")
    return [entry.spec.document for entry in entries]


def examples(registry: Any) -> list[dict[str, Any]]:
    return [{**row, "tools": offered(registry)} for row in EXAMPLES]


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


def test_people_are_told_once_of_what_changed_with_counts_alone(project, registry, source, site):
    webhook_save(project=project, actor=None, name="all", url="https://hooks.example.org/", kinds=["tools.changed"])
    version_of(project, examples(registry))
    looked(source)
    assert not Delivery.objects.exists()
    site.show(with_changes())
    for _ in range(3):
        looked(source)
    data = Delivery.objects.get().document["data"]
    assert {name: data[name] for name in ("breaking", "unknown", "widening", "wording", "gold", "published")} == {
        "breaking": 1,
        "unknown": 0,
        "widening": 1,
        "wording": 1,
        "gold": 1,
        "published": False,
    }
    assert "1 breaking, 1 widening, 1 wording (1 gold label no longer validates" in data["summary"]
    assert data["url"] == PAGE
    site.show(TOOLS)
    looked(source)
    site.show(with_changes())
    looked(source)
    assert Delivery.objects.count() == 2


def test_a_schedule_looks_again_in_time_and_off_does_not(source, site):
    for schedule, hours in (("hourly", 1), ("daily", 24)):
        source_set(registry=source.registry, actor=None, kind="openapi", options={"url": site.url}, schedule=schedule)
        looked(source)
        source.refresh_from_db()
        assert round((source.due_at - source.looked_at).total_seconds() / 3600) == hours
        assert sources_look() == 0
    source_set(registry=source.registry, actor=None, kind="openapi", options={"url": site.url})
    looked(source)
    source.refresh_from_db()
    assert source.due_at is None


def test_a_source_whose_worker_was_killed_is_looked_at_once_more_and_the_late_one_keeps_nothing(source, site):
    look_ask(source=source)
    taken = source_take()
    assert taken is not None
    assert source_take() is None
    ToolSource.objects.update(due_at=database_now())
    assert sources_look() == 1
    source.refresh_from_db()
    assert source.error == ""
    assert not sources.look_keep(taken, error="late")
    source.refresh_from_db()
    assert (source.error, source.lease) == ("", None)
    assert LEASE.total_seconds() > 2 * 20


def test_a_source_that_ends_its_workers_is_given_up(source):
    look_ask(source=source)
    for _ in range(MOST_ATTEMPTS):
        assert source_take() is not None
        ToolSource.objects.update(due_at=database_now())
    assert source_take() is None
    source.refresh_from_db()
    assert "workers that looked ended" in source.error
    assert source.due_at is None


def test_one_click_makes_the_version_that_was_shown_and_no_other(project, adjudicator, source, site):
    site.show(with_changes())
    shown = looked(source)
    site.show(TOOLS[:1])
    later = looked(source)
    with pytest.raises(InvalidDocument, match="is not the last look"):
        drift_publish(source=later.source, actor=adjudicator, look=shown.look)
    assert RegistryVersion.objects.count() == 1
    for _ in range(2):
        version, run = drift_publish(source=later.source, actor=adjudicator, look=later.look, note="drift")
    assert (version.number, version.tools, run) == (2, later.source.tools, None)
    assert RegistryVersion.objects.count() == 2
    assert view_of(source).changes == ()


def test_a_version_with_a_run_are_both_made_or_none(project, registry, adjudicator, source, site, run_jobs):
    tools = with_changes()
    site.show(tools)
    view = looked(source)
    assert view.run is None
    with pytest.raises(InvalidDocument, match="start one first"):
        drift_publish(source=view.source, actor=adjudicator, look=view.look, with_run=True)
    assert RegistryVersion.objects.count() == 1
    baseline_run(project, version_of(project, examples(registry)))
    run_jobs()
    view = looked(source)
    assert view.estimate.conversations == len(EXAMPLES)
    version, run = drift_publish(source=view.source, actor=adjudicator, look=view.look, with_run=True)
    assert run is not None
    assert (version.number, run.agent.tools) == (2, version)
    run_jobs()
    assert Run.objects.get(pk=run.pk).grading is not None


def test_the_page_keeps_looks_shows_and_publishes(client, adjudicator, registry, site):
    client.force_login(adjudicator)
    assert "No source is kept" in client.get(PAGE).content.decode()
    wrong = client.post(PAGE, {"act": "set", "kind": "openapi", "url": "", "schedule": "off"})
    assert wrong.status_code == 422
    sent = {"act": "set", "kind": "openapi", "url": f"{site.url}?key=k-0815", "schedule": "daily", "tags": ""}
    assert client.post(PAGE, sent).status_code == 302
    assert "waits for a worker" in client.get(PAGE).content.decode()
    site.show([{**each, "description": "<script>alert(1)</script>"} for each in with_changes()])
    sources_look()
    shown = client.get(PAGE).content.decode()
    assert "&lt;script&gt;" in shown
    assert "<script>alert" not in shown
    assert client.get(f"{PAGE}changes.csv").getvalue().decode().startswith("tool,kind,what,argument,before,after\r\n")
    assert client.get(f"{PAGE}gold.csv").getvalue().decode() == "example_id,dataset,external_id,problem\r\n"
    look = view_of(registry.source).look
    made = client.post(PAGE, {"act": "publish", "look": look, "note": "by the page"})
    assert made["Location"] == "/p/shop/registries/shop/2/"
    old = client.post(PAGE, {"act": "publish", "look": "0" * 64}, follow=True).content.decode()
    assert "is not the last look any more" in old
    client.post(PAGE, {"act": "forget"})
    assert not ToolSource.objects.exists()
    assert client.post(PAGE, {"act": "look"}).status_code == 404


def test_a_viewer_reads_a_source_without_what_its_query_holds(client, viewer, registry, site):
    source_set(registry=registry, actor=None, kind="openapi", options={"url": f"{site.url}?key=k-0815"})
    client.force_login(viewer)
    for address in (PAGE, REST):
        assert "k-0815" not in client.get(address).content.decode()
    assert client.post(PAGE, {"act": "look"}).status_code == 403


def test_the_interface_does_the_same(client, adjudicator, registry, site):
    client.force_login(adjudicator)

    def send(method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        return getattr(client, method)(f"{REST}{path}", body, content_type="application/json")

    assert client.get(REST).status_code == 404
    assert send("put", "", {"kind": "openapi", "command": ["sh"]}).status_code == 422
    assert send("put", "", {"kind": "openapi", "url": site.url, "wrong": 1}).status_code in (400, 422)
    kept = send("put", "", {"kind": "openapi", "url": site.url, "schedule": "hourly"})
    assert (kept.status_code, kept.json()["is_waiting"], kept.json()["seen_at"]) == (200, True, None)
    site.show(with_changes())
    sources_look()
    assert send("post", "look/").status_code == 202
    found = client.get(REST).json()
    assert found["counts"] == {"breaking": 1, "unknown": 0, "widening": 1, "wording": 1}
    assert (found["newest_version"], found["gold"], found["is_waiting"]) == (1, 0, True)
    made = send("post", "publish/", {"look": found["look"]})
    assert (made.status_code, made.json()) == (201, {"version": "shop@2", "run": None})
    assert send("post", "publish/", {"look": "0" * 64}).status_code == 422
    assert client.delete(REST).status_code == 204


def test_another_place_forgets_what_was_seen_and_the_same_keeps_it(source, site):
    looked(source)
    said = {"registry": source.registry, "actor": None, "kind": "openapi", "options": {"url": site.url}}
    assert source_set(**said, schedule="daily").seen_at is not None
    assert source_set(**{**said, "options": {"url": f"{site.url}?2"}}).seen_at is None
    with pytest.raises(InvalidDocument, match="MCP servers"):
        source_set(**{**said, "options": {"command": ["sh"]}})


def test_sources_of_what_is_in_the_trash_are_not_looked_at_and_go_with_it(source, adjudicator, run_jobs):
    looked(source)
    look_ask(source=source)
    trash_put(row=source.registry, actor=adjudicator)
    sources_due(database_now())
    assert sources_look() == 0
    trash_destroy(row=source.registry, actor=adjudicator, typed=source.registry.slug)
    run_jobs()
    assert not ToolSource.objects.exists()
    assert not Registry.with_trash.exists()


def test_a_registry_in_use_that_is_destroyed_forgets_its_source(project, registry, source, site, adjudicator, run_jobs):
    looked(source)
    baseline_run(project, version_of(project, examples(registry)))
    agent_ensure(project=project, actor=None, name="a", connector="upload", tools=registry.versions.get(), options={})
    run_jobs()
    trash_destroy(row=trash_put(row=registry, actor=adjudicator), actor=adjudicator, typed="shop")
    run_jobs()
    assert Registry.with_trash.exists()
    assert not ToolSource.objects.exists()


def test_a_project_is_destroyed_with_its_sources(project, source, owner, run_jobs):
    looked(source)
    trash_destroy(row=trash_put(row=project, actor=owner), actor=owner, typed="shop")
    run_jobs()
    assert not ToolSource.objects.exists()


def test_a_gate_fails_warns_or_stays_open_by_what_the_source_of_the_runs_tools_lists(project, registry, site, run_jobs):
    run = uploaded_run(project, version_of(project, examples(registry)), [call("status", STATUS)])
    run_jobs()

    def decided(**rule: Any) -> Any:
        held = hold(run, {"tool_drift": rule})
        (check,) = checks(held)
        return held.status, check

    status, check = decided()
    assert (status, check.status) == ("unanswered", "unanswered")
    source = source_set(registry=registry, actor=None, kind="openapi", options={"url": site.url})
    assert decided()[0] == "unanswered"
    looked(source)
    assert decided()[0] == "passed"
    site.show([*TOOLS, {**TOOLS[2], "name": "cancel_order"}])
    looked(source)
    assert decided()[0] == "passed"
    site.show(with_changes())
    looked(source)
    status, check = decided()
    assert (status, check.bound) == ("failed", "no breaking change at the source")
    assert "get_order_status order_id, pattern added (breaking)" in check.reason
    assert "shop@1 against its source as of" in check.note
    assert decided(on_fail="warn")[0] == "warned"
    site.status = 500
    looked(source)
    assert "A later look failed." in decided()[1].note


def test_a_gate_of_a_file_leaves_tool_drift_unanswered_and_names_a_wrong_rule():
    (check,) = evaluate_gate(read_gate({"tool_drift": {}}), []).checks
    assert (check.name, check.status) == ("tool drift", "unanswered")
    with pytest.raises(InvalidDocument, match="/tool_drift/on_fail"):
        read_gate({"tool_drift": {"on_fail": "never"}})


def test_what_people_gave_a_tool_stays_where_the_source_says_none(registry, source, site):
    own = offered(registry)
    own[0]["cost"] = 2.5
    registry_publish(registry=registry, actor=None, document=own)
    view = looked(source)
    assert view.changes == ()
    assert tools_in(view.source.tools)[0].cost == 2.5
