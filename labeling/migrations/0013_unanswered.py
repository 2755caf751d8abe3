from django.conf import settings
from django.db import migrations, models
from django.db.models import Exists, F, OuterRef


def mark(apps, schema_editor):
    """Mark the newest comment of each thread where it is the asker's."""
    comments = apps.get_model("labeling", "Comment").objects.using(schema_editor.connection.alias)
    newer = comments.filter(revision=OuterRef("revision"), asker=OuterRef("asker"), pk__gt=OuterRef("pk"))
    waiting = comments.filter(author=F("asker")).exclude(Exists(newer)).order_by("pk").values_list("pk", flat=True)
    pks = list(waiting)
    for start in range(0, len(pks), 500):
        comments.filter(pk__in=pks[start : start + 500]).update(is_unanswered=True)


class Migration(migrations.Migration):

    dependencies = [
        ("labeling", "0012_staged_changes"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="comment",
            name="is_unanswered",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.RunPython(mark, migrations.RunPython.noop, elidable=True),
        migrations.AddIndex(
            model_name="comment",
            index=models.Index(condition=models.Q(("is_unanswered", True)), fields=["asker"], name="comment_unanswered"),
        ),
    ]
