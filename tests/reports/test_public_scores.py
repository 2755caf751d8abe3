"""Published scores: recorded by owners with their history, beside an agent's runs, and never a gate."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from reports.models import PublicScore
from reports.public_scores.queries import public_rows
from reports.public_scores.services import public_score_record, public_score_withdraw
from tests.reports.building import cases_of
from tests.reports.reading import csv_rows, text
from toolevals.runs.models import Agent, Run
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.models import AuditEntry, Project, User

pytestmark = pytest.mark.django_db
SCORE: dict[str, Any] = {
    "benchmark": "BFCL",
    "version": "v4",
    "agent": "agent",
    "metric": "overall",
    "value": 0.7,
    "count": 200,
    "published_on": date(2026, 3, 1),
    "source": "https://example.org/leaderboard",
}
SENT = {**SCORE, "published_on": "2026-03-01"}
HEAD = "benchmark,version,agent,metric,value,count,published_on,source\n"


@pytest.fixture
def keeper(client: Client, owner: User) -> Client:
    """A browser with an owner signed in."""
    client.force_login(owner)
    return client


def record(project: Project, **changed: Any) -> PublicScore:
    return public_score_record(project=project, actor=None, score=SCORE | changed)


def address(name: str, project: Project, *args: Any) -> str:
    return reverse(name, args=[project.slug, *args])


def test_the_same_again_replaces_and_nothing_is_forgotten(project, owner):
    first = record(project)
    assert record(project).pk == first.pk
    second = public_score_record(project=project, actor=owner, score=SCORE | {"value": 0.72})
    other = record(project, metric="irrelevance")
    first.refresh_from_db()
    assert (first.ended_at is not None, first.ended_by, first.value) == (True, owner, 0.7)
    assert set(PublicScore.objects.in_project(project).in_force()) == {second, other}
    public_score_withdraw(score=second, actor=owner)
    public_score_withdraw(score=second, actor=owner)
    assert PublicScore.objects.count() == 3
    kept = AuditEntry.objects.filter(target_type="reports.publicscore").order_by("id")
    verbs = list(kept.values_list("verb", flat=True))
    assert verbs == ["public_score_record"] * 3 + ["public_score_withdraw"]


def test_an_owner_records_on_the_page(keeper, project):
    here = address("reports:benchmarks", project)
    assert keeper.post(here, SENT).status_code == 302
    page = text(keeper.get(here))
    assert "BFCL" in page
    assert "public, not a gate" in page
    assert 'href="https://example.org/leaderboard"' in page
    # 140 of 200.
    assert "63.3 to 76.0" in page
    score = PublicScore.objects.get()
    keeper.post(address("reports:benchmark-withdraw", project, score.pk))
    assert "No published score is recorded." in text(keeper.get(here))
    assert "until" in text(keeper.get(here, {"history": "all"}))
    rows = csv_rows(keeper.get(address("reports:benchmarks-csv", project)))
    assert [(row["value"], row["count"], bool(row["ended_at"])) for row in rows] == [("0.7", "200", True)]


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"source": "javascript:alert(1)"}, "source"),
        ({"source": "ftp://example.org/"}, "source"),
        ({"value": "70"}, "value"),
        ({"value": "nan"}, "value"),
        ({"count": "0"}, "count"),
        ({"published_on": "yesterday"}, "published_on"),
        ({"published_on": "2999-01-01"}, "published_on"),
        ({"benchmark": ""}, "benchmark"),
    ],
)
def test_what_is_wrong_is_said_at_its_field(keeper, project, changed, field):
    refused = keeper.post(address("reports:benchmarks", project), SENT | changed)
    assert refused.status_code == 422
    assert list(refused.context["form"].errors) == [field]
    sent = keeper.post(address("reports-api:benchmarks", project), SENT | changed, content_type="application/json")
    assert sent.status_code in (400, 422)
    assert f"/{field}" in sent.content.decode()
    assert not PublicScore.objects.exists()


def test_a_file_is_taken_whole_or_not_at_all(keeper, project):
    here = address("reports:benchmarks-import", project)
    good = "BFCL,v4,agent,overall,0.7,200,2026-03-01,https://example.org/\n"
    bad = "BFCL,v4,agent,live,70,200,2026-03-01,https://example.org/\n"
    refused = keeper.post(here, {"file": SimpleUploadedFile("s.csv", (HEAD + good + bad).encode())})
    assert refused.status_code == 422
    assert "line 3, value: A share from 0 to 1: write 0.42 for 42 %." in text(refused)
    assert not PublicScore.objects.exists()
    for wrong, words in (
        (b"\xff", "is not UTF-8"),
        (b"a,b\n", "the header row is missing benchmark"),
        (HEAD.encode(), "no score"),
    ):
        assert words in text(keeper.post(here, {"file": SimpleUploadedFile("s.csv", wrong)}))
    taken = keeper.post(
        here, {"file": SimpleUploadedFile("s.csv", (HEAD + good + good.replace("0.7", "0.8")).encode())}
    )
    assert taken.status_code == 302
    assert list(PublicScore.objects.in_force().values_list("value", flat=True)) == [0.8]
    by_rest = address("reports-api:benchmarks-import", project)
    sent = keeper.post(by_rest, {"file": SimpleUploadedFile("s.csv", (HEAD + bad).encode())})
    assert "/2/value" in sent.content.decode()


def test_by_rest(keeper, project):
    here = address("reports-api:benchmarks", project)
    made = keeper.post(here, SENT, content_type="application/json")
    assert made.status_code == 201
    assert made.json()["value"] == 0.7
    unknown = keeper.post(here, SENT | {"rank": 1}, content_type="application/json")
    assert "/rank" in unknown.content.decode()
    one = address("reports-api:benchmark", project, made.json()["id"])
    assert keeper.get(one).json()["ended_at"] is None
    assert keeper.delete(one).status_code == 204
    assert keeper.get(here).json()["results"] == []
    assert len(keeper.get(here, {"history": "all"}).json()["results"]) == 1


def test_they_stand_beside_the_runs_of_what_they_name(get, build, project):
    before = build.grading(cases_of({("a", "a"): 9, ("a", "b"): 3}))
    after = build.again(before, [[case] for case in cases_of({("a", "a"): 10, ("a", "b"): 2})], agent="other")
    assert "public-scores" not in text(get("run", before))
    record(project, agent="Agent", metric="for the first")
    record(project, agent="somebody else", metric="for nobody")
    Agent.objects.filter(name="other").update(model="m-2")
    record(project, agent="M-2", metric="for the second", count=None)
    page = text(get("run", before))
    assert ("for the first" in page, "for the second" in page, "for nobody" in page) == (True, False, False)
    assert "public, not a gate" in page
    both = text(get("compare", before, after.run.number))
    assert ("for the first" in both, "for the second" in both, "for nobody" in both) == (True, True, False)
    trends = text(get("run", before).client.get(address("reports:trends", project, "nightly")))
    assert ("for the second" in trends, "public, not a gate" in trends) == (True, True)
    sent = get("api:run-benchmarks", after).json()
    assert [(row["metric"], row["rate"], row["run"]) for row in sent] == [("for the second", None, None)]


def test_own_runs_on_an_imported_benchmark_count_too(build, project, owner):
    public = build.grading(cases_of({("a", "a"): 3, ("a", "b"): 1}))
    dataset = public.dataset_version.dataset
    own = build.grading(cases_of({("a", "a"): 2}))
    assert public_rows(own.run.agent) == ()
    detail = {"job": "00000000-0000-0000-0000-000000000000", "source": "bfcl"}
    audit_record(project=project, actor=owner, verb="import_start", target=dataset, detail=detail)
    (row,) = public_rows(own.run.agent)
    assert row.rate is not None
    assert (row.benchmark, row.run, row.rate.passed, row.rate.total) == ("BFCL", public.run.number, 3, 4)
    assert public_rows(public.run.agent, without=public.run) == ()
    Run.objects.filter(pk=public.run_id).update(baseline_agent="none")
    assert public_rows(own.run.agent) == ()


def test_hostile_text_is_shown_as_text(keeper, project):
    record(project, benchmark="<img src=x>", agent="<script>", source="https://example.org/?a='\"><b>")
    page = text(keeper.get(address("reports:benchmarks", project)))
    assert "<img" not in page
    assert "<script>" not in page.replace("<script ", "")
    assert "<b>" not in page.split("Published scores")[1].split("</table>")[0]
    record(project, metric="=1+1")
    rows = csv_rows(keeper.get(address("reports:benchmarks-csv", project)))
    assert "'=1+1" in {row["metric"] for row in rows}


def test_a_gate_of_a_run_refuses_them(client, adjudicator, build, project):
    grading = build.grading(cases_of({("a", "a"): 2}))
    record(project)
    client.force_login(adjudicator)
    asked = {"gate": {"bounds": [{"metric": "public:BFCL", "min": 0.5}]}}
    refused = client.post(
        address("reports-api:run-gates", project, grading.run.number), asked, content_type="application/json"
    )
    assert refused.status_code in (400, 422)
    assert "no gate uses baseline agents and public benchmarks" in refused.content.decode()
