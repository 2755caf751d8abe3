"""Read suspects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import Case, Exists, F, OuterRef, Q, Value, When

from labeling.blindness import is_resolved, labelled_by
from toolevals.workspace.models import Role

if TYPE_CHECKING:
    from labeling.models import DatasetVersion
    from reports.models import Suspect  # noqa: F401
    from toolevals.workspace.models import User

_REVISION = "entry__revision"


class SuspectQuerySet(models.QuerySet["Suspect"]):
    """Reads of suspects."""

    def ranked_for(self, version: DatasetVersion, user: User, role: Role) -> Any:
        """Return a version's suspects as this person may know them, the most suspicious first.

        Adds `tells_labels`, whether they may know how people labelled it: adjudicators alone, of what is resolved or
        what they have not labelled; `shown`, the score by what they may know; and `state`: "disputed", "changed"
        (other gold is in force, or none), "settled" (someone looked, and left it) or "open".
        """
        from labeling.models import Dispute

        disputes = Dispute.objects.filter(revision=OuterRef(_REVISION)).visible_to(user, role)
        same = Q(**{f"{_REVISION}__gold": F("entry__gold")})
        suspects = self.filter(version=version).annotate(
            tells_labels=_tells_labels(user, role),
            state=Case(
                When(Exists(disputes.open()), then=Value("disputed")),
                When(~same | Q(**{f"{_REVISION}__gold__isnull": True}), then=Value("changed")),
                When(Exists(disputes), then=Value("settled")),
                default=Value("open"),
            ),
        )
        shown = Case(When(tells_labels=True, then=F("score_with_labels")), default=F("score"))
        return suspects.annotate(shown=shown).filter(shown__gt=0).order_by("-shown", "entry__position", "pk")


def _tells_labels(user: User, role: Role) -> Any:
    if role < Role.ADJUDICATOR:
        return Value(False, output_field=models.BooleanField())
    told = is_resolved(_REVISION) | ~labelled_by(user, OuterRef(_REVISION))
    return Case(When(told, then=Value(True)), default=Value(False), output_field=models.BooleanField())
