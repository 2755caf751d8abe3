from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("reports", "0006_gates_on_pages"),
    ]

    operations = [
        migrations.RemoveConstraint(model_name="publicscore", name="one_public_score_in_force"),
        migrations.RenameField(model_name="publicscore", old_name="subject", new_name="agent"),
        migrations.AddConstraint(
            model_name="publicscore",
            constraint=models.UniqueConstraint(
                condition=models.Q(("ended_at__isnull", True)),
                fields=("project", "benchmark", "version", "agent", "metric"),
                name="one_public_score_in_force",
            ),
        ),
    ]
