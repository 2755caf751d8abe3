"""The consistency slice: the same examples each time, recorded with the run, apart from whole runs."""

from __future__ import annotations

import pytest
from django.urls import reverse

from reports.trends.queries import recent_runs
from tests.runs.building import STATUS, baseline_run, call, example, uploaded_run, version_of
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.models import Run, Transcript
from toolevals.runs.runs.presets import CONSISTENCY, Candidate, Preset, chosen_positions
from toolevals.runs.runs.requesting import RunRequest, run_request_baseline
from toolevals.runs.runs.services import preset_positions


def candidate(position: int, *, hard: bool = False, failed: bool = False) -> Candidate:
    return Candidate(position, f"ex-{position}", hard, failed)


def test_hard_ones_come_first_then_those_that_failed():
    all_of_them = [
        candidate(0),
        candidate(1, failed=True),
        candidate(2, hard=True),
        candidate(3, hard=True, failed=True),
        candidate(4),
    ]
    assert chosen_positions(all_of_them, 1) == [3]
    assert chosen_positions(all_of_them, 2) == [2, 3]
    assert chosen_positions(all_of_them, 3) == [1, 2, 3]
    assert chosen_positions(all_of_them, 9) == [0, 1, 2, 3, 4]


def test_the_draw_is_by_name_and_not_by_place():
    many = [candidate(place) for place in range(200)]
    chosen = chosen_positions(many, 30)
    assert chosen == sorted(chosen)
    assert len(chosen) == 30
    assert chosen_positions(reversed(many), 30) == chosen
    assert chosen[-1] - chosen[0] > 60


@pytest.mark.django_db
def test_the_last_whole_run_says_what_failed(project, version, run_jobs):
    # One example of the four is hard; of the others, two fail.
    run = uploaded_run(project, version, [call("refund", STATUS), call("status", STATUS)])
    assert len(preset_positions(version, Preset("p", "", 2, 8))) == 2
    run_jobs()
    run.refresh_from_db()
    failed = {case.transcript.entry.position for case in run.grading.cases.filter(outcome="failed")}
    assert len(failed) == 1
    hard = version.entries.get(revision__example__difficulty="hard").position
    assert preset_positions(version, Preset("p", "", 2, 8)) == sorted({hard, *failed})


@pytest.mark.django_db
def test_a_slice_is_recorded_and_not_compared_as_if_it_were_whole(project, run_jobs, client, viewer):
    rows = [example(f"ex-{place}", f"Where is order A-{place}?", STATUS) for place in range(40)]
    version = version_of(project, rows)
    whole = baseline_run(project, version)
    part = run_request_baseline(
        project=project, actor=None, request=RunRequest("nightly", version, preset=CONSISTENCY.name)
    )
    again = run_request_baseline(
        project=project, actor=None, request=RunRequest("nightly", version, preset=CONSISTENCY.name)
    )
    run_jobs()
    assert (part.size, part.trials, part.preset) == (30, 8, "consistency")
    assert part.only == again.only
    assert Transcript.objects.filter(run=part).count() == 240
    facts = {fact.number: fact for fact in recent_runs(whole.experiment.runs.all(), most=9)}
    assert facts[part.number].apart_from(facts[whole.number]) == ("other examples",)
    assert facts[again.number].apart_from(facts[part.number]) == ()
    assert "examples 30 of 40" in facts[part.number].changed
    client.force_login(viewer)
    html = client.get(reverse("reports:run", args=[project.slug, part.number])).content.decode()
    assert "Partial run." in html
    shown = client.get(reverse("runs-api:run", args=[project.slug, part.number])).json()
    assert (shown["examples"], shown["preset"]) == (30, "consistency")
    assert "Partial run." not in client.get(reverse("reports:run", args=[project.slug, whole.number])).content.decode()


@pytest.mark.django_db
def test_a_preset_chooses_for_itself(project, version):
    earlier = baseline_run(project, version)
    request = RunRequest("nightly", version, preset=CONSISTENCY.name, failing_of=Run.objects.get(pk=earlier.pk))
    with pytest.raises(InvalidDocument, match="failing_of"):
        run_request_baseline(project=project, actor=None, request=request)
    assert RunRequest("nightly", version, trials=3).conversations == 12
    assert RunRequest("nightly", version, preset=CONSISTENCY.name).conversations == 32
