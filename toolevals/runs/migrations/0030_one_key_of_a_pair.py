import django.db.models.deletion
from django.db import migrations, models


def _of_case(name, related_name="+", **options):
    """Let the database ask for the case alone, which has the same grading."""
    key = models.ForeignKey(
        to="runs.grading",
        on_delete=django.db.models.deletion.CASCADE,
        related_name=related_name,
        db_constraint=False,
        **options,
    )
    return migrations.AlterField(model_name=name, name="grading", field=key)


class Migration(migrations.Migration):
    dependencies = [("runs", "0029_baseline_agents")]

    operations = [
        # No one reads it since matrices are counted when a grading finishes.
        migrations.RemoveIndex(model_name="alignedpair", name="pair_strata"),
        _of_case("alignedpair", "pairs", db_index=False),
        _of_case("argumentfault", db_index=False),
        _of_case("casefinding", db_index=False),
        _of_case("episode", "episodes"),
    ]
