"""Traces become examples to label; until those are decided the traces are closed to whoever labels."""

from __future__ import annotations

import csv
from typing import Any

from labeling.models import Example, LabelBatch, Resolution, Revision
from tests.runs.building import baseline_run, version_of
from tests.traces.promoting import promoted
from toolevals.runs.models import CaseGrade
from toolevals.traces.models import Promotion, Trace, TraceExample
from toolevals.traces.promotion.sampling import traces_draw
from toolevals.traces.reading.filters import TraceFilter
from toolevals.workspace.models import Role

LIST = "/p/shop/traces/"


def test_an_example_holds_what_the_agent_knew_and_nothing_of_what_it_did(sent, dataset, owner, run_jobs):
    promotion = promoted(run_jobs, dataset, owner, traces=(sent[4].pk,))
    assert (promotion.drawn, promotion.made, promotion.folded, promotion.left_out) == (1, 1, 0, [])
    assert promotion.state == "made"
    example = Example.objects.get()
    assert example.external_id == f"trace-{5:032x}-1"
    assert example.current is not None
    assert [message["role"] for message in example.current.input["messages"]] == ["user"]
    assert "not found" not in str(example.current.input)
    assert example.strata == {}
    assert example.current.resolution == Resolution.OPEN
    link = TraceExample.objects.get()
    assert (link.trace, link.example, link.turn, link.is_folded) == (sent[4], example, 1, False)


def test_what_was_made_shows_its_words_and_is_labelled_as_a_batch(sent, dataset, owner, client, run_jobs):
    promotion = promoted(run_jobs, dataset, owner, traces=(sent[4].pk, sent[6].pk))
    client.force_login(owner)
    page = client.get(f"/p/shop/traces/examples/{promotion.pk}/").content.decode()
    assert "Where is order 5?" in page
    assert "Label these" in page
    address = f"/p/shop/traces/examples/{promotion.pk}/label/"
    first, again = client.post(address), client.post(address)
    batch = LabelBatch.objects.get()
    assert first["Location"] == again["Location"] == f"/p/shop/label/?batch={batch.pk}"
    assert batch.slots.values("revision").distinct().count() == 2
    assert client.get(first["Location"], follow=True).status_code == 200
    empty = Promotion.objects.create(project=dataset.project, dataset=dataset, count=1, seed=1)
    assert client.post(f"/p/shop/traces/examples/{empty.pk}/label/")["Location"].endswith(f"{empty.pk}/")
    assert LabelBatch.objects.count() == 1


def test_doing_it_again_changes_nothing(sent, dataset, owner, run_jobs):
    for _ in range(2):
        promoted(run_jobs, dataset, owner, traces=(sent[0].pk,))
    assert (Example.objects.count(), Revision.objects.count(), TraceExample.objects.count()) == (1, 1, 1)


def test_near_duplicates_are_folded(sent, dataset, owner, run_jobs):
    promotion = promoted(run_jobs, dataset, owner)
    assert (promotion.drawn, promotion.made, promotion.folded) == (12, 11, 1)
    folded = TraceExample.objects.get(is_folded=True)
    assert {folded.trace.trace_id.int, folded.example.traces.get(is_folded=False).trace.trace_id.int} == {11, 12}


def test_a_sample_has_what_is_rare_and_is_drawn_again_by_its_seed(sent, project):
    rare = sent[4].pk
    drawn = traces_draw(project, TraceFilter(), 4, seed=7)
    assert rare in drawn
    assert len(drawn) == 4
    assert traces_draw(project, TraceFilter(), 4, seed=7) == drawn
    assert any(traces_draw(project, TraceFilter(), 4, seed=seed) != drawn for seed in range(5))
    assert traces_draw(project, TraceFilter.of({"error": "404"}), 4, seed=7) == [rare]


