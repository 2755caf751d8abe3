"""A new version is made of what a source lists, from the page and by REST."""

from __future__ import annotations

from typing import Any

import pytest

from reports.tool_drift.services import drift_publish, sources_look
from tests.reports.tool_drift.sources import examples, looked, view_of, with_changes
from tests.runs.building import EXAMPLES, TOOLS, baseline_run, version_of
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.models import RegistryVersion, ToolSource
from toolevals.registry.sources.services import source_set
from toolevals.runs.models import Run

pytestmark = pytest.mark.django_db
PAGE = "/p/shop/registries/shop/source/"
REST = "/api/v1/projects/shop/registries/shop/source/"


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
