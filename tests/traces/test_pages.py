"""The list of traces, one trace, its spans, the CSV file and the settings."""

from __future__ import annotations

import csv
import io
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from tests.traces.sending import conversation, export, send, span
from toolevals.traces.models import Trace, TraceSettings
from toolevals.traces.reading import filters
from toolevals.traces.reading.filters import TraceFilter
from toolevals.traces.reading.services import traces_settle
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Role

LIST = "/p/shop/traces/"
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def shown(client, token, viewer, settings) -> Any:
    """Three traces: one plain, one that failed, one of hostile texts; return a client of a viewer."""
    settings.TRACES_QUIET_SECONDS = 0
    send(client, token, export(*conversation(f"{1:032x}", **{"user.id": "u-1"})))
    late = conversation(
        f"{2:032x}", result='{"error": "order not found", "code": 404}', arguments={"nr": 7}, asked="A refund"
    )
    send(client, token, export(*late, version="1.5.0"))
    hostile = conversation(
        f"{3:032x}", asked=HOSTILE, result=HOSTILE, **{"gen_ai.agent.name": HOSTILE, HOSTILE: HOSTILE}
    )
    hostile[0]["name"] = hostile[2]["name"] = HOSTILE
    hostile[2]["attributes"][1]["value"] = {"stringValue": HOSTILE}
    send(client, token, export(*hostile))
    traces_settle()
    client.force_login(viewer)
    return client


def found(project, **asked: str) -> list[int]:
    """Return the numbers of the traces that a filter shows, by the page and by the query of the CSV file."""
    wanted = TraceFilter.of(asked)
    assert wanted.problems == {}
    rows = [each.trace_id.int for each in wanted.page(project, Role.VIEWER, "").rows]
    assert rows == [each.trace_id.int for each in wanted.traces(project, Role.VIEWER).order_by("-pk")]
    with pytest.MonkeyPatch.context() as patch:
        # As where many newer traces are not like this.
        patch.setattr(filters, "_LOOK_AT", 1)
        assert rows == [each.trace_id.int for each in wanted.page(project, Role.VIEWER, "").rows]
    return rows


@pytest.mark.parametrize("error", ["any", "404"])
def test_sqlite_finds_errors_by_the_index_of_calls_with_an_error(project, error):
    if connection.vendor == "sqlite":
        plan = TraceFilter.of({"error": error}).traces(project, Role.VIEWER).explain()
        assert "tool_use_with_an_error" in plan


def test_each_filter_finds_what_it_says(shown, project):
    day = database_now().date()
    assert found(project) == [3, 2, 1]
    assert found(project, tool="get_order") == [2, 1]
    assert found(project, error="404") == found(project, error="any") == found(project, arguments="bad") == [2]
    assert found(project, tool="other", error="404") == []
    assert found(project, agent="shop", version="1.5.0") == [2]
    assert found(project, agent=HOSTILE) == [3]
    assert found(project, user="u-1") == [1]
    assert found(project, model="small-1", session="s-1") == [3, 2, 1]
    assert found(project, since=str(day), until=str(day)) == [3, 2, 1]
    assert found(project, until=str(day - timedelta(days=1))) == []
    assert found(project, since=(database_now() + timedelta(hours=1)).isoformat()) == []
    assert found(project, min_ms="3999", max_ms="4000.5") == [3, 2, 1]
    assert found(project, min_ms="4001") == found(project, min_cost="0") == []


def test_words_are_found_by_their_beginnings(shown, project):
    assert found(project, q="refund") == found(project, q="REF a") == found(project, q="not found") == [2]
    assert found(project, q="efund") == []
    assert found(project, q="alert(1)") == [3]
    assert found(project, q="'); drop & | !:* \\") == []
    assert found(project, q="shop") == [2, 1]
    assert found(project, q="—") == [3, 2, 1]


def test_what_the_address_says_wrongly_is_named(shown):
    asked = "?since=soon&min_ms=much&min_cost=nan&until=9999-12-31&q=refund"
    page = shown.get(LIST + asked).content.decode()
    for words in (
        "since is neither a day",
        "min_ms is not a number: much",
        "min_cost is not a number: nan",
        "until is neither a day",
    ):
        assert words in page
    assert shown.get(f"/api/v1/projects/shop/traces/{asked}").status_code == 422


