"""The verbs that say who owns the installation."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from scripts.dev.environment import ROOT
from tests.fixtures.people import person
from toolevals.cli import main as command
from toolevals.cli import serve
from toolevals.cli.output import Exit
from toolevals.workspace.models import AuditEntry, Role, SignInFailure, User

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


def test_a_database_that_is_not_ready_is_named(tmp_path):
    """Before the first start of the server: no tables, and no traceback."""
    data = tmp_path / "fresh folder"
    environment = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    environment |= {"TOOLEVALS_DATA_DIR": str(data), "TOOLEVALS_PASSWORD": "correct horse battery"}
    environment["DJANGO_SETTINGS_MODULE"] = "toolevals.settings"
    done = subprocess.run(
        [sys.executable, "-m", "toolevals.cli.main", *CREATE],
        cwd=ROOT, env=environment, text=True, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == Exit.CONFIGURATION
    assert done.stderr.startswith("toolevals: the database is not set up yet: run `toolevals serve` once")
    assert str(data) in done.stderr
    # What is said after a start names the same folder.
    assert serve.first_account(data).startswith(f"TOOLEVALS_DATA_DIR='{data}' ")


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


def test_an_account_gets_a_new_password_and_its_sessions_end(client, monkeypatch, capsys):
    user = person("Ann", password="the old password")
    client.force_login(user)
    SignInFailure.objects.create(email=user.email, address="192.0.2.7")
    monkeypatch.setenv("TOOLEVALS_PASSWORD", "correct horse battery")
    assert command.main(["set-password", "ANN@example.org"]) == Exit.OK
    assert capsys.readouterr().out == "ann@example.org has a new password. Their sessions have ended.\n"
    user.refresh_from_db()
    assert user.check_password("correct horse battery")
    assert client.get("/profile/").status_code == 302
    assert not SignInFailure.objects.exists()
    assert AuditEntry.objects.filter(verb="password_change", actor=None, target_id=user.pk).count() == 1


@pytest.mark.parametrize(
    ("email", "password", "words"),
    [
        ("nobody@example.org", "correct horse battery", "nobody@example.org has no account"),
        ("ann@example.org", "short", "too short"),
        ("sample@example.org", "correct horse battery", "load_sample --new-password"),
    ],
)
def test_a_password_that_cannot_be_set_is_refused(monkeypatch, capsys, email, password, words):
    person("Ann", password="the old password")
    person("Sample", is_sample=True)
    monkeypatch.setenv("TOOLEVALS_PASSWORD", password)
    assert command.main(["set-password", email]) == Exit.CONFIGURATION
    assert words in capsys.readouterr().err
