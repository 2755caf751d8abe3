"""Other tools' verdicts on a run: page, files and interface agree, each count opens its cases, work is done once."""

from __future__ import annotations

import json
from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from reports.dialects import grade_with_dialects as making
from reports.dialects.analysis import AGREE, DIFFER, Pattern, dialects_of, dialects_sentence, patterns_like
from reports.dialects.grade_with_dialects import dialects_part, dialects_read, dialects_start
from reports.dialects.queries import dialects_shown
from reports.models import DialectCase, DialectReading
from tests.reports.building import Builder, Case, cases_of
from tests.reports.reading import csv_rows, text
from toolevals.grading.dialects.other_verdicts import COLUMNS, OURS
from toolevals.runs.models import Grading
from toolevals.workspace.jobs.leases import JobCancelled, batch_work
from toolevals.workspace.jobs.services import job_cancel
from toolevals.workspace.models import AuditEntry, Batch, JobState, Queue

pytestmark = pytest.mark.django_db
KEYS: list[dict[str, Any]] = [
    {"key": key, "package": "", "version": "", "metric": "", "options": {}, "looks_at": ""} for key in ("x", "y")
]


@pytest.fixture
def grading(build: Builder) -> Grading:
    """Nine right calls, three of another tool, two missed, one that was not reached and one without a prediction."""
    cells = {("a", "a"): 9, ("a", "b"): 3, ("a", "(none)"): 2}
    beside = [Case("a", "a", status="errored"), Case("a", "a", status="unscored"), Case("(none)", "a")]
    return build.grading([*cases_of(cells), *beside])


@pytest.fixture
def by_a_job(monkeypatch) -> None:
    monkeypatch.setattr(making, "READ_AT_ONCE", 1)
    monkeypatch.setattr(making, "SLICE", 4)


def verdicts_of(rows: list[dict[str, str]], tool: str) -> Counter[str]:
    return Counter(row["status"] for row in rows if row["tool"] == tool)


def test_page_files_and_interface_agree(get, grading):
    page = get("dialects", grading)
    found = page.context["dialects"]
    ours = found.tools[0]
    assert (ours.rate.passed, ours.rate.total, ours.unscored, ours.errored) == (9, 15, 1, 1)
    rows = csv_rows(get("dialects-csv", grading))
    assert [row["tool"] for row in rows] == [OURS, *COLUMNS]
    said = get("api:dialects", grading).json()
    for row, tool, sent in zip(rows, found.tools, said["tools"], strict=True):
        assert (row["passed"], row["failed"]) == (str(tool.rate.passed), str(tool.failed))
        assert (sent["rate"]["passed"], sent["unscored"], sent["errored"]) == (
            tool.rate.passed,
            tool.unscored,
            tool.errored,
        )
        assert tool.rate.total + tool.unscored + tool.errored == 17
        assert f">{tool.rate.passed}</a>" in text(page)
    exact = rows[1 + list(COLUMNS).index("adk.exact")]
    assert (exact["passed"], exact["failed"], exact["agree"], exact["kappa"]) == ("9", "6", "15", "1.0")
    free = rows[1 + list(COLUMNS).index("adk.in_order")]
    # Where nothing is expected it passes whatever was called.
    assert (free["passed"], free["agree"]) == ("10", "14")
    pairs = {(row["one"], row["other"]): row for row in csv_rows(get("dialect-pairs-csv", grading))}
    assert len(pairs) == len(said["pairs"]) == 17 * 16 / 2
    for pair in said["pairs"]:
        assert float(pairs[pair["one"], pair["other"]]["agree"] or 0) == pair["agreement"]["passed"]


def test_every_number_opens_its_cases(get, grading):
    found = get("dialects", grading).context["dialects"]
    for tool in found.tools:
        for how, count in (("passed", tool.rate.passed), ("failed", tool.failed), ("unscored", tool.unscored)):
            assert get("cases", grading, by=tool.key, said=how).context["count"] == count
    for pair in found.pairs:
        if "adk.in_order" not in (pair.one, pair.other):
            continue
        asked = {"by": pair.one, "beside": pair.other}
        assert get("cases", grading, **asked, said=AGREE).context["count"] == pair.agreement.passed
        assert get("cases", grading, **asked, said=DIFFER).context["count"] == pair.differ
        for row in pair.reasons:
            listed = get("cases", grading, **asked, said=DIFFER, rule=row.key)
            assert listed.context["count"] == row.count
    reasons = csv_rows(get("dialect-reasons-csv", grading))
    assert {
        "one": OURS,
        "other": "adk.in_order",
        "reason": "needless_call",
        "one_passes": "0",
        "other_passes": "1",
    } in [{key: row[key] for key in ("one", "other", "reason", "one_passes", "other_passes")} for row in reasons]


