"""Decide who sees what while people re-read the cases of a grading. Every read of what they say goes through here.

- A reader is shown the conversation and what the agent did; no gold, no verdict, and no name of example or run.
- Who made an example's gold does not read it: who has labelled it, decided about it, or put its gold in force. In
  projects that let adjudicators decide what they have labelled (`Project.decide_own`, for teams of two) they may.
- Who may still be given an example to label must not see what an agent did there: while it is not resolved, or an open
  calibration round asks for it, its cases rest, for everyone.
- While a re-reading is open, a reading is shown to who gave it alone, and what came of it to no one. How many readings
  there are is told to everyone: it says nothing about what was said. Of a cancelled one nothing more is shown.
- Names of readers are for owners, always.
"""

from __future__ import annotations

from typing import Any

from django.db.models import Exists, OuterRef, Q

from labeling.blindness import is_resolved, labelled_by
from labeling.models import Adjudication, CalibrationItem, Gold, GoldSource
from toolevals.workspace.models import User

_REVISION = "case__transcript__entry__revision"


def readings_shown(user: User) -> Q:
    """Return the condition on a reading under which this person sees it."""
    return Q(reader=user) | Q(case__rereading__closed_at__isnull=False, case__rereading__is_cancelled=False)


def made_gold(user: User) -> Any:
    """Return the condition on a case of a re-reading that this person made the example's gold, and may not read it."""
    revision = OuterRef(_REVISION)
    decided = Adjudication.objects.filter(revision=revision, adjudicator=user)
    restored = Gold.objects.filter(revision=revision, actor=user, source=GoldSource.RESTORED)
    own = Q(labelled_by(user, revision)) | Q(Exists(decided)) | Q(Exists(restored))
    return own & Q(rereading__grading__run__project__decide_own=False)


def is_at_rest() -> Q:
    """Return the condition on a case of a re-reading that someone may still be asked to label its example."""
    asked = CalibrationItem.objects.filter(revision=OuterRef(_REVISION), round__closed_at=None)
    return ~is_resolved(_REVISION) | Q(Exists(asked))
