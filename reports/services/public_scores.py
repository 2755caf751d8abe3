"""Record published scores: the same again replaces what is in force, and nothing is forgotten."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from reports.models import PublicScore
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Project, User

_KEY = ("benchmark", "version", "agent", "metric")


@transaction.atomic
def public_score_record(*, project: Project, actor: User | None, score: Mapping[str, Any]) -> PublicScore:
    """Record a score as `reports.public_scores.reading.read_score` returns it.

    One of the same benchmark, version, agent and metric is replaced by it; the very same changes nothing.
    """
    # One at a time, so that two do not both replace.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    same = PublicScore.objects.filter(project=project, **{name: score[name] for name in _KEY}).in_force().first()
    if same is not None and all(getattr(same, name) == value for name, value in score.items()):
        return same
    if same is not None:
        _end(same, actor)
    made = PublicScore.objects.create(project=project, actor=actor, **score)
    detail = {"benchmark": str(made), "agent": made.agent, "metric": made.metric, "value": made.value}
    audit_record(project=project, actor=actor, verb="public_score_record", target=made, detail=detail)
    return made


@transaction.atomic
def public_scores_import(
    *, project: Project, actor: User | None, scores: Sequence[Mapping[str, Any]]
) -> list[PublicScore]:
    """Record the scores of a file, all or none."""
    return [public_score_record(project=project, actor=actor, score=score) for score in scores]


@transaction.atomic
def public_score_withdraw(*, score: PublicScore, actor: User | None) -> None:
    """Take a score out of force; it stays in the history. One that is out already stays as it is."""
    locked = PublicScore.objects.select_for_update(of=("self",)).get(pk=score.pk)
    if locked.ended_at is None:
        _end(locked, actor)
        detail = {"benchmark": str(locked), "agent": locked.agent, "metric": locked.metric}
        audit_record(project=locked.project, actor=actor, verb="public_score_withdraw", target=locked, detail=detail)


def _end(score: PublicScore, actor: User | None) -> None:
    score.ended_at, score.ended_by = database_now(), actor
    score.save(update_fields=["ended_at", "ended_by"])
