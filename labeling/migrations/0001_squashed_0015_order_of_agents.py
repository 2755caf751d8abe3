from importlib import import_module

from django.db import migrations

from toolevals.workspace.create_models import CreateModels

PARTS_OF_IDS = import_module("labeling.migrations.0002_parts_of_ids").Migration.operations


class Migration(migrations.Migration):
    """Takes the place of all before it in a new installation, which need not go through them."""

    initial = True
    replaces = [
        ("labeling", "0001_initial"),
        ("labeling", "0002_parts_of_ids"),
        ("labeling", "0003_imports_in_parts"),
        ("labeling", "0004_first_labels_and_question_views"),
        ("labeling", "0005_labels_wait_to_be_compared"),
        ("labeling", "0006_shown_strata"),
        ("labeling", "0007_tools_that_come_near"),
        ("labeling", "0008_decided_by"),
        ("labeling", "0009_trash"),
        ("labeling", "0010_spare_labels"),
        ("labeling", "0011_second_look"),
        ("labeling", "0012_staged_changes"),
        ("labeling", "0013_unanswered"),
        ("labeling", "0014_gold_sources"),
        ("labeling", "0015_order_of_agents"),
    ]
    dependencies = [
        ("registry", "0001_squashed_0002_trash"),
        ("workspace", "0001_squashed_0007_token_scope"),
    ]
    operations = [CreateModels(replaces), *PARTS_OF_IDS]
