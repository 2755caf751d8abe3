"""Reads what traces took, by version, agent, model or day: tokens, money and loops, each number with its traces."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import pytest
from django.utils import timezone

from tests.traces.sending import conversation, export, send
from toolevals.traces.models import SpanVerdict
from toolevals.traces.reading.services import traces_settle

PAGE, ROWS, REST = "/p/shop/traces/costs/", "/p/shop/traces/costs.csv", "/api/v1/projects/shop/traces/costs/"


@pytest.fixture
def shown(client, token, viewer, settings) -> Any:
    """Four traces of two versions; two say what they cost, the rule on loops failed one."""
    settings.TRACES_QUIET_SECONDS = 0
    for number, (version, cost) in enumerate((("1.4.0", 0.5), ("1.4.0", None), ("1.5.0", 0.25), ("1.5.0", None)), 1):
        trace = f"{number:032x}"
        spans = conversation(trace)
        if cost is not None:
            spans[1]["attributes"].append({"key": "gen_ai.usage.cost", "value": {"doubleValue": cost}})
        send(client, token, export(*spans, version=version))
    traces_settle()
    SpanVerdict.objects.filter(rule="loops", trace__trace_id=f"{4:032x}").update(status="failed")
    client.force_login(viewer)
    return client


def test_costs_are_counted_by_version(shown):
    rows = shown.get(REST).json()
    assert [(row["part"], row["traces"], row["input_tokens"], row["output_tokens"]) for row in rows] == [
        ("1.4.0", 2, 400, 80),
        ("1.5.0", 2, 400, 80),
    ]
    assert [(row["costed"], row["cost"], row["cost_of_each"]) for row in rows] == [(1, 0.5, 0.5), (1, 0.25, 0.25)]
    assert [row["looped"] for row in rows] == [0, 1]
    assert shown.get(f"{REST}?version=1.5.0&by=").json()[0]["traces"] == 2


@pytest.mark.parametrize(
    ("split", "parts"),
    [("", [""]), ("agent", ["shop"]), ("model", ["small-1"]), ("version", ["1.4.0", "1.5.0"]), ("day", None)],
)
def test_page_file_and_rest_say_the_same_and_each_number_opens_its_traces(shown, split, parts):
    rows = shown.get(f"{REST}?by={split}").json()
    assert [row["part"] for row in rows] == (parts if parts is not None else [str(timezone.localdate())])
    file = list(csv.DictReader(io.StringIO(b"".join(shown.get(f"{ROWS}?by={split}").streaming_content).decode())))
    assert [(row["part"], int(row["traces"]), float(row["cost"])) for row in file] == [
        (row["part"], row["traces"], row["cost"]) for row in rows
    ]
    page = shown.get(f"{PAGE}?by={split}").content.decode()
    for line, row in zip(re.findall(r"<tr><th scope=\"row\".*?</tr>", page, re.DOTALL), rows, strict=True):
        links = re.findall(r'<a\s+href="([^"]+)"', line)
        counts = [row["traces"], row["costed"], *([row["looped"]] if row["looped"] else [])]
        listed = [shown.get(each.replace("&amp;", "&")).content.decode().count('class="trace-name"') for each in links]
        assert listed == counts


def test_the_row_without_a_version_opens_the_traces_without_one(shown, token):
    send(shown, token, export(*conversation(f"{9:032x}"), version=""))
    traces_settle()
    for page in (PAGE, "/p/shop/traces/tools/?by=version"):
        lines = re.findall(r"<tr><th scope=\"row\".*?</tr>", shown.get(page).content.decode(), re.DOTALL)
        links = [each.replace("&amp;", "&") for each in re.findall(r'href="([^"]+)"', "".join(lines))]
        (without,) = {
            each for each in links if "without=version" in each and "error=" not in each and "_ms" not in each
        }
        listed = shown.get(without).content.decode()
        assert re.findall(r'class="trace-name"', listed) == ['class="trace-name"']
        assert "<option selected>version</option>" in listed
    assert shown.get("/api/v1/projects/shop/traces/?without=colour").status_code == 422
    assert shown.get("/api/v1/projects/shop/traces/?without=session").json()["results"] == []


def test_days_that_are_too_many_or_wrong_are_refused(shown):
    for wrong in ("since=2020-01-01", "since=soon"):
        assert shown.get(f"{ROWS}?{wrong}").status_code == 400
        assert shown.get(f"{REST}?{wrong}").status_code == 422
    assert "more than 92 days" in shown.get(f"{PAGE}?since=2020-01-01").content.decode()
    assert "No traces in this period." in shown.get(f"{PAGE}?until=2020-01-31").content.decode()


def test_the_page_asks_few_questions(shown, django_assert_max_num_queries):
    with django_assert_max_num_queries(7):
        assert shown.get(f"{PAGE}?by=day").status_code == 200
