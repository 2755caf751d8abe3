import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import toolevals.workspace.fields


class Migration(migrations.Migration):
    dependencies = [
        ("reports", "0005_dialect_sums"),
        ("workspace", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="NamedGate",
            fields=[
                ("id", toolevals.workspace.fields.PublicIdField(serialize=False)),
                ("name", models.SlugField(max_length=60)),
                ("gate", toolevals.workspace.fields.DocumentField()),
                ("baseline", models.CharField(blank=True, max_length=220)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
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
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="named_gates",
                        to="workspace.project",
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("project", "name"), name="named_gate_name")],
            },
        ),
        migrations.CreateModel(
            name="GatePreview",
            fields=[
                ("id", toolevals.workspace.fields.PublicIdField(serialize=False)),
                ("name", models.CharField(blank=True, max_length=60)),
                ("gate", toolevals.workspace.fields.DocumentField()),
                ("baseline", models.CharField(blank=True, max_length=220)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
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
                    "job",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="gate_preview",
                        to="workspace.job",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="gate_previews",
                        to="workspace.project",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="heldgate",
            name="name",
            field=models.CharField(blank=True, default="", max_length=60),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="heldgate",
            name="preview",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="held",
                to="reports.gatepreview",
            ),
        ),
    ]
