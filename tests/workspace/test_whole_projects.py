"""A whole project is exported, and destroyed: every table and every file is searched for it afterwards."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.core.files.base import ContentFile
from django.urls import reverse

from labeling.models import Dataset, Revision
from tests.access.populated import populate
from tests.access.world import World
from tests.fixtures.jobs import jobs_run
from tests.fixtures.people import member, person
from tests.workspace.searched import columns_with, places
from toolevals.cli import main as command
from toolevals.cli.output import Exit
from toolevals.workspace.models import Job, Project, Role, Secret, Upload, Webhook
from toolevals.workspace.projects.export import project_export, project_paths, project_rows, still_blind
from toolevals.workspace.projects.services import project_create
from toolevals.workspace.trash.services import trash_destroy, trash_put
from toolevals.workspace.uploads.services import file_store

WORD = "quagmirish"
# Tables of the installation: no row of theirs is of one project.
OF_NO_PROJECT = {
    *("auth.group", "auth.group_permissions", "auth.permission", "contenttypes.contenttype", "labeling.keybindings"),
    *("account.emailaddress", "account.emailconfirmation", "mfa.authenticator", "usersessions.usersession"),
    *("socialaccount.socialaccount", "socialaccount.socialapp", "socialaccount.socialtoken", "sessions.session"),
    *("workspace.auditopening", "workspace.installationsetting", "workspace.signinaddress", "workspace.signinfailure"),
    *("workspace.sweeptask", "workspace.user", "workspace.worker"),
}


def the_world() -> World:
    project = project_create(actor=None, slug="shop", name=f"Shop {WORD}")
    made = World(project, {role: member(project, role) for role in Role}, person("Outsider"))
    populate(made)
    return made


@pytest.mark.django_db(transaction=True)
def test_a_project_is_exported_whole_and_destroyed_without_a_trace(tmp_path: Path) -> None:
    world = the_world()
    project = world.project
    Dataset.objects.filter(project=project).update(name=WORD)
    stored = file_store(project=project, actor=None, content=ContentFile(WORD.encode()), name=f"{WORD}.csv")
    told: list[int] = []
    with io.BytesIO() as file:
        project_export(project, file, told.append)
        opened = zipfile.ZipFile(file)
        texts = {name: opened.read(name).decode(errors="replace") for name in opened.namelist()}
    assert texts[f"files/{stored.pk}"] == WORD
    manifest = json.loads(texts["manifest.json"])
    for rows in project_rows(project):
        label, count = rows.model._meta.db_table, rows.count()
        lines = texts.get(f"{label}.jsonl", "").splitlines()
        assert len(lines) == count == manifest["rows"].get(label, 0), label
        assert {json.loads(line)[rows.model._meta.pk.attname] for line in lines} == {
            pk if isinstance(pk, int) else str(pk) for pk in rows.values_list("pk", flat=True)
        }
    assert told[-1] == sum(manifest["rows"].values())
    secrets = [Secret.objects.get().sealed, Webhook.objects.get().sealed_url, world.owner.password]
    assert not any(secret in str(texts) for secret in secrets)

    # SQLite keeps ids without hyphens.
    named = (WORD, str(project.pk), project.pk.hex)
    before = places(*named)
    assert {"workspace_project.name", "labeling_dataset.name", "workspace_upload.name"} <= before
    trash_put(row=project, actor=world.owner)
    trash_destroy(row=Project.with_trash.get(pk=project.pk), actor=world.owner, typed="shop")
    jobs_run()
    # The one row in the log of the installation.
    assert columns_with(*named) == {"workspace_auditentry.target_id"}
    assert not list(Path(settings.MEDIA_ROOT, str(project.pk)).iterdir())
    assert not places(WORD)


def test_every_table_is_of_a_project_or_known_to_be_of_none() -> None:
    tables = {model._meta.label_lower for model in apps.get_models(include_auto_created=True)}
    assert tables - {model._meta.label_lower for model in project_paths()} == OF_NO_PROJECT


def test_an_owner_exports_by_a_job_once_nothing_is_blind(client, project, owner, adjudicator, run_jobs):
    page = reverse("workspace:project-export", args=[project.slug])
    client.force_login(adjudicator)
    assert client.get(page).status_code == 403
    client.force_login(owner)
    done = client.post(page)
    assert run_jobs() == 1
    answer = client.get(done.url)
    job = Job.objects.get(kind="project_export")
    address = reverse("workspace:project-export-file", args=[project.slug, job.pk])
    assert address in answer.content.decode()
    content = b"".join(client.get(address).streaming_content)
    with zipfile.ZipFile(io.BytesIO(content)) as opened:
        assert json.loads(opened.read("workspace_project.jsonl"))["slug"] == "shop"
    # The next export does not hold this one.
    client.post(page)
    run_jobs()
    newest = Upload.objects.order_by("-pk").first()
    assert newest is not None
    with newest.file.open("rb") as file, zipfile.ZipFile(file) as opened:
        assert not [name for name in opened.namelist() if name.startswith("files/")]


@pytest.mark.django_db(transaction=True)
def test_what_is_blind_is_written_by_the_operator_alone(client, tmp_path, capsys):
    world = the_world()
    assert "Labels are blind" in " ".join(still_blind(world.project))
    client.force_login(world.owner)
    page = reverse("workspace:project-export", args=["shop"])
    assert "Labels are blind" in client.post(page).content.decode()
    assert not Job.objects.filter(kind="project_export").exists()
    file = tmp_path / "shop.zip"
    assert command.main(["export-project", "shop", str(file)]) == Exit.OK
    assert "still blind" in capsys.readouterr().out
    assert command.main(["export-project", "shop", str(file)]) == Exit.CONFIGURATION
    with zipfile.ZipFile(file) as opened:
        assert opened.read("labeling_revision.jsonl").count(b"\n") == Revision.objects.count()
