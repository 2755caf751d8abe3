"""From a cell, a case, an example and a suspect one comes to the trace, and from the trace to what became of it.

All of it only once the example is resolved, for whoever may be given it to label.
"""

from __future__ import annotations

import pytest

from labeling.adjudicate.resolution import settle_due
from labeling.label.claims import slot_claim
from labeling.label.services import label_submit
from labeling.models import LabelSlot, Resolution, Revision, VersionEntry
from reports.suspects.services import suspects_counted
from tests.labeling.rows import NO_CALL
from tests.labeling.windows import later
from tests.reports.test_suspects import three_runs
from tests.runs.building import baseline_run, version_of
from tests.traces.promoting import promoted
from toolevals.runs.models import CaseGrade, Run
from toolevals.traces.models import TraceExample

LIST = "/p/shop/traces/"
API = "/api/v1/projects/shop/"


@pytest.fixture
def case(sent, project, run_jobs) -> CaseGrade:
    """A case of a run, whose example was made of the first trace."""
    run = baseline_run(project, version_of(project))
    run_jobs()
    found = CaseGrade.objects.filter(grading__run=run).order_by("pk")[0]
    example = found.transcript.entry.revision.example
    TraceExample.objects.create(project=project, trace=sent[0], example=example, turn=1)
    TraceExample.objects.create(project=project, trace=sent[1], example=example, turn=1, is_folded=True)
    return found


def pages_of(case: CaseGrade) -> dict[str, str]:
    run: Run = case.grading.run
    example = case.transcript.entry.revision.example
    query = f"?expected={case.expected}&actual={case.actual}"
    return {
        "case": f"/p/shop/runs/{run.number}/cases/{case.pk}/",
        "cases": f"/p/shop/runs/{run.number}/cases/",
        "cell": f"/p/shop/runs/{run.number}/matrix/cell/{query}",
        "matrix": f"/p/shop/runs/{run.number}/matrix/{query}",
        "example": f"/p/shop/datasets/{example.dataset.slug}/examples/{example.pk}/",
    }


def test_pages_lead_to_the_trace_once_the_example_is_resolved(case, sent, reviewer, owner, viewer, client):
    link = f'href="{LIST}{sent[0].pk}/"'
    example = case.transcript.entry.revision.example
    for resolution, is_open in ((Resolution.OPEN, False), (Resolution.DISAGREED, False), (Resolution.RESOLVED, True)):
        Revision.objects.filter(example=example).update(resolution=resolution)
        for person, expected in ((reviewer, is_open), (owner, is_open), (viewer, True)):
            client.force_login(person)
            for name, path in pages_of(case).items():
                page = client.get(path).content.decode()
                assert (link in page) == expected, (name, resolution, person)
                assert str(sent[1].pk) not in page


def test_suspects_lead_to_the_trace(sent, project, reviewer, client, run_jobs):
    version = version_of(project)
    three_runs(project, version, run_jobs)
    example = VersionEntry.objects.get(version=version, revision__example__external_id="status").revision.example
    TraceExample.objects.create(project=project, trace=sent[0], example=example, turn=1)
    client.force_login(reviewer)
    end = f"datasets/{version.dataset.slug}/versions/{version.number}/suspects/"
    for resolution, is_open in ((Resolution.OPEN, False), (Resolution.RESOLVED, True)):
        Revision.objects.filter(example=example).update(resolution=resolution)
        suspects_counted(version, actor=None)
        run_jobs()
        assert (f"{LIST}{sent[0].pk}/" in client.get(f"/p/shop/{end}").content.decode()) == is_open
        (row,) = client.get(f"{API}{end}").json()["results"]
        assert row["trace"] == (str(sent[0].pk) if is_open else None)


def test_a_trace_tells_what_was_said_and_what_runs_did(sent, dataset, owner, reviewer, viewer, client, run_jobs):
    promoted(run_jobs, dataset, owner, traces=(sent[0].pk,))
    path, rest = f"{LIST}{sent[0].pk}/", f"{API}traces/{sent[0].pk}/"
    client.force_login(viewer)
    assert "to label" in client.get(path).content.decode()
    for person in (owner, reviewer):
        slot = slot_claim(dataset_or_project=dataset, actor=person)
        assert slot is not None
        label_submit(slot=slot, actor=person, expectation=NO_CALL, rationale=f"{person.name} says so")
    assert "says so" not in client.get(path).content.decode()
    (before,) = client.get(rest).json()["examples"]
    assert (before["gold"], before["status"], before["rationale"]) == (None, "to label", "")
    client.force_login(reviewer)
    assert client.get(path).status_code == 403
    assert LabelSlot.objects.exclude(state="submitted").count() == 0
    settle_due(later())
    page = client.get(path).content.decode()
    assert "2 labels" in page
    assert "says so" in page
    assert "No call" in page
    (after,) = client.get(rest).json()["examples"]
    assert (after["gold"]["kind"], after["status"], after["is_folded"]) == ("no_call", "gold", False)


def test_a_trace_leads_to_the_cases_of_runs(case, sent, owner, client):
    Revision.objects.filter(pk=case.transcript.entry.revision_id).update(resolution=Resolution.RESOLVED)
    client.force_login(owner)
    number = case.grading.run.number
    for trace in sent[:2]:
        page = client.get(f"{LIST}{trace.pk}/").content.decode()
        assert f'href="/p/shop/runs/{number}/cases/{case.pk}/"' in page
        assert ("asks nearly the same" in page) == (trace == sent[1])
    (example,) = client.get(f"{API}traces/{sent[0].pk}/").json()["examples"]
    assert [(each["run"], each["case"]) for each in example["cases"]] == [(number, str(case.pk))]
