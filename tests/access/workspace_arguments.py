"""Arguments of the workspace's addresses."""

from __future__ import annotations

from uuid import UUID

from tests.access.world import Argument, World
from toolevals.workspace.jobs import BatchPlan, job_create
from toolevals.workspace.models import Role, User
from toolevals.workspace.services import member_set, secret_set, token_create, user_create


def a_job(world: World, person: User) -> UUID:
    plans = [BatchPlan("tests.work", {})]
    return job_create(project=world.project, actor=None, kind="test", title="A test", batches=plans).pk  # type: ignore[no-any-return]


def a_member(world: World, person: User) -> UUID:
    user = user_create(actor=None, email="another@example.org", name="Another")
    return member_set(project=world.project, actor=None, user=user, role=Role.VIEWER).pk  # type: ignore[no-any-return]


def a_token(world: World, person: User) -> UUID:
    token, _ = token_create(project=world.project, actor=None, user=world.owner, name="A token", role=Role.VIEWER)
    return token.pk  # type: ignore[no-any-return]


def a_secret(world: World, person: User) -> UUID:
    return secret_set(project=world.project, actor=None, name="model-host", value="hush").pk  # type: ignore[no-any-return]


def a_secrets_name(world: World, person: User) -> str:
    return secret_set(project=world.project, actor=None, name="model-host", value="hush").name


ARGUMENTS: dict[str, Argument] = {
    "job": a_job,
    "member": a_member,
    "name": a_secrets_name,
    "secret": a_secret,
    "token": a_token,
}
