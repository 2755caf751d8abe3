"""Accounts are closed for a while and for good, by services, pages and the command."""

from __future__ import annotations

import zipfile

import pytest
from django.test import Client
from django.urls import reverse

from labeling.datasets.services import dataset_create
from labeling.imports.services import examples_import
from labeling.label.claims import slot_claim
from labeling.models import LabelSlot
from tests.fixtures.people import person
from tests.labeling.rows import SHOP_TOOLS, row
from toolevals.cli import main as command
from toolevals.cli.output import Exit
from toolevals.registry.services import registry_create, registry_publish
from toolevals.workspace.models import AuditEntry, Delivery, DeliveryState, Membership, Project, Role, User
from toolevals.workspace.notifications.services import mails_choose
from toolevals.workspace.people.departure import (
    DepartureError,
    user_deactivate,
    user_delete,
    user_reactivate,
)
from toolevals.workspace.projects.services import LastOwnerError, member_remove, member_set, project_create
from toolevals.workspace.tokens.services import UnknownToken, token_create, token_find


def claimed(project: Project, user: User) -> LabelSlot:
    """Let a reviewer hold the only example of a dataset."""
    registry = registry_create(project=project, actor=None, slug="shop", name="Shop")
    tools = registry_publish(registry=registry, actor=None, document=SHOP_TOOLS)
    dataset = dataset_create(project=project, actor=None, slug="set", name="Set", default_tools=tools)
    examples_import(dataset=dataset, actor=None, rows=[row("one")])
    slot = slot_claim(dataset_or_project=dataset, actor=user)
    assert slot is not None
    return slot


def test_a_deactivated_person_holds_nothing_and_comes_back(project, owner, reviewer):
    slot = claimed(project, reviewer)
    _, secret = token_create(project=project, actor=reviewer, user=reviewer, name="ci", role=Role.REVIEWER)
    client = Client()
    client.force_login(reviewer)
    assert client.get("/profile/").status_code == 200
    user_deactivate(person=reviewer, actor=owner)
    user_deactivate(person=reviewer, actor=owner)
    assert client.get("/profile/").status_code == 302
    with pytest.raises(UnknownToken):
        token_find(secret)
    slot.refresh_from_db()
    assert (slot.state, slot.reviewer) == ("open", None)
    assert slot_claim(dataset_or_project=slot.dataset, actor=owner) is not None
    assert AuditEntry.objects.filter(verb="user_deactivate", actor=owner).count() == 1
    assert Membership.objects.filter(user=reviewer).exists()
    user_reactivate(person=reviewer, actor=owner)
    # The old session and the old token stay ended.
    assert client.get("/profile/").status_code == 302
    with pytest.raises(UnknownToken):
        token_find(secret)
    client.force_login(reviewer)
    assert client.get("/profile/").status_code == 200


def test_the_last_owner_of_a_project_is_not_deleted_without_an_heir(project, owner, reviewer):
    other = project_create(actor=owner, slug="other", name="Other things")
    second = person("Second", is_installation_owner=True)
    with pytest.raises(DepartureError, match="the last owner of Other things, Shop support"):
        user_delete(person=owner, actor=second)
    user_deactivate(person=second, actor=owner)
    with pytest.raises(DepartureError, match="cannot own"):
        user_delete(person=owner, actor=None, heir=second)
    user_reactivate(person=second, actor=owner)
    assert user_delete(person=owner, actor=second, heir=reviewer) == "Former member 1"
    owned = Membership.objects.filter(user=reviewer, role=Role.OWNER).values_list("project", flat=True)
    assert set(owned) == {project.pk, other.pk}
    with pytest.raises(DepartureError, match="is deleted"):
        user_reactivate(person=owner, actor=second)


def test_the_last_owner_of_the_installation_stays(owner):
    with pytest.raises(DepartureError, match="last owner of the installation"):
        user_deactivate(person=owner, actor=owner)
    assert User.objects.get(pk=owner.pk).is_active


def test_an_owner_who_cannot_sign_in_is_no_owner_for_the_others(project, owner, reviewer):
    member_set(project=project, actor=owner, user=reviewer, role=Role.OWNER)
    user_deactivate(person=reviewer, actor=owner)
    with pytest.raises(LastOwnerError):
        member_remove(membership=project.memberships.get(user=owner), actor=owner)
    member_remove(membership=project.memberships.get(user=reviewer), actor=owner)


