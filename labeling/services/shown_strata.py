"""Choose the strata of a dataset that reviewers see of what they may be given to label."""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction

from labeling.models import Dataset, Example
from toolevals.grading.values.problems import InvalidDocument
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.models import User


@transaction.atomic
def strata_show(*, dataset: Dataset, actor: User | None, strata: Collection[str]) -> Dataset:
    """Show reviewers these strata of a dataset besides the safe ones, and no other.

    Raises:
        InvalidDocument: a name is no stratum.

    """
    if unknown := sorted(set(strata) - set(Example.STRATA)):
        raise InvalidDocument.at(
            "/strata", f"There is no stratum {unknown[0]!r}. There are {', '.join(Example.STRATA)}."
        )
    dataset.shown_strata = [name for name in Example.STRATA if name in strata]
    dataset.save(update_fields=["shown_strata"])
    audit_record(
        project=dataset.project,
        actor=actor,
        verb="strata_show",
        target=dataset,
        detail={"strata": dataset.shown_strata},
    )
    return dataset