def test_a_trace_is_closed_to_those_who_may_label_it(sent, dataset, project, owner, viewer, reviewer, client, run_jobs):
    chosen = sent[4]
    Trace.objects.filter(pk=sent[0].pk).update(session=chosen.session)
    promoted(run_jobs, dataset, owner, traces=(chosen.pk,))

    def codes(person: Any, trace: Trace) -> list[int]:
        client.force_login(person)
        paths = (f"{LIST}{trace.pk}/", f"{LIST}{trace.pk}/spans/{3:016x}/", f"/api/v1/projects/shop/traces/{trace.pk}/")
        return [client.get(path).status_code for path in paths]

    for person in (reviewer, owner):
        assert codes(person, chosen) == codes(person, sent[0]) == [403] * 3
        assert codes(person, sent[1]) == [200] * 3
    assert codes(viewer, chosen) == [200] * 3
    client.force_login(reviewer)
    page = " ".join(client.get(LIST).content.decode().split()).replace(" >", ">")
    assert "being labelled" in page
    assert "error=404" not in page.partition("<tbody>")[2]
    assert str(chosen.pk) not in client.get(f"{LIST}?error=404").content.decode()
    lines = list(csv.DictReader(b"".join(client.get("/p/shop/traces.csv")).decode().splitlines()))
    answers = client.get("/api/v1/projects/shop/traces/").json()["results"]
    assert len(lines) == len(answers) == len(sent)
    assert {line["error_classes"] for line in lines} == {""}
    assert {tuple(answer["error_classes"]) for answer in answers} == {()}
    assert client.get("/api/v1/projects/shop/traces/?error=404").json()["results"] == []
    for asked in ({"tool": "get_order"}, {"q": "order"}, {"min_ms": "1"}, {"broke": "recovery"}):
        rows = TraceFilter.of(asked).traces(project, Role.REVIEWER)
        assert not rows.filter(pk__in=[chosen.pk, sent[0].pk]).exists()
    Revision.objects.update(resolution=Resolution.RESOLVED)
    assert codes(reviewer, chosen) == [200] * 3
    client.force_login(reviewer)
    assert f"trace-{5:032x}-1" in client.get(f"{LIST}{chosen.pk}/").content.decode()


def test_adjudicators_make_a_sample_from_the_list(sent, dataset, adjudicator, client, run_jobs):
    client.force_login(adjudicator)
    page = client.get(f"{LIST}promote/?error=404").content.decode()
    assert "404" in page
    alone = {"dataset": str(dataset.pk), "turns": "every"}
    said = alone | {"count": "5", "seed": "3", "strata": ["calls", "rules"]}
    answer = client.post(f"{LIST}promote/?error=404", said)
    assert answer.status_code == 302
    run_jobs()
    page = " ".join(client.get(answer["Location"]).content.decode().split())
    assert "1 example made" in page
    assert "1 trace drawn from error 404, in turns by tools" in page
    assert "Delete these examples" in page
    assert [each.trace.trace_id.int for each in TraceExample.objects.all()] == [5]
    assert 'name="seed"' not in client.get(f"{LIST}promote/?trace={sent[0].pk}").content.decode()
    assert client.post(f"{LIST}promote/?trace={sent[0].pk}", alone).status_code == 302
    assert client.post(f"{LIST}promote/", said | {"count": "0"}).status_code == 422


def test_a_case_leads_to_the_trace_once_its_example_is_decided(sent, project, owner, client, run_jobs):
    run = baseline_run(project, version_of(project))
    run_jobs()
    case = CaseGrade.objects.filter(grading__run=run).order_by("pk")[0]
    example = case.transcript.entry.revision.example
    TraceExample.objects.create(project=project, trace=sent[0], example=example, turn=1)
    client.force_login(owner)
    path = f"/p/shop/runs/{run.number}/cases/{case.pk}/"
    Revision.objects.filter(example=example).update(resolution=Resolution.OPEN)
    assert "View trace" not in client.get(path).content.decode()
    Revision.objects.filter(example=example).update(resolution=Resolution.RESOLVED)
    assert f"{LIST}{sent[0].pk}/" in client.get(path).content.decode()
