"""The public benchmark, whole: needs its files."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from labeling.datasets.services import dataset_create
from labeling.exports import dataset_lines
from labeling.imports.services import import_start
from labeling.models import Example, Gold
from toolevals.grading.reading.bfcl import CATEGORIES
from toolevals.registry.models import ToolList
from toolevals.workspace.models import Job, JobState, Project
from toolevals.workspace.uploads.services import upload_store

FOLDER = os.environ.get("TOOLEVALS_BENCHMARK_DATA", "")
pytestmark = pytest.mark.skipif(not FOLDER, reason="TOOLEVALS_BENCHMARK_DATA does not say where the benchmark is")


def json_lines(path: Path) -> list[dict[str, Any]]:
    """Return a file's rows; none where there is no file."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def rows(category: str) -> Iterator[dict[str, Any]]:
    """Yield a category's questions with their answers, as the command sends them."""
    folder, name = Path(FOLDER) / "bfcl", f"BFCL_v4_{category}.json"
    answers = {row["id"]: row for row in json_lines(folder / "possible_answer" / name)}
    for question in json_lines(folder / name):
        yield {"question_row": question, "answer_row": answers.get(question["id"]), "category": category}


def load(project: Project, slug: str, text: bytes, source: str) -> Job:
    """Begin to import a file into a new dataset."""
    dataset = dataset_create(project=project, actor=None, slug=slug, name=slug)
    upload = upload_store(project=project, actor=None, file=io.BytesIO(text), name="rows.jsonl")
    return import_start(dataset=dataset, actor=None, upload=upload, source=source)


def test_every_category_is_imported_and_survives_the_native_form(project, run_jobs):
    text = b"".join(json.dumps(row).encode() + b"\n" for category in CATEGORIES for row in rows(category))
    job = load(project, "bfcl", text, "bfcl")
    run_jobs()
    job.refresh_from_db()
    assert job.state == JobState.SUCCEEDED
    assert job.report["added"] == Example.objects.count() == Gold.objects.count() == 3641
    # 2,116 as written; three of them differ from another only by "tuple" for "array".
    assert ToolList.objects.count() == 2113
    exported = b"".join(dataset_lines(project.datasets.get(slug="bfcl")))
    load(project, "again", exported, "jsonl")
    run_jobs()
    assert ToolList.objects.count() == 2113
    assert b"".join(dataset_lines(project.datasets.get(slug="again"))) == exported
