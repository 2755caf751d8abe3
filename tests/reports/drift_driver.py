"""The steps of a test of sources in an installation of its own, which run in its Python."""

from __future__ import annotations

import json
import sys
import time

PATIENCE_SECONDS = 60
TOOL = {"name": "status", "description": "Tells the state.", "input_schema": {"type": "object"}}


def begin(port: int) -> None:
    """Make a registry whose source on a port of this machine is due, and a webhook that is told of tools."""
    from toolevals.registry.services import registry_create, registry_publish
    from toolevals.registry.sources.services import source_set
    from toolevals.workspace.notifications.services import webhook_save
    from toolevals.workspace.projects.services import project_create

    project = project_create(slug="watched", name="Watched", actor=None)
    registry = registry_create(project=project, actor=None, slug="shop", name="Shop")
    registry_publish(registry=registry, actor=None, document=[TOOL])
    url = f"http://127.0.0.1:{port}"
    webhook_save(project=project, actor=None, name="all", url=f"{url}/hook", kinds=["tools.changed"])
    options = {"url": f"{url}/openapi.json"}
    source_set(registry=registry, actor=None, kind="openapi", options=options, schedule="daily")


def time_out(_: int) -> None:
    """Let the time be over in which the worker that took the source may have read it."""
    from toolevals.registry.models import ToolSource
    from toolevals.workspace.clock import database_now

    ToolSource.objects.update(due_at=database_now())


def wait(_: int) -> None:
    """Wait until the source was read, and print its error, its attempts, and how many versions and messages are."""
    from toolevals.registry.models import RegistryVersion, ToolSource
    from toolevals.workspace.models import Delivery

    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline and not ToolSource.objects.exclude(looked_at=None).exists():
        time.sleep(0.05)
    source = ToolSource.objects.get()
    counts = RegistryVersion.objects.count(), Delivery.objects.count()
    sys.stdout.write(json.dumps([source.error, source.attempts, *counts]))
