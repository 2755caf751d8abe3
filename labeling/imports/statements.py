"""The SQL of publishing. Rows go from the staging table to their own without passing through Python.

Every statement runs alike on SQLite and PostgreSQL. What is put into the text here are names of tables and columns;
values are parameters: `job` (a job's id, or a part's where there is no job), `dataset`, `into` (the dataset that new
examples are put into), `after` and `until` (the lines that are taken), `actor`, `now`, and in those for single rows
`staged`, `example`, `revision`.
"""
# ruff: noqa: S608 - only names of tables and columns are put together

from __future__ import annotations

from django.db import models

from labeling.models import Adjudication, Example, Gold, ImportPart, LabelSlot, Origin, Revision, StagedExample


def _table(model: type[models.Model]) -> str:
    return f'"{model._meta.db_table}"'


EXAMPLE, REVISION, GOLD, SLOT = _table(Example), _table(Revision), _table(Gold), _table(LabelSlot)
STAGED = _table(StagedExample)

_ROWS = f"{STAGED} s JOIN {_table(ImportPart)} p ON p.id = s.part_id AND (p.job_id = %(job)s OR p.id = %(job)s)"
_SOME_ROWS = f"{_ROWS} AND s.line > %(after)s AND s.line <= %(until)s"
_STRATA = ", ".join(Example.STRATA)
_S_STRATA = ", ".join(f"s.{name}" for name in Example.STRATA)
_STRATA_SAID = " OR ".join(f"s.{name} <> ''" for name in Example.STRATA)
_STRATA_DIFFER = " OR ".join(f"s.{name} <> e.{name}" for name in Example.STRATA)
# A file that says nothing of it leaves what people chose.
_DECIDED_BY_DIFFERS = "s.decided_by <> '' AND s.decided_by <> e.decided_by"
_GOLD_DIFFERS = """(s.expectation IS NOT NULL AND (g.id IS NULL OR g.expectation <> s.expectation
    OR (g.source = 'imported' AND g.rationale <> s.rationale)))"""
_THERE_BEFORE = f"{EXAMPLE} e ON e.dataset_id = %(dataset)s AND e.external_id = s.external_id AND e.id <> s.example_id"

_INTO_REVISION = f"""INSERT INTO {REVISION}
(id, number, example_id, digest, input, tools_id, resolution, settles_at, gold_id, created_at)"""
_REVISION_VALUES = """s.digest, s.input, s.tools_id,
CASE WHEN s.expectation IS NULL THEN 'open' ELSE 'resolved' END, NULL,
CASE WHEN s.expectation IS NULL THEN NULL ELSE s.gold_id END, %(now)s"""
_INTO_GOLD = f"""INSERT INTO {GOLD}
(id, revision_id, expectation, rationale, source, adjudication_id, actor_id, created_at)"""
_GOLD_VALUES = "s.expectation, s.rationale, 'imported', NULL, %(actor)s, %(now)s"

COUNT_ROWS = f"SELECT COUNT(*) FROM {_ROWS}"

ADD_EXAMPLES = f"""
INSERT INTO {EXAMPLE} (id, dataset_id, external_id, current_id, {_STRATA}, decided_by, created_at)
SELECT s.example_id, %(into)s, s.external_id, s.id, {_S_STRATA}, s.decided_by, %(now)s
FROM {_SOME_ROWS}
WHERE NOT EXISTS (SELECT 1 FROM {EXAMPLE} e WHERE e.dataset_id = %(dataset)s AND e.external_id = s.external_id)
"""

ADD_REVISIONS = f"""
{_INTO_REVISION}
SELECT s.id, 1, s.example_id, {_REVISION_VALUES} FROM {_SOME_ROWS} JOIN {EXAMPLE} e ON e.id = s.example_id
"""

ADD_GOLD = f"""
{_INTO_GOLD}
SELECT s.gold_id, s.id, {_GOLD_VALUES} FROM {_SOME_ROWS} JOIN {EXAMPLE} e ON e.id = s.example_id
WHERE s.expectation IS NOT NULL
"""

# For whatever revisions this import has made, by now.
ADD_ORIGINS = f"""
INSERT INTO {_table(Origin)} (revision_id, document)
SELECT s.id, s.origin FROM {_SOME_ROWS} JOIN {REVISION} r ON r.id = s.id
WHERE s.origin IS NOT NULL AND NOT EXISTS (SELECT 1 FROM {_table(Origin)} o WHERE o.revision_id = s.id)
"""

