from django.db import migrations, models

from toolevals.grading.values.canonical import digest

FIELD = ("floor", "baseline_agent")
EXPERIMENT = (("_floors", "Floors"), ("_baseline_agents", "Baseline agents"))
SWEEP = (
    "toolevals.runs.services.floors.floors_due",
    "toolevals.runs.services.baseline_agents.baseline_agents_due",
)


def rename(apps, _schema_editor):
    """Write the stored codes of baseline agents under their new name."""
    _rename(apps, *FIELD, *EXPERIMENT, *SWEEP)


def rename_back(apps, _schema_editor):
    """Write the stored codes of baseline agents under their old name."""
    _rename(apps, *reversed(FIELD), *reversed(EXPERIMENT), *reversed(SWEEP))


def _rename(apps, old, new, old_experiment, new_experiment, old_sweep, new_sweep):
    for agent in apps.get_model("runs", "Agent").objects.filter(connector=old).iterator():
        agent.connector = new
        agent.options = {new if name == old else name: value for name, value in agent.options.items()}
        content = ("name", "connector", "model", "prompt_version", "commit", "options")
        tools = str(agent.tools_id) if agent.tools_id else None
        # As `agent_ensure` makes it: otherwise the next version of a dataset would make a second agent.
        agent.digest = digest({**{name: getattr(agent, name) for name in content}, "tools": tools})
        agent.save(update_fields=["connector", "options", "digest"])
    experiments = apps.get_model("runs", "Experiment").objects.filter(slug=old_experiment[0])
    experiments.update(slug=new_experiment[0], name=new_experiment[1])
    apps.get_model("workspace", "Job").objects.filter(kind=old).update(kind=new)
    sweeps = apps.get_model("workspace", "SweepTask").objects
    sweeps.filter(name=new_sweep).delete()
    sweeps.filter(name=old_sweep).update(name=new_sweep)


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0028_agents"),
        ("workspace", "0007_token_scope"),
    ]

    operations = [
        migrations.RemoveConstraint(model_name="run", name="one_floor_a_version"),
        migrations.RenameField(model_name="run", old_name="floor", new_name="baseline_agent"),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.UniqueConstraint(
                condition=models.Q(("baseline_agent", ""), _negated=True),
                fields=("dataset_version", "baseline_agent"),
                name="one_baseline_agent_a_version",
            ),
        ),
        migrations.AlterField(
            model_name="agent",
            name="connector",
            field=models.CharField(
                choices=[
                    ("upload", "uploaded predictions"),
                    ("baseline", "the built-in baseline"),
                    ("openai", "a model behind chat completions"),
                    ("anthropic", "a model behind Anthropic Messages"),
                    ("webhook", "your own agent behind a webhook"),
                    ("baseline_agent", "a baseline agent"),
                ],
                max_length=20,
            ),
        ),
        migrations.RunPython(rename, rename_back),
    ]
