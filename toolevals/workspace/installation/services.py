"""Changes settings of the installation while it runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.installation.reading import is_locked, reading_forget
from toolevals.workspace.models import InstallationSetting, User


@transaction.atomic
def installation_set(*, actor: User, values: Mapping[str, Any]) -> list[str]:
    """Put values in place of defaults, or with None the default back; return the names of what changed.

    What the environment sets is left out.
    """
    known = {each.name: each for each in InstallationSetting.objects.select_for_update()}
    changed = []
    for name, value in values.items():
        row = known.get(name)
        if is_locked(name) or value == (row.value if row else None):
            continue
        row = row or InstallationSetting(name=name)
        detail = {"name": name, "value": value, "before": row.value if name in known else None}
        audit_record(project=None, actor=actor, verb="installation_set", target=row, detail=detail)
        if value is None:
            row.delete()
        else:
            row.value, row.actor = value, actor
            row.save()
        changed.append(name)
    transaction.on_commit(reading_forget)
    return changed
