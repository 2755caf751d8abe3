from django.db import migrations

from toolevals.workspace.create_models import CreateModels


class Migration(migrations.Migration):
    """Takes the place of all before it in a new installation, which need not go through them."""

    initial = True
    replaces = [
        ("registry", "0001_initial"),
        ("registry", "0002_trash"),
    ]
    dependencies = [
        ("workspace", "0001_squashed_0007_token_scope"),
    ]
    operations = [CreateModels(replaces)]
