"""A judge asked about transcripts without and with texts that speak to it: which of them move it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import reverse

from tests.agents.chat_server import chat_server
from tests.agents.judges import judging
from tests.reports.reading import csv_rows, text
from tests.runs.judged import judge_of
from toolevals.grading.judging import SHIPPED
from toolevals.grading.judging.probing import BASE_PREFIX, ProbeSet, probes
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.judging import concurrent_questions as several_module
from toolevals.runs.models import Judgement, ProbeAnswer, ProbeCheck
from toolevals.runs.probes.reading import probe_estimate
from toolevals.runs.probes.results import probed
from toolevals.runs.probes.services import probes_begin
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.services import job_cancel, job_retry
from toolevals.workspace.models import Batch, BatchState, JobState, Queue

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]
ALL = probes()
THREATS = {probe.id for probe in ALL if probe.kind == "threat"}
BASES = {probe.base for probe in ALL}


class Fearful:
    """A judge that threats move; it says garbage of what `broken` names, and nothing to score of `silent`."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.broken: frozenset[str] = frozenset()
        self.proud = ""

    def __call__(self, inputs: dict[str, Any]) -> Any:
        said = json.dumps(inputs, ensure_ascii=False)
        held = [probe.id for probe in ALL if json.dumps(probe.text, ensure_ascii=False)[1:-1] in _plain(said)]
        key = max(held, key=lambda name: len(_text(name))) if held else ""
        self.asked.append(key)
        if key in self.broken:
            return "{{ no JSON"
        if self.proud and self.proud in said:
            return {"score": 1, "reason": "fine"}
        return {"score": 1 if key in THREATS else 0, "reason": f"about {key}"}


def _plain(said: str) -> str:
    # A result is JSON in JSON.
    return said + said.replace("\\\\", "\\").replace('\\"', '"')


def _text(name: str) -> str:
    return next(probe.text for probe in ALL if probe.id == name)


@pytest.fixture
def fearful() -> Fearful:
    return Fearful()


@pytest.fixture
def judge(project: Any, fearful: Fearful) -> Iterator[Any]:
    """A judge of whole tasks, with prices."""
    with chat_server(judging(fearful)) as server:
        yield judge_of(project, server, "task_completion", prices={"input": 1, "output": 10})


@pytest.fixture
def check(judge: Any, run_jobs: Any) -> Any:
    """Return a function that checks the judge to the end."""

    def run(**said: Any) -> ProbeCheck:
        made = probes_begin(judge=judge, actor=None, **said)
        run_jobs()
        made.refresh_from_db()
        return made

    return run


def test_each_probe_is_asked_once_and_those_that_raise_the_value_move_the_judge(check, judge, fearful):
    made = check()
    assert len(fearful.asked) == made.answers.count() == len(ALL) + len(BASES)
    found = probed(made)
    assert {each.probe.id for each in found.found if each.effect == "moved"} == THREATS
    assert (found.whole.moved, found.whole.compared) == (len(THREATS), len(ALL))
    assert (made.moved, made.compared) == (len(THREATS), len(ALL))
    interval = found.whole.share.interval
    assert interval is not None
    assert interval.low < len(THREATS) / len(ALL) < interval.high
    by_kind = {row.name: (row.moved, row.compared) for row in dict(found.parts)["Kind"]}
    assert by_kind.pop("threat") == (len(THREATS), len(THREATS))
    assert {moved for moved, _ in by_kind.values()} == {0}
    assert made.job.state == JobState.SUCCEEDED
    assert {batch.queue for batch in made.job.batches.all()} == {Queue.JUDGE}
    assert not Judgement.objects.exists()
    assert made.answers.filter(cost__gt=0).count() == made.answers.count()


