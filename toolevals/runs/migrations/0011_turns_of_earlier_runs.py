"""Count the turns of examples whose runs were graded before turns were counted, so that the filter finds them."""

from __future__ import annotations

from typing import Any

from django.db import migrations

AT_ONCE = 2000


def count_turns(apps: Any, schema_editor: Any) -> None:
    """Write the turn of every revision that anybody ran on and that has none; what is there stays."""
    revision_turn = apps.get_model("runs", "RevisionTurn")
    entry = apps.get_model("labeling", "VersionEntry")
    versions = apps.get_model("runs", "Run").objects.filter(grading__isnull=False).values("dataset_version")
    ran_on = apps.get_model("labeling", "Revision").objects.filter(
        pk__in=entry.objects.filter(version__in=versions).values("revision")
    )
    rows = ran_on.order_by("pk").values_list("pk", "input")
    some = list(rows[:AT_ONCE])
    while some:
        revision_turn.objects.bulk_create(
            (revision_turn(revision_id=pk, turn=_turn(document)) for pk, document in some), ignore_conflicts=True
        )
        some = list(rows.filter(pk__gt=some[-1][0])[:AT_ONCE])


def _turn(document: Any) -> int:
    """Return how many messages of the user an input holds, as turns were counted when this was written."""
    messages = document.get("messages") if isinstance(document, dict) else None
    return sum(
        isinstance(message, dict) and message.get("role") == "user"
        for message in (messages if isinstance(messages, list) else [])
    )


class Migration(migrations.Migration):
    dependencies = [
        ("labeling", "0001_initial"),
        ("runs", "0010_tryouts"),
    ]

    operations = [migrations.RunPython(count_turns, migrations.RunPython.noop)]
