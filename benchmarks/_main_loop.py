"""Runs the main loop on a public benchmark, in an installation whose workers are running: prints one JSON object.

Imports four categories of the BFCL, freezes them, runs the baseline and grades it. Started by `benchmarks.runs`.
"""

from __future__ import annotations

import io
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import django

CATEGORIES = ("multiple", "live_multiple", "irrelevance", "live_irrelevance")
PAUSE = 0.02


def questions(data: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of an import file: each question with its answer."""
    for category in CATEGORIES:
        answers = data / "possible_answer" / f"BFCL_v4_{category}.json"
        found = {row["id"]: row for row in _lines(answers)} if answers.exists() else {}
        for row in _lines(data / f"BFCL_v4_{category}.json"):
            yield {"question_row": row, "answer_row": found.get(row["id"]), "category": category}


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def main() -> None:
    """Measure. `TOOLEVALS_BENCHMARK_DATA` names the data."""
    django.setup()
    from labeling.services import dataset_create, import_start, version_freeze
    from toolevals.runs.models import CaseGrade
    from toolevals.runs.services import RunRequest, run_request_baseline
    from toolevals.workspace.models import Job, JobState
    from toolevals.workspace.services import project_create, upload_store

    def wait(job: Any) -> float:
        """Return how many seconds the job took, from now."""
        start = time.monotonic()
        while (state := Job.objects.values_list("state", flat=True).get(pk=job.pk)) == JobState.RUNNING:
            time.sleep(PAUSE)
        if state != JobState.SUCCEEDED:
            job.refresh_from_db()
            raise RuntimeError(f"{job.title} {state}: {job.report} {[batch.error for batch in job.failures()]}")
        return time.monotonic() - start

    data = Path(os.environ["TOOLEVALS_BENCHMARK_DATA"]) / "bfcl"
    content = "".join(f"{json.dumps(row)}\n" for row in questions(data)).encode()
    project = project_create(actor=None, slug="bfcl", name="BFCL")
    dataset = dataset_create(project=project, actor=None, slug="bfcl", name="BFCL")
    upload = upload_store(project=project, actor=None, file=io.BytesIO(content), name="bfcl.jsonl")
    found: dict[str, Any] = {"import": wait(import_start(dataset=dataset, actor=None, upload=upload, source="bfcl"))}
    version = version_freeze(dataset=dataset, actor=None, misfits_reason="The gold is as it was published.")
    # The first run also fills the caches of both workers; the second is what a team does every day.
    for name in ("first", "second"):
        request = RunRequest(experiment="baseline", dataset_version=version)
        start = time.monotonic()
        run = run_request_baseline(project=project, actor=None, request=request)
        wait(run.job)
        found[name] = time.monotonic() - start
    grading = run.gradings.get()
    cases = CaseGrade.objects.filter(grading=grading)
    found["examples"] = version.size
    found["counts"] = {}
    for category in CATEGORIES:
        of_category = cases.filter(transcript__entry__revision__example__external_id__startswith=f"{category}_")
        found["counts"][category] = {
            column: _rate(of_category, column) for column in ("selection", "arguments", "outcome")
        }
    found["counts"]["all"] = {column: _rate(cases, column) for column in ("selection", "arguments", "outcome")}
    sys.stdout.write(json.dumps(found))


def _rate(cases: Any, column: str) -> list[int]:
    """Return how many passed, and how many were scored."""
    passed = cases.filter(**{column: "passed"}).count()
    return [passed, passed + cases.filter(**{column: "failed"}).count()]


if __name__ == "__main__":
    main()
