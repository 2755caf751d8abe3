"""Tell what is done to a dataset's guideline.

Each wording stays, numbered, and labels name the one that was in force.
"""

from __future__ import annotations

from django.db import transaction

from labeling.models import Dataset, GuidelineVersion
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.models import User


@transaction.atomic
def guideline_publish(*, dataset: Dataset, actor: User | None, text: str, note: str = "") -> GuidelineVersion | None:
    """Put another wording in force and return its version; None where it is the wording in force already.

    `note` says what is new, for those who read the one before.
    """
    locked = Dataset.objects.select_for_update(of=("self",)).get(pk=dataset.pk)
    text = text.replace("\r\n", "\n")
    newest = locked.guidelines.order_by("-number").first()
    if text == (newest.text if newest else ""):
        return None
    version = GuidelineVersion.objects.create(
        dataset=locked,
        number=newest.number + 1 if newest else 1,
        text=text,
        note=note.strip()[:300],
        actor=actor,
    )
    dataset.guideline = text
    dataset.save(update_fields=["guideline"])
    audit_record(
        project=locked.project,
        actor=actor,
        verb="guideline_publish",
        target=version,
        detail={"number": version.number},
    )
    return version
