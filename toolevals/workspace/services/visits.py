"""Notes that someone is here. It writes no audit row, since nothing of the project changes."""

from __future__ import annotations

from datetime import datetime, timedelta

from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Project, User, Visit

# Looks at the page that are closer together are one visit.
APART = timedelta(minutes=30)
# A visit is not written down more often.
_OFTEN = timedelta(minutes=1)


def visit_note(*, project: Project, user: User) -> datetime | None:
    """Note that a person looks at a project's first page; return when their visit before this one ended, if ever."""
    now = database_now()
    visit, is_new = Visit.objects.get_or_create(project=project, user=user, defaults={"seen_at": now})
    if is_new or now - visit.seen_at < _OFTEN:
        return visit.before
    if now - visit.seen_at >= APART:
        visit.before = visit.seen_at
    # Of two looks at once the first one's word holds.
    Visit.objects.filter(pk=visit.pk, seen_at=visit.seen_at).update(seen_at=now, before=visit.before)
    return visit.before


def visited_before(project: Project, user: User) -> datetime | None:
    """Return when a person's visit before this one ended, without noting anything."""
    return Visit.objects.filter(project=project, user=user).values_list("before", flat=True).first()
