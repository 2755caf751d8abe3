"""Re-reading on pages, by REST and in files: blind while it is open, each number with its cases once it is closed."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.urls import reverse

from tests.reports.reading import csv_rows, text
from tests.runs.rated import get, people
from tests.runs.reread import SIZE, read_all, read_run, rereading_made, truth
from toolevals.runs.models import Reading, Rereading
from toolevals.workspace.models import Role

__all__ = ["get", "people"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]
NOTE = "said-by-another-reader"


@pytest.fixture
def run(project, run_jobs):
    return read_run(project, run_jobs)


@pytest.fixture
def rereading(run):
    return rereading_made(run)


def test_an_adjudicator_draws_the_cases_and_a_reader_goes_from_one_to_the_next(client, project, people, run):
    client.force_login(people[Role.ADJUDICATOR])
    new = reverse("runs:rereading-new", args=[project.slug, run.number, run.grading.number])
    assert "One scored trial per example" in text(client.get(new))
    assert client.post(new, {"passed": 0, "failed": 8, "readers": 1}).status_code == 422
    drawn = client.post(new, {"passed": 10, "failed": 8, "readers": 1, "seed": "a"})
    found = Rereading.objects.get()
    assert drawn["Location"] == reverse("runs:rereading", args=[project.slug, found.pk])
    assert "still open" in text(client.post(new, {"passed": 1, "failed": 1, "readers": 1}))

    client.force_login(people[Role.REVIEWER])
    address = reverse("runs:reread", args=[project.slug, found.pk])
    for _ in range(18):
        html = client.get(address).content.decode()
        (named,) = re.findall(r'name="case" value="([0-9a-f-]{36})"', html)
        case = found.cases.get(pk=named)
        # Conversation and calls, and nothing that names the case, its gold or its verdict.
        assert "What is the status of order number" in html
        assert ("get_order_history" in html.partition("Tools</h3>")[0]) == (not case.passed)
        for told in ("core-", "verdict-", "passed", "failed", f"Run {run.number}", "ORD-2"):
            assert told not in html
        assert client.post(address, {"case": named, "value": truth(case), "note": ""}).status_code == 302
    assert client.get(address)["Location"] == drawn["Location"]
    assert Rereading.objects.get().has_results


def test_a_script_is_told_what_became_of_a_reading(client, project, people, rereading):
    reader = people[Role.REVIEWER]
    client.force_login(reader)
    address = reverse("runs:reread", args=[project.slug, rereading.pk])
    case = rereading.cases.left_for(reader).first()
    sent = {"X-Person": str(reader.pk), "HX-Request": "true", "X-Submission": "a" * 32}
    refused = client.post(address, {"case": case.pk, "value": "much"}, headers=sent)
    assert (refused.status_code, "X-Accepted" in refused) == (422, False)
    assert refused.json() == {"problems": [{"field": "value", "message": "Choose an answer."}]}
    for _ in range(2):
        taken = client.post(address, {"case": case.pk, "value": "right", "note": "yes"}, headers=sent)
        assert (taken.status_code, taken["X-Accepted"], taken["HX-Push-Url"]) == (200, "a" * 32, address)
    late = client.post(address, {"case": case.pk, "value": "wrong"}, headers=sent)
    assert (late.status_code, "X-Accepted" in late) == (409, False)
    assert late.json() == {"message": "You have read this case: the first reading counts.", "url": address}
    assert client.post(address, {"case": "none", "value": "right"}, headers=sent).status_code == 409
    assert Reading.objects.get().said == "right"


def test_a_refused_reading_keeps_what_was_typed(client, project, people, rereading):
    client.force_login(people[Role.REVIEWER])
    case = rereading.cases.left_for(people[Role.REVIEWER]).first()
    answer = client.post(
        reverse("runs:reread", args=[project.slug, rereading.pk]), {"case": case.pk, "note": "as I think"}
    )
    assert answer.status_code == 422
    assert "Choose an answer." in text(answer)
    assert "as I think" in text(answer)


def test_viewers_read_no_case_and_reviewers_draw_none(get, people, run, rereading):
    assert get(people[Role.VIEWER], "runs:reread", rereading.pk).status_code == 403
    assert get(people[Role.REVIEWER], "runs:rereading-new", run.number, run.grading.number).status_code == 403
    assert "Read</a>" not in text(get(people[Role.VIEWER], "runs:rereading", rereading.pk))


def test_hostile_text_of_a_case_is_shown_as_text(client, project, people, rereading):
    case = rereading.cases.left_for(people[Role.REVIEWER]).with_content().first()
    revision = case.case.transcript.entry.revision
    revision.input["messages"][0]["content"] = "<script>alert(1)</script>"
    revision.save()
    client.force_login(people[Role.REVIEWER])
    html = client.get(reverse("runs:reread", args=[project.slug, rereading.pk])).content.decode()
    assert "<script>alert(1)" not in html
    assert "&lt;script&gt;alert(1)" in html


def everything(get: Any, who: Any, run: Any, rereading: Any) -> dict[str, str]:
    """Return what each address says that could tell of readings, to somebody."""
    addresses = {
        "runs:rereading": [rereading.pk],
        "runs:rereading-csv": [rereading.pk],
        "runs-api:rereading": [rereading.pk],
        "runs-api:rereading-cases": [rereading.pk],
        "runs-api:rereadings": [run.number],
        "runs-api:run": [run.number],
        "reports:run": [run.number],
        "reports:golds": [run.number],
        "reports-api:layers": [run.number],
    }
    found = {}
    for name, arguments in addresses.items():
        answer = get(who, name, *arguments)
        body = b"".join(answer.streaming_content) if answer.streaming else answer.content
        found[name] = body.decode()
    return found


@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER, Role.OWNER])
def test_nobody_is_told_what_another_said_or_what_comes_of_it_before_it_is_closed(get, people, run, rereading, role):
    read_all(rereading, people[Role.ADJUDICATOR], NOTE, most=SIZE - 1)
    for name, said in everything(get, people[role], run, rereading).items():
        assert NOTE not in said, name
        assert "Corrected score:" not in said, name
    read_all(rereading, people[Role.ADJUDICATOR], NOTE)
    told = everything(get, people[role], run, rereading)
    assert {name for name, said in told.items() if NOTE in said} == {
        "runs:rereading",
        "runs:rereading-csv",
        "runs-api:rereading-cases",
    }
    assert {name for name, said in told.items() if "Corrected score" in said} >= {"reports:run", "runs-api:run"}


def test_each_number_opens_its_cases_and_the_file_holds_them(get, people, run, rereading):
    read_all(rereading, people[Role.REVIEWER], NOTE)
    owner = people[Role.OWNER]
    html = text(get(owner, "runs:rereading", rereading.pk))
    assert "?verdict=passed&amp;said=wrong" in html
    assert "<b>65.0 %</b>" in html
    listed = text(get(owner, "runs:rereading", rereading.pk, verdict="passed", said="wrong"))
    assert '<span class="num">2</span> cases' in listed
    assert "core-10" in listed
    assert "core-0<" not in listed
    rows = csv_rows(get(owner, "runs:rereading-csv", rereading.pk))
    assert len(rows) == SIZE
    (row,) = [row for row in rows if row["external_id"] == "core-13"]
    assert (row["verdict"], row["people"], row["said"], row["note"]) == ("failed", "right", "right", NOTE)
    assert row["reader"] == people[Role.REVIEWER].name
    some = csv_rows(get(people[Role.VIEWER], "runs:rereading-csv", rereading.pk, verdict="failed", said="right"))
    assert sorted(row["external_id"] for row in some) == ["core-12", "core-13", "core-14"]
    assert {row["reader"] for row in some} == {""}


def test_the_corrected_score_stands_beside_the_score(get, people, run, rereading):
    read_all(rereading, people[Role.REVIEWER])
    viewer = people[Role.VIEWER]
    said = "people judged 12 passed and 8 failed cases, drawn by chance. Corrected score: 65.0 %"
    assert said in text(get(viewer, "reports:run", run.number))
    golds = text(get(viewer, "reports:golds", run.number))
    assert "2</span> of 12 passed judged wrong" in golds
    assert "3</span> of 8 failed judged right" in golds
    for name in ("runs-api:run", "reports-api:layers"):
        corrected = get(viewer, name, run.number).json()["corrected"]
        assert corrected["value"] == pytest.approx(0.65)
        assert corrected["low"] < 0.65 < corrected["high"]
        assert [row["wrong"] for row in corrected["verdicts"]] == [2, 5]
        assert said in corrected["words"]


def test_by_rest_a_re_reading_is_drawn_read_and_closed(client, project, people, run):
    client.force_login(people[Role.ADJUDICATOR])
    made = client.post(
        reverse("runs-api:rereadings", args=[project.slug, run.number]),
        {"passed": 3, "failed": 3, "seed": "a"},
        content_type="application/json",
    )
    assert made.status_code == 201
    assert (made.json()["size"], made.json()["corrected"]) == (6, None)
    pk = made.json()["id"]
    readings = reverse("runs-api:readings", args=[project.slug, pk])
    for _ in range(6):
        case = client.get(readings).json()
        assert set(case) == {"id", "judge", "given"}
        assert set(case["given"]) == {"conversation", "done", "tools"}
        sent = client.post(readings, {"case": case["id"], "said": "right"}, content_type="application/json")
        assert sent.status_code == 201
    assert client.get(readings).status_code == 204
    done = client.get(reverse("runs-api:rereading", args=[project.slug, pk])).json()
    assert done["corrected"]["value"] == 1
    late = client.post(readings, {"case": case["id"], "said": "wrong"}, content_type="application/json")
    assert late.status_code == 422
    wrong = client.post(
        reverse("runs-api:rereadings", args=[project.slug, run.number]),
        {"grading": 9},
        content_type="application/json",
    )
    assert wrong.status_code == 422


def test_it_is_closed_and_cancelled_by_hand(client, project, people, run, rereading):
    client.force_login(people[Role.ADJUDICATOR])
    read_all(rereading, people[Role.REVIEWER], most=4)
    client.post(reverse("runs:rereading-cancel", args=[project.slug, rereading.pk]))
    assert "was cancelled" in text(client.get(reverse("runs:rereading", args=[project.slug, rereading.pk])))
    cases = client.get(reverse("runs-api:rereading-cases", args=[project.slug, rereading.pk]))
    assert cases.status_code == 409
    second = rereading_made(run, seed="b")
    assert client.post(reverse("runs-api:rereading-close", args=[project.slug, second.pk])).status_code == 200
    page = text(client.get(reverse("runs:rereading", args=[project.slug, second.pk])))
    assert "unknown: no passed case was judged" in page
    refused = client.post(reverse("runs-api:rereading-cancel", args=[project.slug, second.pk]))
    assert refused.status_code == 422