# Of examples that were there before: the rows that say something new, and what. `earlier` is a revision of the same
# content that the example once had.
CHANGES = f"""
SELECT s.id, e.id, r.id,
       (SELECT o.id FROM {REVISION} o WHERE o.example_id = e.id AND o.digest = s.digest AND o.id <> r.id),
       CASE WHEN r.digest <> s.digest THEN 1 ELSE 0 END,
       CASE WHEN {_GOLD_DIFFERS} THEN 1 ELSE 0 END,
       CASE WHEN ({_STRATA_SAID}) AND ({_STRATA_DIFFER}) THEN 1 ELSE 0 END,
       CASE WHEN {_DECIDED_BY_DIFFERS} THEN 1 ELSE 0 END,
       COALESCE(g.source, ''),
       CASE WHEN r.round > 1
            OR EXISTS (SELECT 1 FROM {SLOT} t WHERE t.revision_id = r.id AND t.state = 'submitted')
            OR EXISTS (SELECT 1 FROM {_table(Adjudication)} a WHERE a.revision_id = r.id) THEN 1 ELSE 0 END
FROM {_ROWS}
JOIN {_THERE_BEFORE}
JOIN {REVISION} r ON r.id = e.current_id
LEFT JOIN {GOLD} g ON g.id = r.gold_id
WHERE r.digest <> s.digest OR {_GOLD_DIFFERS} OR (({_STRATA_SAID}) AND ({_STRATA_DIFFER}))
OR ({_DECIDED_BY_DIFFERS})
ORDER BY r.id
"""

# For one row each, by executemany.
REVISE = f"""
{_INTO_REVISION}
SELECT s.id, (SELECT MAX(o.number) + 1 FROM {REVISION} o WHERE o.example_id = %(example)s), %(example)s,
{_REVISION_VALUES} FROM {STAGED} s WHERE s.id = %(staged)s
"""
REVISE_GOLD = f"""
{_INTO_GOLD}
SELECT s.gold_id, s.id, {_GOLD_VALUES} FROM {STAGED} s WHERE s.id = %(staged)s AND s.expectation IS NOT NULL
"""
SHOW = f"UPDATE {EXAMPLE} SET current_id = %(staged)s WHERE id = %(example)s"
CLOSE_SLOTS = f"""
UPDATE {SLOT} SET state = 'closed', lease_until = NULL, priority = NULL
WHERE revision_id = %(revision)s AND state IN ('open', 'claimed')
"""
REGILD = f"""
{_INTO_GOLD}
SELECT s.gold_id, %(revision)s, {_GOLD_VALUES} FROM {STAGED} s WHERE s.id = %(staged)s
"""
PUT_IN_FORCE = f"""
UPDATE {REVISION} SET gold_id = (SELECT s.gold_id FROM {STAGED} s WHERE s.id = %(staged)s),
resolution = 'resolved', set_aside_as = '', settles_at = NULL WHERE id = %(revision)s
"""
_STRATA_OF_ROW = ", ".join(f"{n} = (SELECT s.{n} FROM {STAGED} s WHERE s.id = %(staged)s)" for n in Example.STRATA)
SET_STRATA = f"UPDATE {EXAMPLE} SET {_STRATA_OF_ROW} WHERE id = %(example)s"
SET_DECIDED_BY = f"""
UPDATE {EXAMPLE} SET decided_by = (SELECT s.decided_by FROM {STAGED} s WHERE s.id = %(staged)s)
WHERE id = %(example)s
"""

# What became of one row, for whoever reads the lines of the import.
SET_FATE = f"UPDATE {STAGED} SET fate = %(fate)s WHERE id = %(staged)s"

# All at once: what waited becomes the dataset's.
SHOW_ALL = f"UPDATE {EXAMPLE} SET dataset_id = %(dataset)s WHERE dataset_id = %(into)s"

# The revisions of this import that people are to label, each with its example's name.
TO_LABEL = f"""
SELECT r.id, s.external_id FROM {_ROWS} JOIN {REVISION} r ON r.id = s.id WHERE r.resolution = 'open' ORDER BY r.id
"""
