"""Ask at once what is read with every label and mostly is not there, in SQL: Django builds as much for longer."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection, models

from labeling.label.querysets import MAY_LABEL
from labeling.models import Dataset, LabelBatch, Revision
from toolevals.grading.values.canonical import parse
from toolevals.workspace.models import Project, User

# How each type of value is handed to the database.
_FIELDS: dict[type, models.Field[Any, Any]] = {UUID: models.UUIDField(), datetime: models.DateTimeField()}

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
EXISTS (
 SELECT 1 FROM labeling_calibrationround round JOIN labeling_dataset dataset ON dataset.id = round.dataset_id
 WHERE dataset.project_id = %s AND dataset.deleted_at IS NULL AND round.closed_at IS NULL
),
(SELECT bindings FROM labeling_keybindings WHERE user_id = %s)"""


# What `SlotQuerySet.of_current_round().free(now).for_reviewer(user)` says. The round is asked of each slot: from a join
# PostgreSQL may go through all revisions, and sort their slots.
_FIT = f"""slot.priority IS NOT NULL
AND (slot.state = 'open' OR (slot.state = 'claimed' AND slot.lease_until < %s))
AND (slot.assignee_id IS NULL OR slot.assignee_id = %s)
AND slot.round = (SELECT revision.round FROM labeling_revision revision WHERE revision.id = slot.revision_id)
AND {MAY_LABEL.format(revision="slot.revision_id", round="slot.round", person="%s")}"""  # noqa: S608 - of the texts above
_PEOPLE = _FIT.count("%s") - 1
_PLACES: dict[type, str] = {
    Dataset: "slot.dataset_id = %s",
    LabelBatch: "slot.batch_id = %s",
    Project: "slot.dataset_id IN (SELECT id FROM labeling_dataset WHERE project_id = %s AND deleted_at IS NULL)",
}
_NEXT = f"""SELECT slot.id FROM labeling_labelslot slot WHERE {{place}} AND {_FIT}
ORDER BY slot.priority DESC, slot.turn, slot.revision_id, slot.id LIMIT 1"""  # noqa: S608
# Of a part of the rows, the different ones are counted outside it.
_LEFT = f"""SELECT COUNT(DISTINCT waiting.revision_id) FROM (
SELECT slot.revision_id FROM labeling_labelslot slot WHERE {{place}} AND {_FIT} LIMIT %s) waiting"""  # noqa: S608
# So many places for labels most examples have.
_SLOTS_EACH = 2
_ROLE = "SELECT role FROM workspace_membership WHERE project_id = %s AND user_id = %s"


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
    # Whether a calibration round is open in the project.
    calibrating: bool
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
    *facts, keys = _row(_PAGE, *own, *own, *own, user.pk, project, project, user.pk)
    drafted, labelled, remarks, asked, planned, calibrating = facts
    kept = parse(keys) if keys else {}
    return PageFacts(bool(drafted), bool(labelled), remarks, bool(asked), bool(planned), bool(calibrating), kept)


def first_in_turn(place: Dataset | LabelBatch, user: User, now: datetime) -> UUID | None:
    """Return the id of a place's first slot that is free and fit for this person, its row locked; None without one."""
    lock = " FOR UPDATE SKIP LOCKED" if connection.features.has_select_for_update_skip_locked else ""
    row = _row(_NEXT.format(place=_PLACES[type(place)]) + lock, place.pk, now, *[user.pk] * _PEOPLE)
    return None if row is None else UUID(str(row[0]))


def count_left(place: Dataset | Project, user: User, now: datetime, most: int) -> int:
    """Return how many examples of a place want a label by this person; it counts to `most` at least.

    An example has no more than a few slots, however many examples there are.
    """
    text = _LEFT.format(place=_PLACES[type(place)])
    return int(_row(text, place.pk, now, *[user.pk] * _PEOPLE, most * _SLOTS_EACH)[0])


def locked_role(project: Project, user: User) -> int | None:
    """Return the role of a person in a project, the row of their membership locked; None where they have none."""
    lock = " FOR UPDATE" if connection.features.has_select_for_update else ""
    row = _row(_ROLE + lock, project.pk, user.pk)
    return None if row is None else row[0]


def _row(text: str, *values: UUID | datetime | int) -> Any:
    """Return the first row of a statement; None where it has none."""
    taken = [
        field.get_db_prep_value(value, connection) if (field := _FIELDS.get(type(value))) else value for value in values
    ]
    with connection.cursor() as cursor:
        cursor.execute(text, taken)
        return cursor.fetchone()
