"""Keep a person's views of lists of examples, and drop them."""

from __future__ import annotations

from django.db import transaction

from labeling.errors import InvalidAct
from labeling.models import SavedView
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.models import Project, User

# So many views one person keeps in a project.
MOST = 20


@transaction.atomic
def view_save(*, project: Project, actor: User, name: str, query: str) -> SavedView:
    """Keep filters under a name of this person's; the same name again takes the place of what it named.

    Raises `ValidationError` for a name or filters that are empty or too long, InvalidAct where there are too many.
    """
    own = SavedView.objects.filter(project=project, user=actor)
    view = own.filter(name=name.strip()).first() or SavedView(project=project, user=actor, name=name.strip())
    if view._state.adding and own.count() >= MOST:
        raise InvalidAct(f"You keep {MOST} views in this project already. Delete one first.")
    view.query = query
    view.full_clean(validate_constraints=False)
    view.save()
    audit_record(project=project, actor=actor, verb="view_save", target=view, detail={"name": view.name})
    return view


@transaction.atomic
def view_delete(*, view: SavedView, actor: User) -> None:
    """Drop a view; the examples stay as they are."""
    audit_record(project=view.project, actor=actor, verb="view_delete", target=view, detail={"name": view.name})
    view.delete()
