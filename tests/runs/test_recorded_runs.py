"""Recorded runs of two agents, from their files through the doors of the application to the page of recovery.

Their numbers are known: of the airline runs' 1,164 calls 73 were answered by an error, in 36 of 200 transcripts, and 3
of these were sent again at once; in the retail runs one tool is down about 30 % of the time.
"""

from __future__ import annotations

import gzip
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from reports.recovery.analysis import Recovery
from tests.grading.benchmark import needs_benchmark
from tests.reports.reading import csv_rows
from tests.runs.building import jsonl
from toolevals.runs.models import CaseGrade, Run
from toolevals.workspace.models import JobState

pytestmark = [needs_benchmark, pytest.mark.django_db]
ROOT = "/api/v1/projects/shop"
PAGE = "/p/shop/runs/1"
# Whether the calls led to the right state nobody can say without a simulator of the benchmark's shop.
WITHOUT_A_SIMULATOR = {"execution"}
LAYERS = ("outcome", "selection", "arguments", "recovery", "answer", "schema", "shape", "equivalence")


@pytest.fixture
def graded(project, adjudicator, client, run_jobs):
    """Return a function that imports a file of recorded runs, uploads its transcripts, and has them graded."""
    client.force_login(adjudicator)

    def do(name: str, trials: int) -> Recovery:
        content = (Path(os.environ["TOOLEVALS_BENCHMARK_DATA"]) / "tau" / name).read_bytes()
        records = json.loads(gzip.decompress(content))["records"]
        options = {"options": json.dumps({"decided_by": "dataset"})}
        send("datasets/", {"slug": "recorded", "name": "Recorded"}, 201)
        send("datasets/recorded/imports/", {"file": SimpleUploadedFile(name, content), "format": "tau", **options}, 202)
        run_jobs()
        send("datasets/recorded/versions/", {}, 201)
        rows = [
            {"id": f"task-{record['task_id']}", "trial": record["trial"], "messages": record["traj"]}
            for record in records
        ]
        asked = f"runs/predictions/?experiment=recorded&dataset=recorded&name=agent&trials={trials}"
        send(asked, jsonl(rows), 202, content_type="application/jsonl")
        run_jobs()
        run = Run.objects.select_related("job").get()
        assert run.job is not None
        assert run.job.state == JobState.SUCCEEDED, run.job.report
        assert (run.job.report["predictions"], run.job.report["missing"]) == (len(records), 0)
        assert run.job.report["read"]["losses"] == []
        found: Recovery = client.get(f"{PAGE}/recovery/").context["recovery"]
        return found

    def send(path: str, body: Any, status: int, content_type: str = "") -> None:
        sent_as = {"content_type": content_type} if content_type else {}
        if not content_type and not any(isinstance(value, SimpleUploadedFile) for value in body.values()):
            sent_as = {"content_type": "application/json"}
        response = client.post(f"{ROOT}/{path}", body, **sent_as)
        assert response.status_code == status, response.content

    return do


def statuses(column: str) -> Counter[str]:
    return Counter(CaseGrade.objects.values_list(column, flat=True))


def test_airline_runs(graded, client):
    found = graded("tau_gpt-4o_airline.slim.json.gz", 4)
    assert (found.answers, found.whole.errors, found.cases_with_errors) == (1164, 73, 36)
    assert found.whole.identical_retries == 3
    assert statuses("recovery") == {"unscored": 160, "passed": 35, "failed": 5}
    for layer in LAYERS:
        counts = statuses(layer)
        assert counts["errored"] == 0
        assert counts["passed"] + counts["failed"] > 0
    assert all(statuses(layer) == {"unscored": 200} for layer in WITHOUT_A_SIMULATOR)
    # Rules accuse none, and trace none as a whole.
    assert statuses("result_use") == {"unscored": 200}
    page = client.get(f"{PAGE}/recovery/").content.decode()
    assert "1,164" in page
    rows = csv_rows(client.get(f"{PAGE}/recovery.csv"))
    assert sum(int(row["errors"]) for row in rows) == 73
    episodes = csv_rows(client.get(f"{PAGE}/episodes.csv?how=again"))
    assert sum(int(row["identical_retries"]) for row in episodes) == 3
    wrong = csv_rows(client.get(f"{PAGE}/episodes.csv?how=errors"))
    assert len({row["case_id"] for row in wrong}) == 36
    assert sum(int(row["errors"]) for row in wrong) == 73


def test_retail_runs_with_a_tool_that_is_often_down(graded, client):
    found = graded("tau_grok-3_retail_flaky503.slim.json.gz", 1)
    (flaky,) = [row for row in found.tools if row.tool == "get_order_details"]
    down = dict(flaky.cells)["5xx"]
    assert down is not None
    assert down.errors == 123
    assert 0.25 < down.errors / (flaky.answers or 0) < 0.35
    rows = csv_rows(client.get(f"{PAGE}/episodes.csv?error_class=5xx"))
    assert Counter(row["reaction"] for row in rows) == {
        "identical_retry": 85,
        "escalation": 3,
        "honest_failure": 6,
        "clarification": 1,
    }
    assert {row["score"] for row in rows} == {"1.0"}
