"""Hold the SQL of publishing. Rows go from the staging table to their own without passing through Python.

Every statement runs alike on SQLite and PostgreSQL. What is put into the text here are names of tables and columns;
values are parameters: `job` (a job's id, or a part's where there is no job), `dataset`, `into` (the dataset that new
examples are put into), `after` and `until` (the lines that are taken), `actor`, `now`, and `reason` for disputes. What
is to be changed of examples that were there before stands in the table of staged changes; a statement joins it.
"""

from __future__ import annotations

from django.db import models

from labeling.models import (
    Adjudication,
    Dispute,
    Example,
    Gold,
    ImportPart,
    Label,
    LabelSlot,
    Origin,
    Revision,
    Skip,
    StagedChange,
    StagedExample,
)

# ruff: noqa: S608 - only names of tables and columns are put together


_STRATA = ", ".join(Example.STRATA)
_S_STRATA = ", ".join(f"s.{name}" for name in Example.STRATA)
REVISION_VALUES = """s.digest, s.input, s.tools_id,
CASE WHEN s.expectation IS NULL THEN 'open' ELSE 'resolved' END, NULL,
CASE WHEN s.expectation IS NULL THEN NULL ELSE s.gold_id END, %(now)s"""
GOLD_VALUES = "s.expectation, s.rationale, 'imported', NULL, %(actor)s, %(now)s"
_STRATA_SAID = " OR ".join(f"s.{name} <> ''" for name in Example.STRATA)
_STRATA_DIFFER = " OR ".join(f"s.{name} <> e.{name}" for name in Example.STRATA)
# A file that says nothing of it leaves what people chose.
_DECIDED_BY_DIFFERS = "s.decided_by <> '' AND s.decided_by <> e.decided_by"
_GOLD_DIFFERS = """o.id IS NOT NULL AND s.expectation IS NOT NULL AND (g.id IS NULL OR g.expectation <> s.expectation
    OR (g.source = 'imported' AND g.rationale <> s.rationale))"""
_WORDS = " || '\n' || ".join(f"e.{name}" for name in (*Example.STRATA, "decided_by"))
_IS_OTHER_CONTENT = "c.onto_id <> c.current_id"
_IS_NEW_CONTENT = "c.onto_id = c.staged_id"
_IS_SHOWN_AGAIN = f"{_IS_OTHER_CONTENT} AND c.onto_id <> c.staged_id"
_IS_UNRESOLVED = "r.resolution NOT IN ('resolved', 'set_aside')"
_IS_REGILDED = "c.gold_fate = 'replaced'"


def table(model: type[models.Model]) -> str:
    """Return the name of a model's table, quoted."""
    return f'"{model._meta.db_table}"'


EXAMPLE, REVISION, GOLD, ORIGIN = table(Example), table(Revision), table(Gold), table(Origin)
STAGED, PART = table(StagedExample), table(ImportPart)

ROWS = f"{STAGED} s JOIN {PART} p ON p.id = s.part_id AND (p.job_id = %(job)s OR p.id = %(job)s)"
SOME_ROWS = f"{ROWS} AND s.line > %(after)s AND s.line <= %(until)s"

INTO_REVISION = f"""INSERT INTO {REVISION}
(id, number, example_id, digest, input, tools_id, resolution, settles_at, gold_id, created_at)"""
INTO_GOLD = f"""INSERT INTO {GOLD}
(id, revision_id, expectation, rationale, source, adjudication_id, actor_id, created_at)"""

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


# ruff: noqa: S608 - only names of tables and columns are put together


CHANGE, SLOT, DISPUTE = table(StagedChange), table(LabelSlot), table(Dispute)

_HAS_LABELS = f"""(o.round > 1
    OR EXISTS (SELECT 1 FROM {SLOT} t WHERE t.revision_id = o.id AND t.state = 'submitted')
    OR EXISTS (SELECT 1 FROM {table(Adjudication)} a WHERE a.revision_id = o.id))"""
_DISPUTES = f"(SELECT COUNT(*) FROM {DISPUTE} d WHERE d.revision_id = o.id)"

