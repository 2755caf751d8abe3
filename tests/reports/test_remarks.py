"""Tags, notes and trials on the page of a case."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from tests.reports.building import Case
from tests.reports.reading import csv_rows, text
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.models import CaseNote, CaseTag
from toolevals.runs.remarks.services import note_add, tag_add, tag_remove
from toolevals.workspace.models import AuditEntry

pytestmark = pytest.mark.django_db


@pytest.fixture
def grading(build):
    return build.tried([[Case("a", "a"), Case("a", "b"), Case("a", "(none)")], [Case("b", "b")] * 3])


@pytest.fixture
def case(grading):
    return grading.cases.get(actual="b", expected="a")


@pytest.fixture
def browser(reviewer):
    """A browser of the reviewer's own."""
    own = Client()
    own.force_login(reviewer)
    return own


@pytest.fixture
def post(browser, project, case):

    def send(name, **data):
        address = reverse(f"reports:{name}", args=[project.slug, case.grading.run.number, case.pk])
        return browser.post(f"{address}?expected=a&actual=b", data)

    return send


def test_a_tag_is_given_found_again_and_taken_off(post, get, case):
    answer = post("case-tag", tag="  two   intents ")
    assert answer.url.endswith("?expected=a&actual=b#remarks")
    assert [each.tag for each in case.transcript.tags.all()] == ["two intents"]
    post("case-tag", tag="two intents")
    assert CaseTag.objects.count() == 1
    rows = csv_rows(get("cases-csv", case.grading, tagged="two intents"))
    assert [row["case_id"] for row in rows] == [str(case.pk)]
    assert "two intents" in text(get("case", case.grading, case.pk))
    post("case-tag", remove="two intents")
    assert not CaseTag.objects.exists()
    verbs = list(AuditEntry.objects.order_by("pk").values_list("verb", flat=True))
    assert verbs[-2:] == ["case_tag_add", "case_tag_remove"]


def test_notes_stay_with_what_was_done_and_hostile_text_is_shown_as_text(post, get, case):
    post("case-note", text="<script>alert(1)</script>\nsecond line")
    html = get("case", case.grading, case.pk).content.decode()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;<br>second line" in html
    assert CaseNote.objects.get().transcript_id == case.transcript_id


@pytest.mark.parametrize(
    ("name", "data"), [("case-tag", {"tag": " "}), ("case-tag", {"tag": "x" * 41}), ("case-note", {})]
)
def test_what_is_no_remark_is_said_and_not_kept(post, browser, name, data):
    page = browser.get(post(name, **data).url.partition("#")[0])
    assert "No tag: it" in text(page) or "No note: it" in text(page)
    assert not CaseTag.objects.exists()
    assert not CaseNote.objects.exists()


def test_a_case_has_twenty_tags_at_most(case, reviewer):
    for place in range(20):
        tag_add(transcript=case.transcript, actor=reviewer, tag=f"tag {place}")
    with pytest.raises(InvalidDocument, match="one too many"):
        tag_add(transcript=case.transcript, actor=reviewer, tag="another")
    tag_remove(transcript=case.transcript, actor=reviewer, tag="never there")
    assert case.transcript.tags.count() == 20


def test_a_viewer_reads_remarks_and_writes_none(get, client, project, case, reviewer):
    note_add(transcript=case.transcript, actor=reviewer, text="Ambiguous.")
    tag_add(transcript=case.transcript, actor=reviewer, tag="odd")
    html = text(get("case", case.grading, case.pk))
    assert "Ambiguous." in html
    assert 'name="tag"' not in html
    address = reverse("reports:case-tag", args=[project.slug, case.grading.run.number, case.pk])
    assert client.post(address, {"tag": "mine"}).status_code == 403


def test_trials_stand_side_by_side(get, case):
    html = text(get("case", case.grading, case.pk))
    beside = html.partition("Trials side by side")[2].partition("</section>")[0]
    assert [f"Trial {number}<" in beside for number in (1, 2, 3, 4)] == [True, True, True, False]
    assert beside.count('aria-current="true"') == 1
    assert "wrong tool" in beside
    assert "missed call" in beside
    assert "{&quot;id&quot;: 1}" in beside


def test_one_trial_has_nothing_beside_it(get, build):
    grading = build.grading([Case("a", "b")])
    assert "Trials side by side" not in text(get("case", grading, grading.cases.get().pk))
