"""Arguments of the addresses of registries."""

from __future__ import annotations

from tests.access.world import Argument, World
from tests.labeling.rows import SHOP_TOOLS
from toolevals.registry.models import Registry, RegistryVersion
from toolevals.registry.services import registry_create, registry_publish
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


ARGUMENTS: dict[str, Argument] = {"registry": a_registry, "number": a_number, "before": a_number}