_CHANGES = f"{CHANGE} c JOIN {PART} p ON p.id = c.part_id AND (p.job_id = %(job)s OR p.id = %(job)s)"
_WITH_ROWS = f"{_CHANGES} JOIN {STAGED} s ON s.id = c.staged_id"

# Rows about examples that were there before and that nothing has been decided about: the revision of the same content,
# if the example has one, its gold, and what differs.
UNDECIDED = f"""
SELECT s.id, s.part_id, e.id, e.current_id, o.id, o.gold_id, {_DISPUTES}, {_WORDS},
       CASE WHEN {_GOLD_DIFFERS} THEN 1 ELSE 0 END,
       CASE WHEN ({_STRATA_SAID}) AND ({_STRATA_DIFFER}) THEN 1 ELSE 0 END,
       CASE WHEN {_DECIDED_BY_DIFFERS} THEN 1 ELSE 0 END,
       COALESCE(g.source, ''),
       CASE WHEN {_HAS_LABELS} THEN 1 ELSE 0 END,
       s.fate
FROM {SOME_ROWS}
JOIN {EXAMPLE} e ON e.dataset_id = %(dataset)s AND e.external_id = s.external_id AND e.id <> s.example_id
LEFT JOIN {REVISION} o ON o.example_id = e.id AND o.digest = s.digest
LEFT JOIN {GOLD} g ON g.id = o.gold_id
WHERE e.current_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM {CHANGE} c WHERE c.staged_id = s.id)
ORDER BY s.id
"""

COUNT_DECIDED = f"SELECT COUNT(*) FROM {_CHANGES}"

# The revisions that people must not decide meanwhile.
LOCK = f"""
SELECT r.id FROM {REVISION} r WHERE r.id IN (
    SELECT c.current_id FROM {_CHANGES} WHERE {_IS_OTHER_CONTENT} OR c.gold_fate <> ''
    UNION SELECT c.onto_id FROM {_CHANGES} WHERE {_IS_OTHER_CONTENT} OR c.gold_fate <> ''
) ORDER BY r.id FOR UPDATE
"""

# What was decided about examples that are not as they were. People begin to label what had no gold, or take it back;
# another import brings the content, or asks the same.
FORGET_OUTDATED = f"""
DELETE FROM {CHANGE} WHERE staged_id IN (
    SELECT c.staged_id FROM {_CHANGES}
    LEFT JOIN {EXAMPLE} e ON e.id = c.example_id
    LEFT JOIN {REVISION} o ON o.id = c.onto_id
    WHERE e.id IS NULL OR e.dataset_id <> %(dataset)s OR e.current_id IS NULL OR e.current_id <> c.current_id
    OR {_WORDS} <> c.words
    OR o.gold_id <> c.gold_id OR (o.gold_id IS NULL AND c.gold_id IS NOT NULL)
    OR (o.gold_id IS NOT NULL AND c.gold_id IS NULL)
    OR (o.id IS NULL AND NOT ({_IS_NEW_CONTENT}))
    OR (c.gold_fate <> '' AND c.gold_id IS NULL AND {_HAS_LABELS} = (c.gold_fate = 'replaced'))
    OR (c.gold_fate = 'disputed' AND {_DISPUTES} <> c.disputes)
    OR ({_IS_NEW_CONTENT} AND EXISTS (
        SELECT 1 FROM {REVISION} x JOIN {STAGED} s ON s.id = c.staged_id
        WHERE x.example_id = c.example_id AND x.digest = s.digest))
)
"""

COUNTS = f"""
SELECT COUNT(CASE WHEN {_IS_OTHER_CONTENT} THEN 1 END),
       COUNT(CASE WHEN c.gold_fate = 'replaced' THEN 1 END),
       COUNT(CASE WHEN c.gold_fate = 'disputed' THEN 1 END),
       COUNT(CASE WHEN c.sets_strata THEN 1 END),
       COUNT(CASE WHEN c.sets_decided_by THEN 1 END),
       COUNT(CASE WHEN {_IS_OTHER_CONTENT} OR c.gold_fate IN ('replaced', 'disputed')
                  OR c.sets_strata OR c.sets_decided_by THEN 1 END)
FROM {_CHANGES}
"""

