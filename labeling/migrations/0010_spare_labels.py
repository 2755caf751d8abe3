from django.conf import settings
from django.db import migrations, models
from django.db.models import deletion

import toolevals.workspace.fields


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("labeling", "0009_trash"),
    ]

    operations = [
        migrations.CreateModel(
            name="SpareLabel",
            fields=[
                ("id", toolevals.workspace.fields.PublicIdField(serialize=False)),
                ("round", models.PositiveSmallIntegerField()),
                (
                    "answer",
                    models.CharField(
                        choices=[
                            ("expectation", "an expectation"),
                            ("ambiguous", "ambiguous: more than one reading"),
                            ("missing_tool", "the right tool is missing"),
                        ],
                        default="expectation",
                        max_length=12,
                    ),
                ),
                ("expectation", toolevals.workspace.fields.DocumentField(null=True)),
                ("rationale", models.TextField(blank=True)),
                ("flagged", models.BooleanField(default=False)),
                ("guideline", models.PositiveIntegerField(default=0)),
                ("suggestion", toolevals.workspace.fields.DocumentField(null=True)),
                ("seconds", models.FloatField(default=0)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "reviewer",
                    models.ForeignKey(
                        null=True, on_delete=deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "revision",
                    models.ForeignKey(
                        on_delete=deletion.CASCADE, related_name="spare_labels", to="labeling.revision"
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["reviewer", "revision"], name="spare_reviewer")],
            },
        ),
    ]
