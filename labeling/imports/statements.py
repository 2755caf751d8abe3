"""Hold the SQL of publishing. Rows go from the staging table to their own without passing through Python.

Every statement runs alike on SQLite and PostgreSQL. What is put into the text here are names of tables and columns;
values are parameters: `job` (a job's id, or a part's where there is no job), `dataset`, `into` (the dataset that new
examples are put into), `after` and `until` (the lines that are taken), `actor`, `now`.
"""
# ruff: noqa: S608 - only names of tables and columns are put together

from __future__ import annotations

from django.db import models

from labeling.models import Example, Gold, ImportPart, Origin, Revision, StagedExample


def table(model: type[models.Model]) -> str:
    """Return the name of a model's table, quoted."""
    return f'"{model._meta.db_table}"'


EXAMPLE, REVISION, GOLD, ORIGIN = table(Example), table(Revision), table(Gold), table(Origin)
STAGED, PART = table(StagedExample), table(ImportPart)

ROWS = f"{STAGED} s JOIN {PART} p ON p.id = s.part_id AND (p.job_id = %(job)s OR p.id = %(job)s)"
SOME_ROWS = f"{ROWS} AND s.line > %(after)s AND s.line <= %(until)s"
_STRATA = ", ".join(Example.STRATA)
_S_STRATA = ", ".join(f"s.{name}" for name in Example.STRATA)

INTO_REVISION = f"""INSERT INTO {REVISION}
(id, number, example_id, digest, input, tools_id, resolution, settles_at, gold_id, created_at)"""
REVISION_VALUES = """s.digest, s.input, s.tools_id,
CASE WHEN s.expectation IS NULL THEN 'open' ELSE 'resolved' END, NULL,
CASE WHEN s.expectation IS NULL THEN NULL ELSE s.gold_id END, %(now)s"""
INTO_GOLD = f"""INSERT INTO {GOLD}
(id, revision_id, expectation, rationale, source, adjudication_id, actor_id, created_at)"""
GOLD_VALUES = "s.expectation, s.rationale, 'imported', NULL, %(actor)s, %(now)s"

COUNT_ROWS = f"SELECT COUNT(*) FROM {ROWS}"

ADD_EXAMPLES = f"""
INSERT INTO {EXAMPLE} (id, dataset_id, external_id, current_id, {_STRATA}, decided_by, created_at)
SELECT s.example_id, %(into)s, s.external_id, s.id, {_S_STRATA}, s.decided_by, %(now)s
FROM {SOME_ROWS}
WHERE NOT EXISTS (SELECT 1 FROM {EXAMPLE} e WHERE e.dataset_id = %(dataset)s AND e.external_id = s.external_id)
"""

ADD_REVISIONS = f"""
{INTO_REVISION}
SELECT s.id, 1, s.example_id, {REVISION_VALUES} FROM {SOME_ROWS} JOIN {EXAMPLE} e ON e.id = s.example_id
"""

ADD_GOLD = f"""
{INTO_GOLD}
SELECT s.gold_id, s.id, {GOLD_VALUES} FROM {SOME_ROWS} JOIN {EXAMPLE} e ON e.id = s.example_id
WHERE s.expectation IS NOT NULL
"""

# For whatever revisions this import has made, by now.
ADD_ORIGINS = f"""
INSERT INTO {ORIGIN} (revision_id, document)
SELECT s.id, s.origin FROM {SOME_ROWS} JOIN {REVISION} r ON r.id = s.id
WHERE s.origin IS NOT NULL AND NOT EXISTS (SELECT 1 FROM {ORIGIN} o WHERE o.revision_id = s.id)
"""

# All at once: what waited becomes the dataset's.
SHOW_ALL = f"UPDATE {EXAMPLE} SET dataset_id = %(dataset)s WHERE dataset_id = %(into)s"

# The revisions of this import that people are to label, each with its example's name.
TO_LABEL = f"""
SELECT r.id, s.external_id FROM {ROWS} JOIN {REVISION} r ON r.id = s.id WHERE r.resolution = 'open' ORDER BY r.id
"""