def test_cases_are_sent_with_every_verdict(get, grading):
    rows = csv_rows(get("dialect-cases-csv", grading))
    assert len(rows) == 17 * (1 + len(COLUMNS))
    assert verdicts_of(rows, OURS) == {"passed": 9, "failed": 6, "unscored": 1, "errored": 1}
    assert verdicts_of(rows, "deepeval") == {"passed": 9, "failed": 6, "unscored": 1, "errored": 1}
    some = csv_rows(get("dialect-cases-csv", grading, by="adk.in_order", said=DIFFER))
    assert [(row["status"], row["reason"]) for row in some if row["tool"] == "adk.in_order"] == [
        ("passed", "needless_call")
    ]
    sent = get("api:dialect-cases", grading, by="adk.in_order", said=DIFFER).json()["results"]
    assert [each["case_id"] for each in sent] == [some[0]["case_id"]]
    assert len(sent[0]["verdicts"]) == 1 + len(COLUMNS)


def test_a_case_shows_every_tool_whether_kept_or_not(get, grading):
    case = grading.cases.get(expected="(none)", actual="a")
    before = text(get("case", grading, case.pk))
    assert "Where no call is expected, the other evaluator passes any call." in before
    dialects_read(grading)
    assert DialectCase.objects.filter(case=case).exists()
    assert text(get("case", grading, case.pk)).count("adk.in_order") == before.count("adk.in_order")


def test_few_cases_are_read_at_once_and_only_once(get, grading):
    get("dialects", grading)
    first = DialectReading.objects.get()
    get("dialects", grading)
    assert DialectReading.objects.get().finished_at == first.finished_at
    assert DialectCase.objects.count() == 17


def test_many_cases_are_read_by_a_job_that_an_adjudicator_begins(by_a_job, client, get, grading, adjudicator, run_jobs):
    assert "An adjudicator can start this" in text(get("dialects", grading))
    assert get("api:dialects", grading).json()["tools"] is None
    assert get("api:dialect-cases", grading).status_code == 409
    assert get("dialects-csv", grading).status_code == 404
    assert get("cases", grading, by=OURS, said="passed").context["count"] == 0
    run = grading.run
    client.force_login(adjudicator)
    address = reverse("reports:dialects", args=[run.project.slug, run.number])
    assert client.post(address).status_code == 302
    assert client.post(address).status_code == 302
    assert AuditEntry.objects.filter(verb="dialects_start").count() == 1
    assert "Other evaluators are grading these calls" in text(client.get(address))
    run_jobs()
    reading = DialectReading.objects.select_related("job").get()
    assert reading.job is not None
    assert reading.job.state == JobState.SUCCEEDED
    assert reading.job.progress == (18, 18)
    assert {batch.queue for batch in reading.job.batches.all()} == {Queue.GRADE}
    by_job = json.dumps([reading.counts, reading.means])
    assert dialects_shown(reading).cases == 17
    DialectReading.objects.all().delete()
    making.READ_AT_ONCE = 1000  # type: ignore[misc]
    again = dialects_read(grading)
    assert again is not None
    assert json.dumps([again.counts, again.means]) == by_job


def test_a_worker_that_dies_counts_nothing_twice(by_a_job, grading, run_jobs):
    reading = dialects_start(grading=grading, actor=None)
    batch = Batch.objects.filter(job=reading.job, stage=0).earliest("number")

    def dies(lease):
        dialects_part(lease)
        raise RuntimeError("killed after it was done")

    batch_work(str(batch.pk), dies)
    batch_work(str(batch.pk), dialects_part)
    run_jobs()
    reading.refresh_from_db()
    assert dialects_shown(reading).cases == DialectCase.objects.count() == 17


