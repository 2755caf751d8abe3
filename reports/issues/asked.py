"""Find what an act on an issue names: an agent, a member, another issue; each of the project, or refused."""

from __future__ import annotations

from datetime import date
from typing import Any
from uuid import UUID

from django.db.models import Q

from reports.issues.models import Issue
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.models import Agent
from toolevals.workspace.models import Membership, Project, User


def agents_graded(project: Project) -> Any:
    """Return the agents of people's graded runs."""
    runs = Q(runs__grading__isnull=False, runs__baseline_agent="", runs__deleted_at=None)
    return Agent.objects.filter(runs, project=project).distinct().order_by()


def members_of(project: Project) -> list[User]:
    """Return the project's members by name."""
    members = Membership.objects.filter(project=project).select_related("user").order_by("user__name")
    return [each.user for each in members]


def agent_asked(project: Project, pk: UUID | None) -> Agent:
    """Return the agent with graded runs of that id. Raises InvalidDocument."""
    agent: Agent | None = agents_graded(project).filter(pk=pk).first() if pk else None
    if agent is None:
        raise InvalidDocument.at("/agent", "is not an agent of this project with a graded run")
    return agent


def member_asked(project: Project, pk: UUID | None) -> User:
    """Return the member of that id. Raises InvalidDocument."""
    member = next((each for each in members_of(project) if each.pk == pk), None)
    if member is None:
        raise InvalidDocument.at("/owner", "is not a member of this project")
    return member


def issue_asked(project: Project, pk: UUID | None) -> Issue:
    """Return the issue of that id, merged or not. Raises InvalidDocument."""
    found = Issue.objects.filter(project=project, pk=pk).first() if pk else None
    if found is None:
        raise InvalidDocument.at("/issue", "is not in this project")
    return found


def due_asked(text: str) -> date | None:
    """Return the day that a text names, None of none. Raises InvalidDocument."""
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise InvalidDocument.at("/due_on", "is not a day, such as 2027-01-31") from None