def test_pseudonyms_are_numbered_and_a_failure_in_the_middle_leaves_the_person(project, owner, reviewer, monkeypatch):
    assert user_delete(person=person("Early"), actor=owner) == "Former member 1"
    monkeypatch.setattr("toolevals.workspace.people.departure.texts_rewrite", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        user_delete(person=reviewer, actor=owner)
    found = User.objects.get(pk=reviewer.pk)
    assert (found.name, found.state) == (reviewer.name, "active")
    monkeypatch.undo()
    assert user_delete(person=reviewer, actor=owner) == "Former member 2"


def test_owners_of_the_installation_manage_people_on_pages(client, project, owner, reviewer):
    client.force_login(reviewer)
    for name, arguments in (("people", []), ("people-csv", []), ("person", [owner.pk])):
        assert client.get(reverse(f"workspace:{name}", args=arguments)).status_code == 403
    client.force_login(owner)
    assert reviewer.email in client.get(reverse("workspace:people")).content.decode()
    page = reverse("workspace:person", args=[reviewer.pk])
    switch = reverse("workspace:person-switch", args=[reviewer.pk])
    # The second says the same as the first, as where two owners press the button at once.
    for is_active, offered in (("no", "Reactivate"), ("no", "Reactivate"), ("yes", "Deactivate"), ("no", "Reactivate")):
        client.post(switch, {"is_active": is_active})
        assert f"{offered} the account" in client.get(page).content.decode()
    delete = reverse("workspace:person-delete", args=[reviewer.pk])
    refused = client.post(delete, {"has_export": "on", "typed": "someone@example.org"})
    assert (refused.status_code, "Nothing was deleted" in refused.content.decode()) == (422, True)
    assert client.post(delete, {"typed": reviewer.email}).status_code == 422
    done = client.post(delete, {"has_export": "on", "typed": reviewer.email}, follow=True)
    assert "Former member 1" in done.content.decode()
    assert reviewer.email not in done.content.decode()


def test_members_are_offered_first_as_new_owners_and_anyone_who_can_sign_in_is_taken(
    client, project, owner, reviewer, monkeypatch
):
    monkeypatch.setattr("toolevals.workspace.people.account_views.OFFERED", 1)
    second, stranger = person("Aaron", is_installation_owner=True), person("Abel")
    client.force_login(second)
    page = client.get(reverse("workspace:person", args=[owner.pk])).content.decode()
    assert (f'<option value="{reviewer.email}">' in page, f'<option value="{stranger.email}">' in page) == (True, False)
    delete = reverse("workspace:person-delete", args=[owner.pk])
    sent = {"has_export": "on", "typed": owner.email}
    user_deactivate(person=reviewer, actor=second)
    for heir in ("", owner.email, reviewer.email, "no one"):
        assert client.post(delete, sent | {"heir": heir}).status_code == 422
    assert client.post(delete, sent | {"heir": f" {stranger.email.upper()} "}).status_code == 302
    assert Membership.objects.get(user=stranger).role == Role.OWNER


def test_a_person_downloads_what_names_them(client, project, reviewer, tmp_path):
    claimed(project, reviewer)
    client.force_login(reviewer)
    file = tmp_path / "mine.zip"
    file.write_bytes(b"".join(client.get(reverse("workspace:my-export")).streaming_content))
    with zipfile.ZipFile(file) as opened:
        assert "labeling_labelslot.jsonl" in opened.namelist()
        assert reviewer.email in opened.read("workspace_user.jsonl").decode()


def test_the_command_manages_people(project, owner, reviewer, tmp_path, capsys):
    export = tmp_path / "reviewer.zip"
    assert command.main(["people", "deactivate", reviewer.email]) == Exit.OK
    assert command.main(["people", "list"]) == Exit.OK
    assert f"{reviewer.email}  deactivated  {reviewer.name}" in capsys.readouterr().out
    assert command.main(["people", "delete", reviewer.email, "--export", str(export)]) == Exit.CONFIGURATION
    assert "--yes" in capsys.readouterr().err
    assert command.main(["people", "delete", reviewer.email, "--export", str(export), "--yes"]) == Exit.OK
    assert "Former member 1" in capsys.readouterr().out
    assert (zipfile.is_zipfile(export), export.stat().st_mode & 0o777) == (True, 0o600)
    assert command.main(["people", "delete", reviewer.email, "--no-export", "--yes"]) == Exit.CONFIGURATION
    assert command.main(["people", "delete", owner.email, "--no-export", "--yes"]) == Exit.CONFIGURATION
    assert "last owner of Shop support" in capsys.readouterr().err
    assert command.main(["people", "export", owner.email, str(export)]) == Exit.CONFIGURATION


def test_mails_that_wait_are_dropped(project, owner, reviewer):
    mails_choose(membership=project.memberships.get(user=reviewer), actor=reviewer, kinds=["work.waiting"])
    waiting = Delivery.objects.create(user=reviewer, event=reviewer.pk, kind="work.waiting", due_at=reviewer.created_at)
    user_deactivate(person=reviewer, actor=owner)
    waiting.refresh_from_db()
    assert waiting.state == DeliveryState.DROPPED