def test_what_was_cancelled_writes_nothing_more_and_can_be_begun_anew(by_a_job, grading, adjudicator, run_jobs):
    reading = dialects_start(grading=grading, actor=adjudicator)
    batches = list(Batch.objects.filter(job=reading.job, stage=0).order_by("number"))
    batch_work(str(batches[0].pk), dialects_part)

    def cancelled(lease):
        job_cancel(job=Batch.objects.get(pk=batches[1].pk).job, actor=adjudicator)
        with pytest.raises(JobCancelled):
            dialects_part(lease)
        raise JobCancelled

    batch_work(str(batches[1].pk), cancelled)
    assert DialectCase.objects.count() == 4
    again = dialects_start(grading=grading, actor=adjudicator)
    assert again.job_id != reading.job_id
    run_jobs()
    again.refresh_from_db()
    assert dialects_shown(again).cases == DialectCase.objects.count() == 17


def test_hostile_text_is_shown_as_text(get, build):
    grading = build.grading([Case("<img src=x>", "<img src=x>")])
    case = grading.cases.get()
    assert "<img" not in text(get("case", grading, case.pk))
    assert "<img" not in text(get("dialects", grading))
    assert get("cases", grading, by="<img>", said=DIFFER).context["count"] == 0
    assert "<img" not in text(get("dialects", grading, one="<img>", other="<img>"))


STATUS = st.sampled_from(["p", "f", "u", "e"])
COUNTS = st.dictionaries(st.tuples(STATUS, STATUS, STATUS), st.integers(1, 30), max_size=20).map(
    lambda found: [(";".join(key), count) for key, count in found.items()]
)


@given(COUNTS)
def test_every_total_is_the_sum_of_what_is_behind_it(counts):
    found = dialects_of(KEYS, counts, {})
    sizes = dict(counts)
    for tool in found.tools:
        assert tool.rate.total + tool.unscored + tool.errored == found.cases
    for pair in found.pairs:
        agree, differ = (patterns_like(found, pair.one, pair.other, how) for how in (AGREE, DIFFER))
        assert sum(sizes[each] for each in agree) == pair.agreement.passed
        assert sum(sizes[each] for each in differ) == pair.differ == sum(row.count for row in pair.reasons)
        for row in pair.reasons:
            behind = patterns_like(found, pair.one, pair.other, DIFFER, row.key)
            assert sum(sizes[each] for each in behind) == row.count
        turned = found.pair(pair.other, pair.one)
        assert turned.agreement == pair.agreement
        assert turned.kappa.value == pytest.approx(pair.kappa.value)


def test_agreement_and_kappa_by_hand():
    """20 both pass, 15 both fail, 5 + 10 differ: p_o = .7, p_e = .5 · .6 + .5 · .4 = .5, kappa = .4."""
    counts = [("p;p;u", 20), ("f;f;u", 15), ("p;f:order;u", 5), ("f;p:extra_call;e", 10), ("u;p;p", 3)]
    found = dialects_of(KEYS, counts, {"x": 0.5})
    pair = found.pair(OURS, "x")
    assert (pair.agreement.passed, pair.agreement.total) == (35, 50)
    assert pair.kappa.value == pytest.approx(0.4)
    assert [(row.name, row.rule_of, row.one_passes, row.other_passes) for row in pair.reasons] == [
        ("extra_call", "x", 0, 10),
        ("order", "x", 5, 0),
    ]
    assert [(row.name, row.count) for row in found.pair("x", "y").reasons] == []
    assert dialects_sentence(found).startswith("50 % of the calls pass here; by other evaluators")


def test_of_two_others_the_one_that_differs_from_us_has_the_reason():
    found = dialects_of(KEYS, [("p;p;f:order", 4), ("f;p:extra_call;f", 2), ("u;p;f", 1)], {})
    assert [(row.name, row.rule_of, row.one_passes) for row in found.pair("x", "y").reasons] == [
        ("order", "y", 4),
        ("extra_call", "x", 2),
        ("no_verdict_of_ours", "", 1),
    ]


def test_a_pattern_is_read_as_it_was_written():
    own, other = SimpleNamespace(status="failed"), SimpleNamespace(status="passed", reason="order")
    pattern = Pattern.of_case(own, [other])  # type: ignore[arg-type, list-item]
    assert str(pattern) == "f;p:order"
    assert Pattern.from_text("f;p:order") == pattern


def test_pages_cost_few_queries(get, grading, django_assert_max_num_queries):
    dialects_read(grading)
    with django_assert_max_num_queries(14):
        get("dialects", grading)


def test_an_outsider_finds_nothing(grading, outsider):
    browser = Client()
    browser.force_login(outsider)
    run = grading.run
    assert browser.get(reverse("reports:dialects", args=[run.project.slug, run.number])).status_code == 404
