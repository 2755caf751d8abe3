from typing import Any

from django.db import migrations
from django.db.models import Exists, OuterRef


def labels_number(apps: Any, schema_editor: Any) -> None:
    """Mark the labels that were not the first of their author in their round."""
    label = apps.get_model("labeling", "Label")
    earlier = label.objects.filter(
        revision=OuterRef("revision"),
        reviewer=OuterRef("reviewer"),
        slot__round=OuterRef("slot__round"),
        pk__lt=OuterRef("pk"),
    )
    # By ids: a statement that joins other tables cannot change rows.
    later = list(label.objects.filter(Exists(earlier)).values_list("pk", flat=True))
    for start in range(0, len(later), 500):
        label.objects.filter(pk__in=later[start : start + 500]).update(is_first=False)


def queue_order(apps: Any, schema_editor: Any) -> None:
    """Let what has a label wait for its turn again; what was reopened still comes first."""
    apps.get_model("labeling", "LabelSlot").objects.filter(round=1, priority__gt=0).update(priority=0)


def agreements_wait(apps: Any, schema_editor: Any) -> None:
    """Let agreements that could still be taken back wait as labels do: their time is kept."""
    apps.get_model("labeling", "Revision").objects.filter(resolution="agreed").update(resolution="open")


class Migration(migrations.Migration):
    dependencies = [("labeling", "0004_first_labels_and_question_views")]

    operations = [
        migrations.RunPython(move, migrations.RunPython.noop)
        for move in (labels_number, queue_order, agreements_wait)
    ]