def test_pages_show_hostile_texts_as_texts(shown):
    trace = Trace.objects.get(agent=HOSTILE)
    for path in (LIST, f"{LIST}{trace.pk}/", f"{LIST}{trace.pk}/spans/{3:016x}/"):
        page = shown.get(path).content.decode()
        assert HOSTILE not in page
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_a_trace_says_what_happened_and_what_nobody_read(shown):
    trace = Trace.objects.get(error_classes__contains="404")
    page = shown.get(f"{LIST}{trace.pk}/").content.decode()
    for words in (
        "A refund",
        "order not found",
        "get_order",
        "Reads an order.",
        "4.00 s",
        "shop.shard",
    ):
        assert words in page
    assert "called with arguments that do not fit" in page
    assert "2 tools" not in page
    span_page = shown.get(f"{LIST}{trace.pk}/spans/{3:016x}/").content.decode()
    assert "not read" in span_page
    assert "eu-7" in span_page
    assert shown.get(f"{LIST}{trace.pk}/spans/{9:016x}/").status_code == 404


def test_traces_of_a_session_lead_to_each_other(shown):
    first, *others = Trace.objects.order_by("pk")
    page = shown.get(f"{LIST}{first.pk}/").content.decode()
    assert all(f"{LIST}{each.pk}/" in page for each in others)


def test_the_file_has_the_rows_of_the_list(shown):
    rows = list(
        csv.DictReader(io.StringIO(b"".join(shown.get("/p/shop/traces.csv?tool=get_order")).decode("utf-8-sig")))
    )
    assert [(row["tools"], row["error_classes"], row["agent_version"]) for row in rows] == [
        ("get_order", "404", "1.5.0"),
        ("get_order", "", "1.4.0"),
    ]
    assert rows[0]["trace_id"] == str(Trace.objects.get(agent_version="1.5.0").pk)


def test_rest_lists_and_reads_traces(shown):
    listed = shown.get("/api/v1/projects/shop/traces/?error=404").json()["results"]
    assert [each["otel_trace_id"] for each in listed] == [f"{2:032x}"]
    read = shown.get(f"/api/v1/projects/shop/traces/{listed[0]['id']}/").json()
    assert [each["kind"] for each in read["spans"]] == ["agent", "model", "tool", "model"]
    assert read["spans"][2]["unread"] == ["shop.shard"]
    assert [each["error_class"] for each in read["used"]] == ["404"]
    assert [tool["name"] for tool in read["tools"]] == ["get_order"]
    assert [each["role"] for each in read["conversation"]["messages"]] == ["user", "assistant", "tool", "assistant"]


def test_pages_of_the_list_cost_the_same(shown, project, django_assert_max_num_queries):
    with django_assert_max_num_queries(9):
        shown.get(LIST)
    page = TraceFilter().page(project, Role.VIEWER, "", size=2)
    assert len(page.rows) == 2
    assert [each.trace_id.int for each in TraceFilter().page(project, Role.VIEWER, page.older, size=2).rows] == [1]


def test_a_trace_of_another_project_is_not_there(shown, outsider):
    trace = Trace.objects.order_by("pk")[0]
    shown.force_login(outsider)
    assert shown.get(f"{LIST}{trace.pk}/").status_code == 404


def test_owners_set_what_is_kept_and_try_the_rules(client, project, owner, viewer):
    client.force_login(owner)
    said = {
        "retention_days": "7", "sample_rate": "0.5", "email": "on", "fields_named": "name\n", "patterns": r"ORD-\d+",
        "sample": 'ORD-7 of ada@example.org\n', "try": "1",
    }  # fmt: skip
    page = client.post(f"{LIST}settings/", said).content.decode()
    assert "[pattern] of [email]" in page
    assert not TraceSettings.objects.exists()
    del said["try"]
    assert client.post(f"{LIST}settings/", said).status_code == 302
    kept = TraceSettings.of(project)
    assert (kept.retention_days, kept.sample_rate) == (7, 0.5)
    assert [each.kind for each in kept.rules] == ["email", "field", "pattern"]
    page = client.get(f"{LIST}settings/").content.decode()
    assert r"ORD-\d+" in page
    refused = client.post(f"{LIST}settings/", said | {"patterns": "(?=x)"}).content.decode()
    assert "the pattern is refused" in refused


def test_spans_in_a_circle_are_each_shown_once(client, token, viewer, settings):
    settings.TRACES_ROOTLESS_SECONDS = 0
    send(client, token, export(span(1, "first", parent=2), span(2, "second", parent=1), span(3, "third", parent=3)))
    traces_settle()
    client.force_login(viewer)
    page = client.get(f"{LIST}{Trace.objects.get().pk}/").content.decode()
    for name in ("first", "second", "third"):
        assert page.count(f'title="{name}"') == 1
