import django.db.models.deletion
import toolevals.workspace.fields
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0026_trash"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Rereading",
            fields=[
                ("id", toolevals.workspace.fields.PublicIdField(serialize=False)),
                ("readers", models.PositiveSmallIntegerField()),
                ("seed", models.CharField(max_length=100)),
                ("drawn_from", toolevals.workspace.fields.DocumentField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("closed_at", models.DateTimeField(null=True)),
                ("is_cancelled", models.BooleanField(default=False)),
                ("counts", toolevals.workspace.fields.DocumentField(null=True)),
                (
                    "actor",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "grading",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="rereadings", to="runs.grading"
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["grading", "-closed_at"], name="rereading_newest")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("closed_at", None)), fields=("grading",), name="one_open_rereading"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="RereadCase",
            fields=[
                ("id", toolevals.workspace.fields.PublicIdField(serialize=False)),
                ("position", models.PositiveIntegerField()),
                ("passed", models.BooleanField()),
                ("trials", models.PositiveSmallIntegerField()),
                (
                    "case",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="reread", to="runs.casegrade"
                    ),
                ),
                (
                    "rereading",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="cases", to="runs.rereading"
                    ),
                ),
            ],
            options={
                "ordering": ["position"],
                "constraints": [
                    models.UniqueConstraint(fields=("rereading", "position"), name="reread_position"),
                    models.UniqueConstraint(fields=("rereading", "case"), name="reread_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Reading",
            fields=[
                ("id", toolevals.workspace.fields.PublicIdField(serialize=False)),
                ("place", models.PositiveSmallIntegerField()),
                (
                    "said",
                    models.CharField(
                        choices=[("right", "right"), ("wrong", "wrong"), ("cannot_say", "cannot say")], max_length=10
                    ),
                ),
                ("note", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "case",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="readings", to="runs.rereadcase"
                    ),
                ),
                (
                    "reader",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["place"],
                "constraints": [
                    models.UniqueConstraint(fields=("case", "reader"), name="read_once_each"),
                    models.UniqueConstraint(fields=("case", "place"), name="reading_place"),
                ],
            },
        ),
    ]
