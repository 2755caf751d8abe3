"""The migration that names owners of the installation, and ends the password that every sample once had."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.apps import apps
from django.contrib.auth.hashers import make_password

from tests.fixtures.people import PASSWORD
from toolevals.workspace.models import Role, User
from toolevals.workspace.services.projects import member_set, project_create
from toolevals.workspace.services.users import user_create

pytestmark = pytest.mark.django_db
MIGRATION = import_module("toolevals.workspace.migrations.0004_installation_owners")


def test_owners_are_those_whom_the_operator_made_and_nobody_loses_anything(project):
    first = user_create(actor=None, email="first@example.org", name="First", password=PASSWORD)
    project_create(actor=first, slug="mine", name="Mine")
    invited = user_create(actor=first, email="invited@example.org", name="Invited")
    member_set(project=project, actor=first, user=invited, role=Role.OWNER)
    without = user_create(actor=None, email="without@example.org", name="Without")
    member_set(project=project, actor=first, user=without, role=Role.REVIEWER)
    MIGRATION.installation_owners_name(apps, None)
    assert list(User.objects.filter(is_installation_owner=True)) == [first]
    first.refresh_from_db()
    assert first.check_password(PASSWORD)
    assert [membership.role for membership in invited.memberships.all()] == [Role.OWNER]


def test_the_samples_former_password_ends_and_a_changed_one_stays():
    for key, password in (("lena", "sample-shop"), ("omar", "sample-shop"), ("otto", "changed since")):
        user = user_create(actor=None, email=f"{key}@shop.example", name=key, is_sample=True)
        User.objects.filter(pk=user.pk).update(password=make_password(password))
    MIGRATION.sample_passwords_end(apps, None)
    usable = [user.name for user in User.objects.order_by("email") if user.has_usable_password()]
    assert usable == ["otto"]
    assert User.objects.get(name="otto").check_password("changed since")
