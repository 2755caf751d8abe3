from django.conf import settings
from django.db import migrations, models
from django.db.models import deletion

import toolevals.workspace.fields


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("labeling", "0003_imports_in_parts"),
    ]

    operations = [
        migrations.CreateModel(
            name="QuestionView",
            fields=[
                ("id", toolevals.workspace.fields.PublicIdField(serialize=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "revision",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=deletion.CASCADE,
                        related_name="question_views",
                        to="labeling.revision",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False, on_delete=deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["user"], name="question_view_user")],
                "constraints": [
                    models.UniqueConstraint(fields=("revision", "user"), name="question_view_once")
                ],
            },
        ),
        migrations.AddField(
            model_name="label",
            name="is_first",
            field=models.BooleanField(db_default=True, default=True),
        ),
        migrations.AlterField(
            model_name="revision",
            name="resolution",
            field=models.CharField(
                choices=[
                    ("open", "to label"),
                    ("disagreed", "to adjudicate"),
                    ("passed_on", "passed on, to adjudicate"),
                    ("resolved", "gold"),
                    ("set_aside", "set aside"),
                ],
                default="open",
                max_length=12,
            ),
        ),
        migrations.RemoveIndex(model_name="labelslot", name="slot_queue"),
        migrations.AddIndex(
            model_name="labelslot",
            index=models.Index(
                condition=models.Q(("priority__isnull", False)),
                fields=["dataset", "-priority", "turn", "revision", "id"],
                name="slot_queue",
            ),
        ),
    ]
