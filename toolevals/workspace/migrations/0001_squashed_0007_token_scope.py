from django.db import migrations

from toolevals.workspace.create_models import CreateModels


class Migration(migrations.Migration):
    """Takes the place of all before it in a new installation, which need not go through them."""

    initial = True
    replaces = [
        ("workspace", "0001_initial"),
        ("workspace", "0002_visits"),
        ("workspace", "0003_invitations_and_bound_secrets"),
        ("workspace", "0004_installation_owners"),
        ("workspace", "0005_trash"),
        ("workspace", "0006_jobs_of_what_is_deleted"),
        ("workspace", "0007_token_scope"),
    ]
    dependencies = [
    ]
    operations = [CreateModels(replaces)]
