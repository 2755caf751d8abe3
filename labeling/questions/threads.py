"""Read the threads about one example that the reader may see: see `labeling.blindness`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from uuid import UUID

from labeling.blindness import RESOLVED, may_answer
from labeling.models import Comment, QuestionView, Revision
from toolevals.workspace.mentions.names import text_named
from toolevals.workspace.models import Role, User

YOU, REVIEWER, ADJUDICATOR = "You", "A reviewer", "An adjudicator"


@dataclass(frozen=True, slots=True)
class Remark:
    """One comment; `author` is a name only where names may be told."""

    author: str
    text: str
    created_at: datetime
    is_own: bool


@dataclass(frozen=True, slots=True)
class Thread:
    """The question of one reviewer with its answers; `key` is its first comment, which names no one."""

    key: UUID
    remarks: tuple[Remark, ...]
    is_own: bool
    may_add: bool


@dataclass(frozen=True, slots=True)
class Talk:
    """All that a person reads of the questions about an example."""

    threads: tuple[Thread, ...]
    # Whether they may begin a thread of their own.
    may_ask: bool
    is_resolved: bool

    @property
    def count(self) -> int:
        return sum(len(thread.remarks) for thread in self.threads)


def talk_of(revision: Revision, user: User, role: Role) -> Talk:
    """Return the threads about a revision that this person may read, the oldest first.

    Before the revision is resolved, others' only once it is written down that this person opened them: see
    `question_open`.
    """
    resolved = revision.resolution in RESOLVED
    answers = not resolved and may_answer(revision, user, role)
    rows = Comment.objects.filter(revision=revision).readable_by(user, role).select_related("author")
    if not resolved and not QuestionView.objects.filter(revision=revision, user=user).exists():
        rows = rows.filter(asker=user)
    grouped = groupby(sorted(rows, key=lambda row: (str(row.asker_id), row.pk)), key=lambda row: row.asker_id)
    threads = [
        _thread(list(group), user, named=resolved, may_add=not resolved and _may_add(asker, user, answers=answers))
        for asker, group in grouped
    ]
    asked = any(thread.is_own for thread in threads)
    may_ask = role >= Role.REVIEWER and not resolved and not answers and not asked
    return Talk(tuple(sorted(threads, key=lambda thread: thread.key)), may_ask, resolved)


def _may_add(asker: UUID | None, user: User, *, answers: bool) -> bool:
    """Tell whether this person may go on with a thread; no one here asked what was noted elsewhere."""
    return asker is not None and (answers or asker == user.pk)


def _thread(rows: Sequence[Comment], user: User, *, named: bool, may_add: bool) -> Thread:
    remarks = tuple(
        Remark(_author(row, user, named=named), text_named(row.text), row.created_at, row.author_id == user.pk)
        for row in rows
    )
    return Thread(rows[0].pk, remarks, rows[0].asker_id == user.pk, may_add)


def _author(row: Comment, user: User, *, named: bool) -> str:
    if row.author_id == user.pk:
        return YOU
    if named and row.external_author:
        return row.external_author
    if named and row.author is not None:
        return str(row.author.name)
    return REVIEWER if row.author_id == row.asker_id else ADJUDICATOR
