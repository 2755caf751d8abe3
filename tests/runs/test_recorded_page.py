"""The page that takes in a benchmark's result file: tasks, a version, a run, and the table of agreement."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from labeling.datasets.services import dataset_create
from labeling.models import Example
from tests.cli.test_recorded import POLICY, simulation, tau, tau2
from toolevals.runs.models import Run, Transcript

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset(project, owner):
    return dataset_create(project=project, actor=owner, slug="rec", name="Recorded tasks")


@pytest.fixture
def send(project, adjudicator, client, dataset):
    """Return a function that sends a file by the page."""
    client.force_login(adjudicator)

    def do(content: bytes, **more: Any) -> Any:
        fields = {"dataset": "rec", "experiment": "rec", "name": "gpt", "order": "unordered", "cut_off": "failed"}
        file = SimpleUploadedFile("results.json.gz", content)
        return client.post(reverse("runs:recorded-new", args=[project.slug]), {**fields, **more, "file": file})

    return do


def packed(document: Any) -> bytes:
    return gzip.compress(json.dumps(document).encode())


def test_a_result_file_becomes_tasks_a_run_and_the_table_of_agreement(send, client, run_jobs):
    records = [tau(0, "Cancel A."), tau(1, "Cancel B.", reward=0.0), tau(0, "Cancel A.", trial=1, reward=None)]
    document = {"system": [POLICY], "records": records}
    for expected in (2, 0):
        answer = send(packed(document))
        run = Run.objects.latest("number")
        assert answer.status_code == 302, answer.content.decode()
        assert answer["location"].endswith(f"/runs/{run.number}/recorded/")
        waiting = " ".join(client.get(answer["location"]).content.decode().split()).replace(" >", ">")
        assert f"Tasks: 2, of which {expected} are new and {2 - expected} were there already" in waiting
        run_jobs()
    assert Example.objects.filter(dataset__slug="rec").count() == 2
    assert set(Example.objects.filter(dataset__slug="rec").values_list("decided_by", flat=True)) == {"end_state+answer"}
    kept = Transcript.objects.filter(run=run, document__isnull=False).order_by("trial", "reward")
    assert sorted((each.trial, each.ended, each.reward) for each in kept) == [
        (0, "", 0.0),
        (0, "", 1.0),
        (1, "steps", 0.0),
    ]
    page = " ".join(client.get(answer["location"]).content.decode().split()).replace(" >", ">")
    # Nothing tells the end state here.
    assert "2 of 3</span> cases with a reward are not scored by this verdict" in page
    calls = " ".join(client.get(f"{answer['location']}?column=selection").content.decode().split()).replace(" >", ">")
    assert "Verdict and reward agree in" in calls
    assert "of 3 scored cases." in calls


def test_trials_that_nobody_rewarded_are_in_no_count(send, client, run_jobs):
    rewarded, other = simulation("3", "user_stop", 1.0), simulation("4", "user_stop")
    del other["reward_info"]
    answer = send(packed(tau2(rewarded, other)))
    run_jobs()
    run = Run.objects.get()
    rewards = Transcript.objects.filter(run=run).order_by("reward").values_list("reward", flat=True)
    assert sorted(rewards, key=str) == [1.0, None]
    found = client.get(answer["location"]).context["agreement"]
    assert found.total == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"not JSON", "not JSON"),
        (packed({"records": [{"task_id": 1}]}), "/records/0/traj"),
        (packed([tau(0, "Cancel A.")])[:40], "is not a whole gzip file"),
        (packed(tau2(simulation("9", "user_stop"))), "task 9 has recorded runs"),
    ],
    ids=["no JSON", "no runs", "cut short", "a task is missing"],
)
def test_a_file_that_cannot_be_read_changes_nothing(send, content, words):
    answer = send(content)
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not Run.objects.exists()
    assert not Example.objects.filter(dataset__slug="rec").exists()


def test_what_a_transcript_cannot_hold_is_said(send, client):
    record = tau(0, "Cancel A.")
    record["traj"][1]["mood"] = "good"
    answer = send(packed([record]))
    assert "Left out of the conversations: 1 × unknown key mood" in client.get(answer["location"]).content.decode()


def test_the_page_is_linked_and_takes_the_dataset_from_its_address(project, adjudicator, client, dataset):
    client.force_login(adjudicator)
    page = reverse("runs:recorded-new", args=[project.slug])
    assert f"{page}?dataset=rec" in client.get(reverse("labeling:import", args=[project.slug, "rec"])).content.decode()
    assert 'value="rec" selected' in client.get(f"{page}?dataset=rec").content.decode()
