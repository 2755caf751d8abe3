"""Owners of the installation are the accounts that its operator made; the sample's former password ends."""

from django.contrib.auth.hashers import check_password, make_password
from django.db import migrations

# Role.OWNER, and what the sample accounts' password was at every installation.
OWNER = 40
KNOWN_TO_ALL = "sample-shop"


def installation_owners_name(apps, schema_editor):
    """Name those whom no member made, which `toolevals create-owner` did, and who own a project still."""
    AuditEntry = apps.get_model("workspace", "AuditEntry")
    User = apps.get_model("workspace", "User")
    made = AuditEntry.objects.filter(verb="user_create", actor=None).values("target_id")
    User.objects.filter(pk__in=made, memberships__role=OWNER).update(is_installation_owner=True)


def sample_passwords_end(apps, schema_editor):
    """Let no sample account in by the former password; `./dev run` and `manage.py load_sample` draw a new one."""
    User = apps.get_model("workspace", "User")
    # They shared one hash: it is computed once.
    shared = {}
    for user in User.objects.filter(is_sample=True):
        if user.password not in shared:
            shared[user.password] = check_password(KNOWN_TO_ALL, user.password)
        if shared[user.password]:
            User.objects.filter(pk=user.pk).update(password=make_password(None))


class Migration(migrations.Migration):
    dependencies = [("workspace", "0003_invitations_and_bound_secrets")]
    operations = [
        migrations.RunPython(installation_owners_name, migrations.RunPython.noop),
        migrations.RunPython(sample_passwords_end, migrations.RunPython.noop),
    ]
