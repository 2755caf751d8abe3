"""Withhold acts in the audit log while an example is being labelled, and a project's export: see the settings."""

from __future__ import annotations

from django.db.models import Exists, F, OuterRef, Q

from labeling.blindness import is_resolved
from labeling.models import (
    CalibrationRound,
    Comment,
    Label,
    LabelSlot,
    Revision,
    SecondLook,
    Skip,
    SpareLabel,
)
from toolevals.workspace.models import Project, User

# What claims, labels, skips and questions are done to.
TARGETS = (LabelSlot, Label, SpareLabel, SecondLook, Skip, Comment)


def undecided(user: User) -> Q:
    """Return the condition on an act of another about an example that is not decided: who labelled it, and when.

    A person who decides could tell the sides apart by it. The acts are withheld as a whole: their ids and their places
    in the log tell the time as well. What an example no longer shows is decided by no one, and withheld no more.
    """
    acts = Q(pk__in=[])
    for model in TARGETS:
        waiting = model.objects.filter(
            ~is_resolved(), pk=OuterRef("target_id"), revision__example__current=F("revision")
        )
        acts |= Q(Exists(waiting.order_by()), target_type=model._meta.label_lower)
    return acts & (Q(actor__isnull=True) | ~Q(actor=user))


def still_blind(project: Project) -> str:
    """Say what of the project's labelling no owner may read yet; empty where all is decided: see `STILL_BLIND`."""
    # Whether they have labels already is no one's business.
    current = Revision.objects.filter(example__dataset__project=project, example__current=F("pk"))
    waiting = current.filter(~is_resolved("")).count()
    rounds = CalibrationRound.objects.filter(dataset__project=project, closed_at=None).count()
    if not (waiting or rounds):
        return ""
    return f"Labels are blind until they are decided: {waiting} examples, and {rounds} calibration rounds, are open."
