"""The overview of a run."""

from __future__ import annotations

import re
from html import escape, unescape
from typing import Any

import pytest
from django.urls import reverse

from reports.rates import rate
from reports.run.views import MOST_TOOLS
from tests.reports.building import Case, cases_of
from tests.reports.reading import csv_rows, table, text
from tests.runs.building import REFUND, STATUS, call, example, uploaded_run, version_of
from toolevals.grading.engine.grader_catalog import TAGS
from toolevals.grading.values.verdicts import NONE
from toolevals.runs.models import Grading, Run

pytestmark = pytest.mark.django_db
CASES = [
    *cases_of({("a", "a"): 30, ("a", "b"): 6, ("b", "b"): 20, (NONE, NONE): 10, (NONE, "b"): 2}),
    *(Case("a", "a", wrong_value=True) for _ in range(4)),
    *(Case("a", "a", status="errored") for _ in range(3)),
    Case("a", "a", status="unscored"),
]


@pytest.fixture
def grading(build):
    return build.grading(CASES)


def test_it_opens_with_a_sentence_and_its_numbers(get, grading):
    html = text(get("run", grading))
    assert (
        "Nearly always formats well, sometimes chooses the wrong tool, and usually fills in the right values." in html
    )
    assert "60 of 72</b> scored cases passed" in html
    assert "83.3 % (72.7 to 90.5)" in html


def test_what_was_not_scored_stands_beside(get, grading):
    html = text(get("run", grading))
    assert '1</span> unscored, <span class="num">3</span> errored of <span class="num">76</span>' in html
    assert "status=errored" in html


def test_the_funnel_leads_to_the_cases_that_were_lost(get, grading):
    page = get("run", grading)
    funnel = table(page, "funnel")
    assert [row[2] for row in funnel[1:3]] == ["−8", "−4"]
    lost = csv_rows(get("cases-csv", grading, column="selection", status="failed"))
    assert len(lost) == 8
    assert {row["selection"] for row in lost} == {"failed"}


def test_modes_lead_to_their_cases(get, grading):
    html = text(get("run", grading))
    for mode, number in (("wrong_tool", 6), ("needless_call", 2), ("wrong_value", 4)):
        assert f"?mode={mode}" in html
        assert len(csv_rows(get("cases-csv", grading, mode=mode))) == number


@pytest.mark.parametrize("trials", [1, 2])
def test_each_failed_case_stands_once_in_the_table_and_every_number_opens_its_cases(get, build, trials):
    grading = build.tried([[case] * trials for case in CASES], trials=trials)
    page = get("run", grading)
    rows = page.context["failures"]
    assert sum(row.rate.passed for row in rows) == page.context["failed"] == 12 * trials
    links = re.findall(r'href="([^"]+/cases/\?mode=[^"]+)"[^>]*>(.*?)</a>', text(page))
    counted = [(unescape(address), number_at_end(said)) for address, said in links]
    assert len(counted) == len(rows) + sum(len(row.pairs) for row in rows) == 6
    for address, count in counted:
        assert page.client.get(address).context["count"] == count
    for row in rows:
        example = page.client.get(reverse("reports:case", args=[grading.run.project.slug, 1, row.case]))
        assert row.external_id in text(example)
        one = rate(row.rate.passed, row.rate.total)
        # Trials of one example are alike, so that they tell less than as many examples.
        wide, alone = (each.interval.high - each.interval.low for each in (row.rate, one) if each.interval)
        assert wide > alone if trials == 2 else wide == alone


def number_at_end(link: str) -> int:
    words = re.sub("<[^>]+>", "", link).split()
    return int(words[0] if "of" in words else words[-1])


