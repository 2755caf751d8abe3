"""Arguments of the workspace's addresses."""

from __future__ import annotations

from uuid import UUID, uuid4

from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from allauth.mfa.models import Authenticator
from django.core.files.base import ContentFile

from tests.access.runs_arguments import a_graded_run
from tests.access.world import Argument, World
from toolevals.registry.services import registry_create
from toolevals.runs.remarks.services import note_add
from toolevals.workspace.accounts.services import user_create
from toolevals.workspace.jobs.services import BatchPlan, job_create
from toolevals.workspace.mentions.services import mentions_note
from toolevals.workspace.models import Job, Mention, Role, User
from toolevals.workspace.notifications.services import webhook_save, webhook_test
from toolevals.workspace.people.services import invitation_create
from toolevals.workspace.projects.services import member_set, project_create
from toolevals.workspace.secrets.services import secret_set
from toolevals.workspace.tokens.services import token_create
from toolevals.workspace.trash.services import trash_put
from toolevals.workspace.uploads.services import file_store


def a_job(world: World, person: User) -> UUID:
    plans = [BatchPlan("tests.work", {})]
    return job_create(project=world.project, actor=None, kind="test", title="A test", batches=plans).pk  # type: ignore[no-any-return]


def a_member(world: World, person: User) -> UUID:
    user = user_create(actor=None, email="another@example.org", name="Another")
    return member_set(project=world.project, actor=None, user=user, role=Role.VIEWER).pk  # type: ignore[no-any-return]


def a_mention(world: World, person: User) -> UUID:
    transcript = a_graded_run(world).transcripts.first()
    assert transcript is not None
    note = note_add(transcript=transcript, actor=world.outsider, text="See here")
    mentions_note(project=world.project, actor=None, people=[person], target=note)
    return Mention.objects.get(target_id=note.pk).pk  # type: ignore[no-any-return]


def a_person(world: World, person: User) -> UUID:
    return user_create(actor=None, email=f"{uuid4().hex}@example.org", name="Former").pk  # type: ignore[no-any-return]


def a_token(world: World, person: User) -> UUID:
    token, _ = token_create(project=world.project, actor=None, user=world.owner, name="A token", role=Role.VIEWER)
    return token.pk  # type: ignore[no-any-return]


def a_secret(world: World, person: User) -> UUID:
    return secret_set(project=world.project, actor=None, name="model-host", value="hush").pk  # type: ignore[no-any-return]


def a_secrets_name(world: World, person: User) -> str:
    return secret_set(project=world.project, actor=None, name="model-host", value="hush").name


def a_webhook(world: World, person: User) -> UUID:
    known = world.project.webhooks.first()
    if known is not None:
        return known.pk  # type: ignore[no-any-return]
    url, kinds = "https://hooks.example.org/in", ["run.finished"]
    made, _ = webhook_save(project=world.project, actor=None, name="alerts", url=url, kinds=kinds)
    webhook_test(webhook=made, actor=None)
    return made.pk  # type: ignore[no-any-return]


def an_invitation(world: World, person: User) -> UUID:
    made, _ = invitation_create(project=world.project, actor=world.owner, email="invited@example.org", role=Role.VIEWER)
    return made.pk  # type: ignore[no-any-return]


def a_whole_project(world: World, person: User) -> UUID:
    job = job_create(project=world.project, actor=None, kind="project_export", title="An export", batches=[])
    content = ContentFile(b"a ZIP")
    upload = file_store(project=world.project, actor=None, content=content, name="shop.zip")
    Job.objects.filter(pk=job.pk).update(report={"upload": str(upload.pk)})
    return job.pk  # type: ignore[no-any-return]


def an_offer(world: World, person: User) -> UUID:
    other = project_create(actor=None, slug="other", name="Other")
    made, _ = invitation_create(project=other, actor=None, email=person.email, role=Role.VIEWER)
    return made.pk  # type: ignore[no-any-return]


def a_link(world: World, person: User) -> str:
    return invitation_create(project=world.project, actor=world.owner, email="invited@example.org", role=Role.VIEWER)[1]


def a_kind(world: World, person: User) -> str:
    return "registry"


def a_thing(world: World, person: User) -> UUID:
    return registry_create(project=world.project, actor=None, slug="to-delete", name="To delete").pk  # type: ignore[no-any-return]


def a_trashed_thing(world: World, person: User) -> UUID:
    made = registry_create(project=world.project, actor=None, slug="deleted", name="Deleted")
    return trash_put(row=made, actor=world.owner).pk  # type: ignore[no-any-return]


def a_trashed_project(world: World, person: User) -> UUID:
    """Return a deleted project of whoever asks: to everybody else it is not there."""
    return trash_put(row=project_create(actor=person, slug="gone", name="Gone"), actor=person).pk  # type: ignore[no-any-return]


def a_docs_page(world: World, person: User) -> str:
    return "decisions/0091-the-core-has-wings"


def a_docs_file(world: World, person: User) -> str:
    return "examples/gate/gate.yaml"


def a_passkey(world: World, person: User) -> int:
    made = Authenticator.objects.create(user=person, type="webauthn", data={"name": "Passkey 1", "credential": {}})
    return made.pk  # type: ignore[no-any-return]


def a_persons_key(world: World, person: User) -> str:
    return user_pk_to_url_str(world.owner)  # type: ignore[no-any-return]


def a_link_key(world: World, person: User) -> str:
    return default_token_generator.make_token(world.owner)  # type: ignore[no-any-return]


ARGUMENTS: dict[str, Argument] = {
    "file": a_docs_file,
    "gone": a_trashed_project,
    "invitation": an_invitation,
    "item": a_trashed_thing,
    "job": a_job,
    "key": a_link_key,
    "kind": a_kind,
    "link": a_link,
    "member": a_member,
    "mention": a_mention,
    "name": a_secrets_name,
    "offer": an_offer,
    "page": a_docs_page,
    "person": a_person,
    "pk": a_passkey,
    "secret": a_secret,
    "thing": a_thing,
    "token": a_token,
    "uidb36": a_persons_key,
    "webhook": a_webhook,
    "whole": a_whole_project,
}
