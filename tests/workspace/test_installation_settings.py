"""Settings on the page: what is in force where, who may change it, what stays locked, and that no secret is shown."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.core import mail
from django.test import Client

from scripts.dev.environment import ROOT
from tests.fixtures.people import person
from toolevals.settings.environment import environment
from toolevals.workspace.access import may_invite, may_make_projects
from toolevals.workspace.installation.reading import EDITABLE, installation_setting, reading_forget
from toolevals.workspace.installation.views import SHOWN, _all
from toolevals.workspace.models import AuditEntry, InstallationSetting, Project
from toolevals.workspace.uploads.services import QuotaExceeded, _require_quota

pytestmark = pytest.mark.django_db
PAGE = "/operations/settings/"
NOTHING = dict.fromkeys(EDITABLE, "")


@pytest.fixture(autouse=True)
def read_anew(settings):
    """Have nothing be kept from another test, and the environment set nothing."""
    settings.SETTINGS_ASKED = dict(settings.SETTINGS_ASKED) | dict.fromkeys(EDITABLE, (False, None))
    reading_forget()
    yield
    reading_forget()


@pytest.fixture
def as_owner(owner) -> Client:
    """A browser in which the owner of the installation has signed in."""
    browser = Client()
    browser.force_login(owner)
    return browser


def save(client: Client, django_capture: Any, **values: str) -> Any:
    """Send the form, as if its transaction had been committed."""
    with django_capture(execute=True):
        return client.post(PAGE, NOTHING | values)


def test_what_is_changed_is_in_force_is_audited_and_goes_back_to_the_default(
    as_owner, owner, project, django_capture_on_commit_callbacks
):
    other = person("Ben")
    assert not may_make_projects(other)
    values = {
        "WHO_MAKES_PROJECTS": "everyone",
        "WHO_INVITES": "project-owners",
        "PROJECT_FILES_MAX_BYTES": "1",
        "EMAIL_FROM": "evals@shop.example",
    }
    assert save(as_owner, django_capture_on_commit_callbacks, **values).status_code == 302
    assert may_make_projects(other)
    assert may_invite(other)
    assert installation_setting("EMAIL_FROM") == "evals@shop.example"
    with pytest.raises(QuotaExceeded, match="of 1,048,576"):
        _require_quota(project, 1024 * 1024 + 1)
    acts = AuditEntry.objects.filter(verb="installation_set")
    assert {(act.detail["name"], act.actor) for act in acts} == {(name, owner) for name in EDITABLE}
    page = as_owner.get(PAGE).content.decode()
    assert "evals@shop.example" in page
    assert "this page" in page
    save(as_owner, django_capture_on_commit_callbacks, **values)
    assert acts.all().count() == len(EDITABLE), "what is the same is no change"
    save(as_owner, django_capture_on_commit_callbacks)
    assert not InstallationSetting.objects.exists()
    assert not may_make_projects(other)
    assert acts.all().count() == 2 * len(EDITABLE)


def test_what_the_environment_sets_is_shown_and_locked(as_owner, settings, django_capture_on_commit_callbacks):
    InstallationSetting.objects.create(name="WHO_MAKES_PROJECTS", value="everyone")
    reading_forget()
    assert may_make_projects(person("Ben"))
    settings.SETTINGS_ASKED |= {"WHO_MAKES_PROJECTS": (True, None)}
    assert not may_make_projects(person("Cleo"))
    page = as_owner.get(PAGE).content.decode()
    assert "TOOLEVALS_WHO_MAKES_PROJECTS sets it." in page
    save(as_owner, django_capture_on_commit_callbacks, WHO_MAKES_PROJECTS="everyone")
    assert not AuditEntry.objects.filter(verb="installation_set").exists()


@pytest.mark.parametrize(
    "values",
    [
        {"WHO_MAKES_PROJECTS": "nobody"},
        {"PROJECT_FILES_MAX_BYTES": "0"},
        {"EMAIL_FROM": "a@b.example\nBcc: x@y.example"},
    ],
)
def test_what_is_no_value_is_refused_and_changes_nothing(as_owner, values, django_capture_on_commit_callbacks):
    answer = save(as_owner, django_capture_on_commit_callbacks, **values)
    assert answer.status_code == 200
    assert "errorlist" in answer.content.decode()
    assert not InstallationSetting.objects.exists()


def test_the_page_lists_every_variable(as_owner):
    listed = set(re.findall(r"<code>(TOOLEVALS_\w+)</code></th>", as_owner.get(PAGE).content.decode()))
    words = (ROOT / "docs" / "operating.md").read_text("utf-8").partition("The command line and the tests read")[0]
    assert set(re.findall(r"^\| `(TOOLEVALS_\w+)`", words, re.MULTILINE)) == listed


def test_no_text_is_shown_that_could_be_a_secret(settings):
    texts = [name for name, (_, plain) in settings.SETTINGS_ASKED.items() if plain is None]
    settings.SETTINGS_ASKED = dict.fromkeys(texts, (True, None))
    for name in texts:
        if isinstance(getattr(settings, name, None), str):
            setattr(settings, name, "hush")
    shown = {each.variable.removeprefix("TOOLEVALS_"): each.value for each in _all({})}
    assert {name for name, value in shown.items() if value == "hush"} <= {*SHOWN, *EDITABLE}
    assert {name for name, value in shown.items() if value != "set, not shown"} == {*SHOWN, *EDITABLE}
    assert {"SECRET_KEY", "DATABASE_URL", "REDIS_URL", "EMAIL_URL", "METRICS_TOKEN"} <= set(texts)
    assert not {"SECRET_KEY", "DATABASE_URL", "REDIS_URL", "EMAIL_URL", "METRICS_TOKEN"} & {*SHOWN, *EDITABLE}


def test_a_test_mail_is_sent_to_who_asks_and_what_the_server_said_is_shown(as_owner, owner, settings, monkeypatch):
    answer = as_owner.post(f"{PAGE}test-mail/", follow=True)
    assert "No mail server is set" in answer.content.decode()
    settings.EMAIL_URL = "smtp://mail.shop.example"
    InstallationSetting.objects.create(name="EMAIL_FROM", value="evals@shop.example")
    reading_forget()
    answer = as_owner.post(f"{PAGE}test-mail/", follow=True)
    assert f"took a message to {owner.email}" in answer.content.decode()
    [sent] = mail.outbox
    assert (sent.to, sent.from_email) == ([owner.email], "evals@shop.example")

    def refuse(_: Any) -> None:
        raise ConnectionRefusedError(111, "Connection refused")

    monkeypatch.setattr("toolevals.workspace.installation.views.mail_send", refuse)
    assert "did not take a message" in as_owner.post(f"{PAGE}test-mail/", follow=True).content.decode()


def test_a_member_who_does_not_own_the_installation_is_refused(client, project):
    client.force_login(person("Ben"))
    assert client.get(PAGE).status_code == 403
    assert client.post(PAGE, NOTHING | {"WHO_MAKES_PROJECTS": "everyone"}).status_code == 403
    assert Project.objects.count() == 1


def test_the_reader_of_the_environment_knows_what_it_was_asked_for():
    env = environment({"TOOLEVALS_A": "5", "TOOLEVALS_B": "hush"})
    env.int("A", 1), env.str("B", ""), env.bool("C", True)
    assert env.asked == {"A": (True, 5), "B": (True, None), "C": (False, True)}
