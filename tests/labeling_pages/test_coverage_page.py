"""The pages of coverage, quotas, drafts and lint."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from labeling.imports.services import examples_import
from labeling.lint.services import lint_start
from labeling.models import Dataset, LintReport, ProposedExample, Resolution, Revision
from labeling.proposals.services import proposals_make
from tests.labeling_pages.conftest import body
from tests.labeling_pages.shop import row
from toolevals.grading.reading.examples import read_example
from toolevals.workspace.models import User

GOLD = {"expected_tool": "get_order", "expected_args": {"order_id": "A-1"}}


@pytest.fixture
def gold(dataset: Dataset) -> Dataset:
    """Three examples to label, three with gold."""
    rows = [read_example(row(number, **GOLD, strata={"bucket": "selection"})) for number in range(10, 13)]
    examples_import(dataset=dataset, actor=None, rows=rows)
    return dataset


def at(name: str, query: str = "") -> str:
    return reverse(f"labeling:{name}", args=["shop", "core"]) + query


def table(response: Any) -> list[dict[str, str]]:
    text = b"".join(response.streaming_content).decode()
    return list(csv.DictReader(io.StringIO(text)))


def test_heat_map_table_and_file_say_the_same(gold: Dataset, viewer: User, as_user: Callable[[User], Client]) -> None:
    client = as_user(viewer)
    page = body(client.get(at("coverage")))
    data = re.search(r'<script id="coverage-data" type="application/json">(.*?)</script>', page)
    assert data is not None
    document = json.loads(data[1])
    down, right = document["rows"].index("get_order"), document["columns"].index("expected")
    place = document["cells"].index([down, right])
    assert document["chart"]["data"][0]["text"][place] == "3"
    address = document["addresses"][down][right]
    assert re.search(r'<td class="e2"><a href="[^"]+">3<span class="visually-hidden"> of 30</span>', page)
    listed = body(client.get(address))
    assert re.findall(r">(ex-1\d)</a>", listed) == ["ex-12", "ex-11", "ex-10"]
    (line,) = (
        each
        for each in table(client.get(at("coverage-csv")))
        if (each["tool"], each["covers"]) == ("get_order", "expected")
    )
    assert (line["have"], line["wanted"], line["lacking"]) == ("3", "30", "27")


def test_what_to_add_next_leads_to_drafts_and_batches(
    gold: Dataset, adjudicator: User, as_user: Callable[[User], Client]
) -> None:
    examples_import(dataset=gold, actor=None, rows=[read_example(row(20, strata={"bucket": "arguments"}))])
    client = as_user(adjudicator)
    page = body(client.get(at("coverage")))
    assert at("queue", "?bucket=arguments#new-h") in page
    assert at("proposals", "?tool=create_return") in page
    assert "of the <a" in page
    assert "1 without gold</a>" in page
    chosen = body(client.get(at("queue", "?bucket=arguments")))
    assert '<option value="arguments" selected>' in chosen
    first = table(client.get(at("coverage-csv", "?form=next")))[0]
    assert (first["lacking"], first["tool"]) == ("30", "create_return")


def test_what_has_no_gold_yet_opens_its_examples(
    gold: Dataset, viewer: User, adjudicator: User, as_user: Callable[[User], Client]
) -> None:
    waiting = [read_example(row(number, strata={"bucket": "Arguments"})) for number in (20, 21)]
    resolved = [read_example(row(22, **GOLD, strata={"bucket": "arguments"}))]
    retired = [read_example(row(23, strata={"bucket": "arguments"}))]
    examples_import(dataset=gold, actor=None, rows=[*waiting, *resolved, *retired])
    Revision.objects.filter(example__external_id="ex-23").update(resolution=Resolution.SET_ASIDE)
    query = "?covers=bucket.arguments&amp;gold=none"
    # What waits says by its stratum what its label is.
    assert query not in body(as_user(viewer).get(at("coverage")))
    client = as_user(adjudicator)
    page = body(client.get(at("coverage")))
    assert f'<a href="{at("dataset")}{query}">2</a>' in page
    listed = body(client.get(at("dataset", "?covers=bucket.arguments&gold=none")))
    assert re.findall(r">(ex-\d+)</a>", listed) == ["ex-21", "ex-20"]
    assert "no gold yet: bucket.arguments" in listed
    # The filter stays while one searches on.
    assert '<input type="hidden" name="gold" value="none">' in listed
    assert re.findall(r">(ex-\d+)</a>", body(client.get(at("dataset", "?covers=bucket.arguments")))) == ["ex-22"]


def test_a_tool_is_found_by_part_of_its_name(gold: Dataset, viewer: User, as_user: Callable[[User], Client]) -> None:
    page = body(as_user(viewer).get(at("coverage", "?find=RETURN&view=spread&page=7")))
    assert 'title="create_return"' in page
    assert 'title="get_order"' not in page.partition("What to add next")[0].partition("coverage-table")[2]
    assert "No tool matches" in body(as_user(viewer).get(at("coverage", "?find=nothing")))


def test_quotas_are_changed_in_a_form(
    gold: Dataset, adjudicator: User, viewer: User, as_user: Callable[[User], Client]
) -> None:
    client = as_user(adjudicator)
    page = client.get(at("quotas"))
    fields = {name: field.initial or "" for name, field in ((f.name, f) for f in page.context["form"])}
    sent = fields | {"per_tool": "3", "bucket.selection": "50", "tools": "get_order = 5\n\na = b = 0"}
    refused = client.post(at("quotas"), sent)
    assert refused.status_code == 422
    assert "more than the whole" in body(refused)
    assert client.post(at("quotas"), sent | {"tools": "get_order"}).status_code == 422
    assert client.post(at("quotas"), sent | {"bucket.no_call": "0"}).status_code == 302
    gold.refresh_from_db()
    assert gold.quotas == {
        "per_tool": 3,
        "tools": {"get_order": 5, "a = b": 0},
        "bucket": {"selection": 0.5, "no_call": 0.0},
    }
    assert as_user(viewer).post(at("quotas"), sent).status_code == 403
    shown = body(as_user(viewer).get(at("quotas")))
    assert "disabled" in shown
    assert ">Save<" not in shown


def test_drafts_are_accepted_dropped_and_changed(
    gold: Dataset, adjudicator: User, as_user: Callable[[User], Client]
) -> None:
    arguments = {"order_id": "A-20448", "skus": ["L"], "refund_to": "store credit"}
    rows = [read_example(row(30, expected_tool="create_return", expected_args=arguments))]
    examples_import(dataset=gold, actor=None, rows=rows)
    client = as_user(adjudicator)
    assert "No drafts to review" in body(client.get(at("proposals")))
    client.post(at("proposals-make"), {"kind": "null_optional"})
    drafts = list(ProposedExample.objects.open().order_by("pk"))
    assert [draft.parameter for draft in drafts] == ["/quantity", "/express", "/store", "/extra", "/pickup"]
    page = body(client.get(at("proposals")))
    assert "<ins> I have no preference about the store.</ins>" in page
    client.post(at("proposals-decide"), {"act": "drop", "mark": [str(draft.pk) for draft in drafts[:2]]})
    words = {"act": f"accept {drafts[2].pk}", f"words {drafts[2].pk}": "Return it, whichever store."}
    client.post(at("proposals-decide"), words)
    client.post(at("proposals-decide"), {"act": f"accept {drafts[3].pk}", f"words {drafts[4].pk}": "ignored"})
    states = dict(ProposedExample.objects.values_list("parameter", "state"))
    assert states == {
        "/quantity": "rejected",
        "/express": "rejected",
        "/store": "accepted",
        "/extra": "accepted",
        "/pickup": "open",
    }
    changed = ProposedExample.objects.get(parameter="/store").example
    assert changed is not None
    assert changed.current is not None
    assert changed.current.input["messages"][-1]["content"] == "Return it, whichever store."
    assert "already" in body(client.post(at("proposals-decide"), words, follow=True))
    assert client.post(at("proposals-decide"), {"act": "accept", "mark": ["no id"]}).status_code == 302


def test_findings_are_filtered_let_be_and_sent_as_a_file(
    gold: Dataset, adjudicator: User, viewer: User, as_user: Callable[[User], Client]
) -> None:
    client = as_user(adjudicator)
    assert "Not linted yet" in body(client.get(at("lint")))
    client.post(at("lint"))
    page = body(client.get(at("lint")))
    assert "0 of 3" in page
    key = next(each["key"] for each in LintReport.objects.get().document["findings"] if each["rule"] == "no_trigger")
    client.post(at("lint-ignore"), {"key": key, "reason": "Its <name> says it."})
    shown = body(client.get(at("lint", "?show=ignored")))
    assert "Its &lt;name&gt; says it." in shown
    assert key not in [each["key"] for each in table(client.get(at("lint-csv", "?rule=no_trigger")))]
    assert [each["let_be"] for each in table(client.get(at("lint-csv", "?show=ignored")))] == ["Its <name> says it."]
    client.post(at("lint-ignore"), {"key": key, "show": "ignored"})
    assert LintReport.objects.get().document["ignored"] == {}
    assert as_user(viewer).post(at("lint")).status_code == 403
    assert ">Ignore<" not in body(as_user(viewer).get(at("lint")))


def test_pages_take_as_many_queries_for_many_rows_as_for_few(
    gold: Dataset, adjudicator: User, as_user: Callable[[User], Client]
) -> None:
    client = as_user(adjudicator)

    def queries() -> dict[str, int]:
        counted = {}
        for name in ("coverage", "proposals", "lint"):
            client.get(at(name))
            with CaptureQueriesContext(connection) as found:
                assert client.get(at(name)).status_code == 200
            counted[name] = len(found)
        return counted

    proposals_make(dataset=gold, actor=None, kinds=["null_optional"], limit=1)
    lint_start(dataset=gold, actor=None)
    few = queries()
    other = {"expected_tool": "create_return", "expected_args": {"order_id": "A", "skus": ["L"], "refund_to": "x"}}
    rows = [read_example(row(number, **(other if number % 2 else GOLD))) for number in range(40, 60)]
    examples_import(dataset=gold, actor=None, rows=rows)
    proposals_make(dataset=gold, actor=None)
    lint_start(dataset=gold, actor=None)
    assert queries() == few
    assert max(few.values()) <= 22