REVISE = f"""
{INTO_REVISION}
SELECT s.id, (SELECT MAX(x.number) + 1 FROM {REVISION} x WHERE x.example_id = c.example_id), c.example_id,
{REVISION_VALUES} FROM {_WITH_ROWS} WHERE {_IS_NEW_CONTENT}
"""
REVISE_GOLD = f"""
{INTO_GOLD}
SELECT s.gold_id, s.id, {GOLD_VALUES} FROM {_WITH_ROWS} WHERE {_IS_NEW_CONTENT} AND s.expectation IS NOT NULL
"""
REVISE_ORIGIN = f"""
INSERT INTO {ORIGIN} (revision_id, document)
SELECT s.id, s.origin FROM {_WITH_ROWS} WHERE {_IS_NEW_CONTENT} AND s.origin IS NOT NULL
"""
_CLOSED = f"UPDATE {SLOT} AS t SET state = 'closed', lease_until = NULL, priority = NULL FROM {_CHANGES}"
CLOSE_SLOTS = f"""
{_CLOSED} WHERE t.revision_id = c.current_id AND {_IS_OTHER_CONTENT} AND t.state IN ('open', 'claimed')
"""
SHOW = f"""
UPDATE {EXAMPLE} AS e SET current_id = c.onto_id FROM {_CHANGES} WHERE e.id = c.example_id AND {_IS_OTHER_CONTENT}
"""
# The labels that an earlier revision still lacks are wanted again.
OPEN_SLOTS = f"""
UPDATE {SLOT} AS t SET state = 'open', reviewer_id = NULL, claimed_at = NULL, lease_until = NULL,
priority = CASE WHEN r.round > 1 THEN 1 ELSE 0 END
FROM {_CHANGES} JOIN {REVISION} r ON r.id = c.onto_id
WHERE t.revision_id = r.id AND t.round = r.round AND t.state = 'closed' AND {_IS_UNRESOLVED} AND {_IS_SHOWN_AGAIN}
"""
# Those of them that people have worked on: how far they are is to be found again.
TO_EVALUATE = f"""
SELECT r.id FROM {_CHANGES} JOIN {REVISION} r ON r.id = c.onto_id
WHERE {_IS_SHOWN_AGAIN} AND {_IS_UNRESOLVED} AND (
    r.resolution <> 'open' OR r.settles_at IS NOT NULL
    OR EXISTS (SELECT 1 FROM {table(Label)} l WHERE l.revision_id = r.id)
    OR EXISTS (SELECT 1 FROM {table(Skip)} k WHERE k.revision_id = r.id))
ORDER BY r.id
"""
REGILD = f"{INTO_GOLD} SELECT s.gold_id, c.onto_id, {GOLD_VALUES} FROM {_WITH_ROWS} WHERE {_IS_REGILDED}"
PUT_IN_FORCE = f"""
UPDATE {REVISION} AS r SET gold_id = s.gold_id, resolution = 'resolved', set_aside_as = '', settles_at = NULL
FROM {_WITH_ROWS} WHERE r.id = c.onto_id AND {_IS_REGILDED}
"""
CLOSE_REGILDED = f"{_CLOSED} WHERE t.revision_id = c.onto_id AND {_IS_REGILDED} AND t.state IN ('open', 'claimed')"
# A dispute takes the id that the gold would have had.
DISPUTE_GOLD = f"""
INSERT INTO {DISPUTE} (id, revision_id, actor_id, reason, expectation, settled_at, created_at)
SELECT s.gold_id, c.onto_id, %(actor)s, %(reason)s, s.expectation, NULL, %(now)s
FROM {_WITH_ROWS} WHERE c.gold_fate = 'disputed'
"""
_FROM_ROWS = f"FROM {_WITH_ROWS} WHERE e.id = c.example_id"
SET_STRATA = f"""
UPDATE {EXAMPLE} AS e SET {", ".join(f"{name} = s.{name}" for name in Example.STRATA)} {_FROM_ROWS} AND c.sets_strata
"""
SET_DECIDED_BY = f"UPDATE {EXAMPLE} AS e SET decided_by = s.decided_by {_FROM_ROWS} AND c.sets_decided_by"

# What becomes of one row, for readers of the lines of the import; by executemany.
SET_FATE = f"UPDATE {STAGED} SET fate = %(fate)s WHERE id = %(staged)s"