@pytest.mark.parametrize(
    ("sort", "first", "words"),
    [
        ("", "b", "worst F1 first"),
        ("n", "a", "most cases first"),
        ("recall", "(none)", "worst recall first"),
        ("lost", "b", "most often mistaken first"),
        ("name", "(none)", "by name"),
        ("<b>", "b", "worst F1 first"),
    ],
)
def test_tools_are_sorted_by_the_heads_of_their_table(get, build, sort, first, words):
    cells = {("a", "a"): 9, ("a", "b"): 3, ("b", "b"): 1, ("(none)", "b"): 2, ("(none)", "(none)"): 1}
    page = get("run", build.grading(cases_of(cells)), sort=sort)
    assert table(page, "tools")[1][0] == first
    assert words in text(page)


def test_tools_below_the_goal_are_marked(get, grading):
    page = get("run", grading)
    assert [row[0] for row in table(page, "tools")[1:]] == ["b", NONE, "a"]
    assert text(page).count('class="low"') == 3


def test_only_the_worst_of_many_tools_are_listed(get, build):
    cells = {(f"t{place:02}", f"t{place:02}"): 1 for place in range(MOST_TOOLS + 5)}
    grading = build.grading(cases_of(cells))
    page = get("run", grading)
    assert len(table(page, "tools")) == MOST_TOOLS + 1
    assert f"All {MOST_TOOLS + 5} tools" in text(page)
    assert len(table(get("run", grading, tools="all"), "tools")) == MOST_TOOLS + 6


def test_a_run_of_errors_has_no_rate(get, build):
    html = text(get("run", build.grading([Case("a", "a", status="errored") for _ in range(12)])))
    assert "No scored cases." in html
    assert "No case has a place in the matrix." in html
    assert "No scored cases." in html


def test_the_last_runs_stand_beside_as_small_pictures(get, build):
    first = build.grading(CASES)
    assert "Over the last" not in text(get("run", first))
    version = first.dataset_version
    second = build.grading(CASES)
    assert second.dataset_version != version
    # Another version: not comparable, so nothing to draw.
    assert "Over the last" not in text(get("run", second))
    # The same version, graded on the same gold.
    Run.objects.filter(pk=second.run_id).update(dataset_version=version)
    Grading.objects.filter(pk=second.pk).update(dataset_version=version)
    assert "Trend over the last 2 runs" in text(get("run", second))


def test_a_run_on_old_gold_is_stale(get, grading):
    from labeling.models import DatasetVersion

    assert "Out of date" not in text(get("run", grading))
    DatasetVersion.objects.create(dataset=grading.dataset_version.dataset, number=2, size=0)
    assert "Out of date: v2 is newer" in text(get("run", grading))


def test_its_cost_is_bounded(get, grading, django_assert_max_num_queries):
    get("run", grading)
    with django_assert_max_num_queries(18):
        get("run", grading)


def test_each_tag_is_explained_and_leads_to_its_cases(get, grading):
    html = text(get("run", grading))
    for tag, number in (("WRONG_ANSWER", 12), ("ADAPTER_ERROR", 3)):
        assert escape(TAGS[tag].meaning) in html
        assert escape(TAGS[tag].to_do) in html
        assert get("cases", grading, tag=tag).context["count"] == number


def test_right_answers_by_wrong_tools_are_counted_when_it_finishes_and_open(project, get, run_jobs):
    said = example("status", "Where is ORD-1?", STATUS) | {"expectation": expects_status("on its way")}
    del said["expected_tool"], said["expected_args"]
    version = version_of(project, [said])
    lucky = call("status", REFUND) | {"answer": "It is on its way."}
    run = uploaded_run(project, version, [lucky, call("status", STATUS, 1) | {"answer": "It is on its way."}], trials=2)
    run_jobs()
    grading = Grading.objects.select_related("run__project").get(run=run)
    assert "1</span> case with a right answer but wrong tool calls</a> (latent bugs)" in text(get("run", grading))
    opened = get("cases", grading, latent="selection")
    assert [case.trial for case in opened.context["cases"]] == [1]


def expects_status(fact: str) -> dict[str, Any]:
    expected = {"tool": STATUS, "arguments": {"order_id": {"exact": "ORD-1"}}}
    return {"kind": "calls", "alternatives": [{"ordered": [expected]}], "answer": {"contains": [fact]}}
