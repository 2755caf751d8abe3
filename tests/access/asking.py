"""How the walk asks: at an address with real objects behind it, of which nothing stays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction
from django.test import Client
from django.urls import reverse

from tests.access.addresses import Address
from tests.access.arguments import argument
from tests.access.world import World
from toolevals.workspace.models import User


@contextmanager
def at(world: World, address: Address, person: User | None) -> Iterator[tuple[Client, str]]:
    """Make what the address names; yield who asks and the address, and undo whatever was done in between."""
    client = Client(raise_request_exception=False)
    with transaction.atomic():
        values = {}
        for name in address.arguments:
            maker = argument(address.name, name) if name != "project" else None
            values[name] = maker(world, person or world.owner) if maker else world.project.slug
        if person is not None:
            client.force_login(person)
        yield client, reverse(address.name, kwargs=values)
        transaction.set_rollback(True)