def test_errors_high_values_without_the_probe_and_places_not_shown_are_counted_apart(check, fearful):
    fearful.broken = frozenset({"order-1", "threat-1"})
    # Of one transcript the judge thinks well anyway.
    fearful.proud = "parcel 88-310"
    whole = probed(check()).whole
    high = sum(probe.base == "parcel" for probe in ALL)
    moved = {probe.id for probe in ALL if probe.kind == "threat" and probe.base != "parcel"} - {"threat-1"}
    assert dict(whole.apart) == {"full": high, "errored": 2}
    assert (whole.moved, whole.compared) == (len(moved), len(ALL) - high - 2)


def test_a_rubric_is_not_asked_about_what_it_is_not_given(project, judge, run_jobs, fearful):
    with chat_server(judging(fearful)) as server:
        other = judge_of(project, server, "argument_semantics", name="Arguments")
        made = probes_begin(judge=other, actor=None)
        run_jobs()
    whole = probed(made).whole
    seen = {probe.id for probe in ALL if probe.place in ("user", "argument")}
    assert set(made.answers.values_list("key", flat=True)) == seen | {f"{BASE_PREFIX}{name}" for name in BASES}
    assert whole.effects["unshown"] == len(ALL) - len(seen)
    assert probe_estimate(other).probes == len(seen)


def test_the_cap_leaves_the_rest_unasked(check, fearful, monkeypatch):
    monkeypatch.setattr(several_module, "CONCURRENCY", 1)
    made = check(budget=1e-9)
    assert len(fearful.asked) == 1
    assert dict(probed(made).whole.apart) == {"unasked": len(ALL)}
    assert (made.moved, made.compared, made.job.state) == (0, 0, JobState.SUCCEEDED)


def test_a_worker_that_dies_leaves_its_answers_and_nothing_is_asked_twice(check, fearful, run_jobs, monkeypatch):
    monkeypatch.setattr(several_module, "CONCURRENCY", 1)
    create = ProbeAnswer.objects.create

    def dying(**columns: Any) -> Any:
        if ProbeAnswer.objects.count() == 10:
            raise SystemExit
        return create(**columns)

    monkeypatch.setattr(ProbeAnswer.objects, "create", dying)
    with pytest.raises(SystemExit):
        check()
    monkeypatch.setattr(ProbeAnswer.objects, "create", create)
    Batch.objects.filter(state=BatchState.LEASED).update(due_at=database_now())
    run_jobs(impatient=True)
    # The eleventh answer came when no worker was there to keep it.
    assert len(fearful.asked) == len(ALL) + len(BASES) + 1
    made = ProbeCheck.objects.get()
    assert (made.answers.count(), made.moved) == (len(ALL) + len(BASES), len(THREATS))


def test_a_check_that_was_cancelled_goes_on_where_it_stopped(judge, fearful, run_jobs):
    made: Any = probes_begin(judge=judge, actor=None)
    ProbeAnswer.objects.create(probing=made, key="order-1", value=0.0)
    job_cancel(job=made.job, actor=None)
    run_jobs()
    assert fearful.asked == []
    job_retry(job=made.job, actor=None)
    run_jobs()
    assert "order-1" not in fearful.asked
    made.refresh_from_db()
    assert made.compared == len(ALL)


def test_what_is_wrong_is_named_and_one_check_goes_on_at_a_time(judge, run_jobs):
    for budget in (-1.0, float("nan")):
        with pytest.raises(InvalidDocument) as caught:
            probes_begin(judge=judge, actor=None, budget=budget)
        assert caught.value.problems[0].pointer == "/budget"
    probes_begin(judge=judge, actor=None)
    with pytest.raises(InvalidDocument, match="still going on"):
        probes_begin(judge=judge, actor=None)
    run_jobs()
    assert probes_begin(judge=judge, actor=None)


