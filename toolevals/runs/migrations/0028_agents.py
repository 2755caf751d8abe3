import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0027_rereading"),
    ]

    operations = [
        migrations.RenameModel(old_name="Subject", new_name="Agent"),
        migrations.RenameField(model_name="run", old_name="subject", new_name="agent"),
        migrations.RemoveConstraint(model_name="agent", name="subject_digest"),
        migrations.AlterField(
            model_name="agent",
            name="project",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="agents", to="workspace.project"
            ),
        ),
        migrations.AddConstraint(
            model_name="agent",
            constraint=models.UniqueConstraint(fields=("project", "digest"), name="agent_digest"),
        ),
    ]
