"""Transcripts of a few entries are found without reading all of a run's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from uuid_utils.compat import uuid7

from labeling.models import VersionEntry
from tests.runs.building import EXAMPLES, baseline_run, version_of
from toolevals.runs.models import Run, Transcript
from toolevals.workspace.bulk import rows_insert, tables_analyze
from toolevals.workspace.clock import database_now

COLUMNS = ("id", "run_id", "entry_id", "trial", "document", "ended", "created_at")
ENTRIES, TRIALS = 300, 40


def between(run: Run, start: int, stop: int) -> Any:
    return Transcript.objects.between(run.pk, run.dataset_version_id, start, stop)


def test_only_current_transcripts_of_the_run_and_of_those_positions_are_found(project, version, run_jobs):
    run, _ = (baseline_run(project, version, trials=2) for _ in range(2))
    run_jobs()
    Transcript.objects.filter(run=run, entry__position=1, trial=0).update(replaced_at=database_now())
    expected = [(0, 0), (2, 0), (0, 1), (1, 1), (2, 1)]
    found = between(run, 0, 3).order_by("trial", "entry__position")
    assert list(found.values_list("entry__position", "trial")) == expected
    assert list(between(run, 0, 3).values_list("trial", flat=True)) == [0, 0, 1, 1, 1]


@pytest.mark.parametrize("told", [True, False], ids=["the planner is told", "the planner knows an earlier run"])
def test_postgresql_reads_the_transcripts_of_those_entries_alone(project, told):
    rows = [EXAMPLES[0] | {"id": f"example-{number}"} for number in range(ENTRIES)]
    version = version_of(project, rows)
    earlier, run = (baseline_run(project, version) for _ in range(2))
    if not told:
        write(earlier)
        tables_analyze(Transcript, keys_only=True)
    write(run)
    if told:
        tables_analyze(Transcript, keys_only=True)
    text, values = between(run, 10, 15).values("pk", "document").query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {text}", values)
        (plan,) = cursor.fetchone()
    plan = json.loads(plan) if isinstance(plan, str) else plan
    # Those of the earlier run may be passed over: they are the same examples'.
    assert max(read(plan[0]["Plan"])) <= 5 * TRIALS * (1 if told else 2)


def test_postgresql_is_told_which_transcripts_are_current(project, version):
    write(baseline_run(project, version))
    tables_analyze(Transcript, keys_only=True)
    with connection.cursor() as cursor:
        cursor.execute("SELECT attname FROM pg_stats WHERE tablename = %s", [Transcript._meta.db_table])
        known = {name for (name,) in cursor.fetchall()}
    assert known == {"run_id", "entry_id", "replaced_at"}


def write(run: Run) -> None:
    """Write every transcript of a run, empty."""
    entries = run.dataset_version.entries.values_list("pk", flat=True)
    now = database_now()
    rows = ((uuid7(), run.pk, entry, trial, None, "", now) for entry in entries for trial in range(TRIALS))
    rows_insert(Transcript, COLUMNS, rows)


def read(node: dict[str, Any]) -> Iterator[float]:
    """Yield how many rows each step of a plan read, those that it passed over among them.

    Where the planner knows that there are few entries, it may look at each of them, once.
    """
    passed_over = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
    rows = node["Actual Loops"] * (node["Actual Rows"] + passed_over)
    if node.get("Relation Name") == VersionEntry._meta.db_table and rows == ENTRIES:
        rows = node["Actual Rows"]
    yield rows
    for part in node.get("Plans", ()):
        yield from read(part)