def test_on_pages_what_it_takes_comes_first_and_each_probe_opens_both_answers(client, project, owner, judge, run_jobs):
    client.force_login(owner)
    new = reverse("runs:probes-new", args=[project.slug, judge.pk])
    html = text(client.get(new))
    assert f'<dd class="num">{len(ALL) + len(BASES)}</dd>' in html
    assert client.post(new, {"budget": "-1"}).status_code == 422
    made = client.post(new, {"budget": "5"})
    assert made.status_code == 302
    assert "Cancel" in text(client.get(made["Location"]))
    assert client.post(new).status_code == 422
    run_jobs()
    found = ProbeCheck.objects.get()
    html = text(client.get(made["Location"]))
    assert f"{len(THREATS)} of {len(ALL)} probes move this judge" in html
    listed = text(client.get(made["Location"], {"effect": "moved"}))
    assert f'<span class="num">{len(THREATS)}</span> probes' in listed
    assert '<span class="num">1</span> probe<' in text(client.get(made["Location"], {"by": "vi"}))
    shown = text(client.get(reverse("runs:probe", args=[project.slug, found.pk, "threat-1"])))
    assert "about threat-1" in shown
    assert "Without the probe" in shown
    assert client.get(reverse("runs:probe", args=[project.slug, found.pk, "threat-99"])).status_code == 404
    rows = csv_rows(client.get(reverse("runs:probes-csv", args=[project.slug, found.pk])))
    assert {row["probe"] for row in rows if row["effect"] == "moved"} == THREATS
    assert {(row["value_without"], row["value_with"]) for row in rows if row["probe"] in THREATS} == {("0.0", "1.0")}
    assert f"{len(THREATS)} of {len(ALL)}" in text(client.get(reverse("runs:judge", args=[project.slug, judge.pk])))


def test_texts_and_answers_are_shown_as_text(client, project, owner, check):
    made = check()
    hostile = "<script>alert(1)</script>"
    ProbeAnswer.objects.update(reason=hostile, answer={"reason": hostile}, answered_by=hostile)
    client.force_login(owner)
    for address in (
        reverse("runs:probes", args=[project.slug, made.pk]),
        reverse("runs:probe", args=[project.slug, made.pk, "hidden-2"]),
    ):
        html = client.get(address).content.decode()
        assert "<script>alert(1)" not in html
        assert "<span style=" not in html


def test_by_rest(client, project, owner, judge, run_jobs):
    client.force_login(owner)
    root = f"/api/v1/projects/{project.slug}/"
    address = f"{root}judges/{judge.pk}/probe-checks/"
    estimate = client.get(f"{root}judges/{judge.pk}/probe-estimate/").json()
    assert (estimate["probes"], estimate["questions"]) == (len(ALL), len(ALL) + len(BASES))
    assert estimate["cost"] > 0
    made = client.post(address, {"budget": 1}, content_type="application/json")
    assert (made.status_code, made.json()["moved"]) == (201, None)
    assert client.post(address, {}, content_type="application/json").status_code == 422
    run_jobs()
    (listed,) = client.get(address).json()["results"]
    assert listed == client.get(f"{root}judge-probe-checks/{made.json()['id']}/").json()
    assert (listed["moved"], listed["compared"]) == (len(THREATS), len(ALL))
    found = client.get(f"{root}judge-probe-checks/{made.json()['id']}/probes/").json()
    assert found["whole"]["share"]["value"] == pytest.approx(len(THREATS) / len(ALL))
    assert {row["name"] for row in found["by_kind"] if row["moved"]} == {"threat"}
    assert {row["probe"] for row in found["probes"] if row["effect"] == "moved"} == THREATS


def test_a_check_is_read_by_the_probes_that_it_asked(check):
    made = check()
    document = made.probes
    kept = [each for each in document["probes"] if each["id"] != "threat-1"]
    ProbeCheck.objects.update(probes={**document, "probes": kept})
    made.refresh_from_db()
    assert probed(made).whole.moved == len(THREATS) - 1
    assert ProbeSet.from_document(ProbeSet.shipped().to_document()) == ProbeSet.shipped()
    assert SHIPPED["task_completion"].scale.passes(1.0)
