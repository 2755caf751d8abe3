"""Tell on a project's first page which issues a person owns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from django.db.models import QuerySet
from django.urls import reverse

from reports.issues.models import Issue, IssueState
from toolevals.workspace.home import PendingTask, due_of
from toolevals.workspace.models import Project, Role, User

MOST = 1000


def assigned(project: Project, user: User) -> QuerySet[Issue]:
    """Return the issues that this person owns and that are not done with."""
    return Issue.objects.filter(
        project=project, owner=user, merged_into=None, state__in=(IssueState.OPEN, IssueState.REGRESSED)
    )


def waiting(project: Project, role: Role, counted: Mapping[str, int]) -> Iterator[PendingTask]:
    """Yield the issues of the person who asks."""
    count = counted.get("assigned_issues", 0)
    url = f"{reverse('reports:issues', args=[project.slug])}?owner=me"
    due = due_of(counted, "assigned_issues")
    yield PendingTask(count, "issue of yours", "issues of yours", url, "See your issues", MOST, due)
