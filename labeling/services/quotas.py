"""Tell what a dataset should hold."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from labeling.coverage.quotas import DEFAULTS, quotas_check, quotas_document
from labeling.models import Dataset
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.models import User


@transaction.atomic
def quotas_set(*, dataset: Dataset, actor: User | None, document: Any) -> Dataset:
    """Change a dataset's quotas (`coverage.quotas.SCHEMA`); what is as by default is not kept. Raises InvalidDocument.

    The queue's order follows at the sweeper's next turn.
    """
    quotas_check(document)
    dataset.quotas = _without_defaults(quotas_document(document))
    dataset.save(update_fields=["quotas"])
    audit_record(project=dataset.project, actor=actor, verb="quotas_set", target=dataset)
    return dataset


def _without_defaults(full: dict[str, Any]) -> dict[str, Any]:
    said: dict[str, Any] = {}
    for name, value in full.items():
        usual = DEFAULTS[name]
        if isinstance(usual, dict):
            value = {key: number for key, number in value.items() if usual.get(key) != number}  # noqa: PLW2901
        if value not in (usual, {}):
            said[name] = value
    return said
