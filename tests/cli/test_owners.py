"""The verbs that say who owns the installation."""

from __future__ import annotations

import pytest

from tests.fixtures.people import person
from toolevals.cli import main as command
from toolevals.cli.exits import Exit
from toolevals.workspace.models import AuditEntry, Role, User

pytestmark = pytest.mark.django_db
CREATE = ["create-owner", "rae@example.org", "--name", "Rae Example", "--project", "from-cli"]


def test_the_account_that_is_made_owns_the_installation_and_the_project(monkeypatch, capsys):
    monkeypatch.setenv("TOOLEVALS_PASSWORD", "correct horse battery")
    assert command.main(CREATE) == Exit.OK
    assert capsys.readouterr().out == "rae@example.org owns the installation and the project from-cli.\n"
    user = User.objects.get(email="rae@example.org")
    assert user.is_installation_owner
    assert [membership.role for membership in user.memberships.all()] == [Role.OWNER]


def test_the_password_is_not_like_the_address(monkeypatch, capsys):
    monkeypatch.setenv("TOOLEVALS_PASSWORD", "rae@example.org")
    assert command.main(CREATE) == Exit.CONFIGURATION
    assert "too similar to the email" in capsys.readouterr().err
    assert not User.objects.exists()


def test_owners_are_listed_added_and_removed(capsys):
    person("Ann", is_installation_owner=True)
    person("Ben")
    assert command.main(["installation-owners", "--add", "BEN@example.org"]) == Exit.OK
    assert capsys.readouterr().out == "ann@example.org\nben@example.org\n"
    assert command.main(["installation-owners", "--remove", "ann@example.org"]) == Exit.OK
    assert command.main(["installation-owners", "--remove", "ann@example.org"]) == Exit.OK
    assert capsys.readouterr().out == "ben@example.org\n" * 2
    assert AuditEntry.objects.filter(verb="installation_owner_set").count() == 2
    assert command.main(["installation-owners", "--add", "nobody@example.org"]) == Exit.CONFIGURATION
    assert "has no account" in capsys.readouterr().err
