"""Follows online rules over days: counts, rates with intervals, and the traces behind each."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import pytest
from django.utils import timezone

from tests.traces.sending import conversation, export, send
from toolevals.grading.metrics.clustered import ExampleSums, clustered_interval
from toolevals.traces.production.rule_trends import rule_trends, trend_filter
from toolevals.traces.reading.services import traces_settle

PAGE, ROWS, REST = "/p/shop/traces/rules/", "/p/shop/traces/rules.csv", "/api/v1/projects/shop/traces/rules/"


@pytest.fixture
def shown(client, token, viewer, settings) -> Any:
    """Five traces of today; the arguments of two do not fit the schema; the last is of another version."""
    settings.TRACES_QUIET_SECONDS = 0
    for number in range(1, 6):
        spans = conversation(f"{number:032x}", arguments={"nr": 7} if number < 3 else None)
        send(client, token, export(*spans, version="1.5.0" if number == 5 else "1.4.0"))
    traces_settle()
    client.force_login(viewer)
    return client


def test_verdicts_are_counted_by_day(shown, project):
    (schema,) = [each for each in rule_trends(project, trend_filter({})) if each.rule.name == "schema"]
    (day,) = schema.days
    assert (day.day, day.passed, day.failed, day.unscored) == (timezone.localdate(), 3, 2, 0)
    assert day.rate.interval == clustered_interval(ExampleSums.single(3, 5))
    (of_version,) = rule_trends(project, trend_filter({"version": "1.5.0"}))[0].days
    assert (of_version.passed, of_version.failed) == (1, 0)
    assert rule_trends(project, trend_filter({"until": "2020-01-31"})) == []


def test_each_number_opens_its_traces(shown):
    page = shown.get(PAGE).content.decode()
    (section,) = re.findall(r'id="r-schema".*?</section>', page, re.DOTALL)
    links = re.findall(r'<a href="([^"]+)">(.*?)</a>', section)
    assert [words for _, words in links][1:] == ["60.0", "3", "2"]
    for (address, _), count in zip(links, (5, 5, 3, 2), strict=True):
        listed = shown.get(address.replace("&amp;", "&")).content.decode()
        assert listed.count('class="trace-name"') == count


def test_the_file_and_rest_say_the_same(shown):
    file = b"".join(shown.get(ROWS)).decode("utf-8-sig")
    rows = {row["rule"]: row for row in csv.DictReader(io.StringIO(file))}
    answers = {row["rule"]: row for row in shown.get(REST).json()}
    assert set(rows) == set(answers) >= {"schema", "shape", "loops"}
    assert (rows["schema"]["passed"], rows["schema"]["failed"], rows["schema"]["traces"]) == ("3", "2", "5")
    answer = answers["schema"]
    assert (answer["passed"], answer["failed"], answer["rate"]) == (3, 2, 0.6)
    assert answer["interval"]["low"] == float(rows["schema"]["rate_low"]) < 0.6 < answer["interval"]["high"]


def test_too_many_days_and_wrong_ones_are_refused(shown):
    for wrong in ("since=2020-01-01", "since=soon"):
        assert shown.get(f"{ROWS}?{wrong}").status_code == 400
        assert shown.get(f"{REST}?{wrong}").status_code == 422
    assert "more than 92 days" in shown.get(f"{PAGE}?since=2020-01-01").content.decode()


def test_the_page_asks_few_questions(shown, django_assert_max_num_queries):
    with django_assert_max_num_queries(7):
        shown.get(PAGE)
