"""Arguments of the addresses of registries."""

from __future__ import annotations

import json
from uuid import UUID

from tests.access.world import Argument, World
from tests.labeling.rows import SHOP_TOOLS
from toolevals.registry.large_documents import large_preview_start, large_preview_work
from toolevals.registry.models import Policy, Registry, RegistryVersion
from toolevals.registry.policies.services import policy_activate, policy_create
from toolevals.registry.services import registry_create, registry_publish
from toolevals.workspace.jobs.leases import batch_work
from toolevals.workspace.models import User


def a_version(world: World) -> RegistryVersion:
    """Return the one version of the project's registry of its own; the first call makes both."""
    registry = Registry.objects.filter(project=world.project, slug="walk").first()
    if registry is None:
        registry = registry_create(project=world.project, actor=None, slug="walk", name="Walk")
    return registry_publish(registry=registry, actor=None, document=SHOP_TOOLS)


def a_registry(world: World, person: User) -> str:
    return str(a_version(world).registry.slug)


def a_number(world: World, person: User) -> int:
    return int(a_version(world).number)


def a_policy(world: World, person: User) -> str:
    """Return the slug of the project's first policy in force; the first call makes one."""
    found = Policy.objects.filter(project=world.project).exclude(active=None).first()
    if found is None:
        document = {"rules": {"calls": {"kind": "calls", "mode": "enforce"}}}
        version = policy_create(project=world.project, actor=None, slug="in-force", name="In force", document=document)
        policy_activate(version=version, actor=None)
        found = version.policy
    return str(found.slug)


def a_read_document(world: World, person: User) -> UUID:
    registry, content = a_version(world).registry, json.dumps(SHOP_TOOLS).encode()
    job = large_preview_start(registry=registry, actor=None, content=content, format="auto", name="tools.json")
    batch_work(str(job.batches.get().pk), large_preview_work)
    return job.pk  # type: ignore[no-any-return]


ARGUMENTS: dict[str, Argument] = {
    "registry": a_registry,
    "number": a_number,
    "before": a_number,
    "place": a_number,
    "job": a_read_document,
    "policy": a_policy,
}
