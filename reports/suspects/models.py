"""Store suspect labels: counted, and counted again when there is more; nothing else depends on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django.db import models
from django.db.models import Case, Exists, F, OuterRef, Q, Value, When

from labeling.blindness import is_resolved, labelled_by
from labeling.models import DatasetVersion, VersionEntry
from toolevals.workspace.fields import DocumentField, PublicIdField
from toolevals.workspace.models import Job, Role

if TYPE_CHECKING:
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


class SuspectCount(models.Model):
    """The time of a count of a version's suspects, and what was counted."""

    version = models.OneToOneField(DatasetVersion, on_delete=models.CASCADE, primary_key=True, related_name="+")
    # A name by content of what there was to count (`reports.suspects.services`).
    basis = models.CharField(max_length=64, blank=True)
    # Independent agents that were heard.
    voices = models.PositiveIntegerField(default=0)
    counted_at = models.DateTimeField(null=True)
    # Who counts again.
    job = models.ForeignKey(Job, null=True, on_delete=models.SET_NULL, related_name="+")


class Suspect(models.Model):
    """An example of a version of whose gold something says that it is wrong."""

    id = PublicIdField()
    version = models.ForeignKey(DatasetVersion, on_delete=models.CASCADE, related_name="+", db_index=False)
    entry = models.OneToOneField(VersionEntry, on_delete=models.CASCADE, related_name="+")
    # Without the labels, and with them: who may know of labels is asked when it is shown.
    score = models.FloatField()
    score_with_labels = models.FloatField()
    # Names of `reports.suspects.analysis.REASONS` between commas, as ",agreement,twins,"; without the labels'.
    kinds = models.CharField(max_length=120, blank=True)
    # Documents of `reports.suspects.analysis.Reason`, the strongest first; the labels' apart.
    reasons = DocumentField(default=list)
    wavered = DocumentField(null=True)

    objects = SuspectQuerySet.as_manager()

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["version", "-score", "entry"], name="suspect_rank"),
        ]
