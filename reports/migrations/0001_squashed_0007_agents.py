from django.db import migrations

from toolevals.workspace.create_models import CreateModels


class Migration(migrations.Migration):
    """Takes the place of all before it in a new installation, which need not go through them."""

    initial = True
    replaces = [
        ("reports", "0001_initial"),
        ("reports", "0002_suspects"),
        ("reports", "0003_dialects"),
        ("reports", "0004_public_scores"),
        ("reports", "0005_dialect_sums"),
        ("reports", "0006_gates_on_pages"),
        ("reports", "0007_agents"),
    ]
    dependencies = [
        ("labeling", "0001_squashed_0015_order_of_agents"),
        ("runs", "0001_squashed_0030_one_key_of_a_pair"),
        ("workspace", "0001_squashed_0007_token_scope"),
    ]
    operations = [CreateModels(replaces)]
