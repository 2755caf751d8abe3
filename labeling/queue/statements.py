"""Ask at once what is read with every label and mostly is not there, in SQL: Django builds as much for longer."""

from __future__ import annotations

from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection, models

from labeling.models import Revision
from toolevals.grading.values.canonical import parse
from toolevals.workspace.models import User

_ID: models.Field[Any, Any] = models.UUIDField()

_BEGUN = """SELECT
EXISTS (SELECT 1 FROM labeling_draft WHERE user_id = %s),
EXISTS (SELECT 1 FROM labeling_labelslot WHERE assignee_id = %s AND state IN ('open', 'claimed')),
EXISTS (SELECT 1 FROM labeling_labelbatch WHERE owner_id = %s AND closed_at IS NULL),
EXISTS (SELECT 1 FROM labeling_calibrationround WHERE closed_at IS NULL AND comes_first)"""
_LABEL = """SELECT
(SELECT MAX(number) FROM labeling_guidelineversion WHERE dataset_id = %s),
EXISTS (
 SELECT 1 FROM labeling_label label JOIN labeling_labelslot slot ON slot.id = label.slot_id
 WHERE label.revision_id = %s AND label.reviewer_id = %s AND slot.round = %s
),
EXISTS (SELECT 1 FROM labeling_skip WHERE revision_id = %s AND reviewer_id = %s AND undone_at IS NULL)"""
_PAGE = """SELECT
EXISTS (SELECT 1 FROM labeling_draft WHERE revision_id = %s AND user_id = %s),
EXISTS (SELECT 1 FROM labeling_label WHERE revision_id = %s AND reviewer_id = %s),
(SELECT COUNT(*) FROM labeling_comment WHERE revision_id = %s AND asker_id = %s),
EXISTS (SELECT 1 FROM labeling_comment WHERE asker_id = %s),
EXISTS (
 SELECT 1 FROM labeling_lookplan plan JOIN labeling_dataset dataset ON dataset.id = plan.dataset_id
 WHERE dataset.project_id = %s AND dataset.deleted_at IS NULL AND plan.ended_at IS NULL
),
(SELECT bindings FROM labeling_keybindings WHERE user_id = %s)"""


class Begun(NamedTuple):
    """Holds what a person may have begun, or be meant to do, before the queue of a dataset.

    `calibration`: whether there is any round that someone has to answer before they are handed examples.
    """

    drafts: bool
    kept: bool
    batches: bool
    calibration: bool


class LabelFacts(NamedTuple):
    """The number of the guideline in force (0: none), and what the person has done with the revision.

    `is_first`: whether a label now is their first of the round. `skipped`: whether they have passed it on, and not
    taken that back.
    """

    guideline: int
    is_first: bool
    skipped: bool


class PageFacts(NamedTuple):
    """The state of a person's work on an example, draft and label, and the other facts that its page shows."""

    drafted: bool
    labelled: bool
    remarks: int
    # Whether the person has ever asked anything.
    asked: bool
    # Whether a plan of second looks is at work in the project.
    planned: bool
    # The person's keys by the names of actions, where they are not the usual ones.
    keys: dict[str, str]


def has_begun(user: User) -> Begun:
    """Return what a person may have to do before the queue."""
    return Begun(*map(bool, _row(_BEGUN, user.pk, user.pk, user.pk)))


def label_facts(revision: Revision, user: User) -> LabelFacts:
    """Return what a label of a locked revision by this person depends on."""
    own = (revision.pk, user.pk)
    guideline, earlier, skipped = _row(_LABEL, revision.example.dataset_id, *own, revision.round, *own)
    return LabelFacts(guideline or 0, not earlier, bool(skipped))


def page_facts(revision: Revision, user: User) -> PageFacts:
    """Return what the page of an example asks of a person."""
    own, project = (revision.pk, user.pk), revision.example.dataset.project_id
    drafted, labelled, remarks, asked, planned, keys = _row(_PAGE, *own, *own, *own, user.pk, project, user.pk)
    return PageFacts(bool(drafted), bool(labelled), remarks, bool(asked), bool(planned), parse(keys) if keys else {})


def _row(text: str, *values: UUID | int) -> tuple[Any, ...]:
    """Return the one row of a statement."""
    taken = [_ID.get_db_prep_value(each, connection) if isinstance(each, UUID) else each for each in values]
    with connection.cursor() as cursor:
        cursor.execute(text, taken)
        row: tuple[Any, ...] = cursor.fetchone()
    return row
