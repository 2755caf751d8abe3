"""Recorded rewards beside our verdicts: the table, its file, the REST interface, and the cases behind each number."""

from __future__ import annotations

import pytest

from tests.reports.reading import csv_rows, text
from tests.runs.building import HISTORY, call, uploaded_run, version_of
from toolevals.runs.models import Run, Transcript

pytestmark = pytest.mark.django_db
PAGE, API = "/p/shop/runs/1", "/api/v1/projects/shop/runs/1"


@pytest.fixture
def run(project, run_jobs, client, viewer):
    version = version_of(project)
    rows = [call("status", "get_order_status"), call("history", "get_order_status"), call("refund", "issue_refund")]
    rewards = [1.0, 0.999999999, 0.5]
    told = [
        row | {"recorded": {"source": "tau2-bench", "reward": reward, "ending": "user_stop"}}
        for row, reward in zip(rows, rewards, strict=True)
    ]
    told[0]["ended"] = "steps"
    uploaded_run(project, version, [*told, call("hello", HISTORY)])
    run_jobs()
    client.force_login(viewer)
    return Run.objects.get()


def test_verdicts_by_recorded_reward(run, client):
    table = {(row["status"], row["reward"]): int(row["count"]) for row in csv_rows(client.get(f"{PAGE}/recorded.csv"))}
    assert {key: count for key, count in table.items() if count} == {
        ("failed", "success"): 2,
        ("passed", "failure"): 1,
    }
    assert len(table) == 8
    selection = client.get(f"{API}/recorded/?column=selection").json()
    assert (selection["total"], selection["scored"], selection["agreed"]) == (3, 3, 1)
    page = text(client.get(f"{PAGE}/recorded/?column=selection"))
    assert "Verdict and reward agree in 1 of 3 scored cases." in page
    assert "column=selection&amp;status=passed&amp;recorded=success" in page
    assert "status=unscored" not in page


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("column=outcome&status=failed&recorded=success", 2),
        ("column=outcome&status=passed&recorded=failure", 1),
        ("recorded=failure", 1),
        ("recorded=anything", 4),
        ("ended=steps", 1),
        ("mode=cut_off", 1),
    ],
)
def test_a_cell_opens_its_cases(run, client, query, count):
    assert client.get(f"{PAGE}/cases/?{query}").context["count"] == count
    assert len(client.get(f"{API}/graded-cases/?{query}").json()["results"]) == count


def test_what_was_recorded_is_kept_beside_the_transcript(run):
    kept = Transcript.objects.get(run=run, ended="steps")
    assert kept.reward == 1.0
    assert kept.document["recorded"] == {"source": "tau2-bench", "reward": 1.0, "ending": "user_stop"}
    assert Transcript.objects.filter(run=run, reward=None).count() == 1


def test_a_run_without_rewards_says_how_to_give_them(project, run_jobs, client, viewer):
    uploaded_run(project, version_of(project), [call("status", "get_order_status")])
    run_jobs()
    client.force_login(viewer)
    assert "No recorded rewards" in client.get(f"{PAGE}/recorded/").content.decode()
