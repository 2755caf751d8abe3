"""Test how the walk asks: at an address with real objects behind it, of which nothing stays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

from django.db import transaction
from django.test import Client
from django.urls import reverse

from tests.access.addresses import Address
from tests.access.arguments import OF_ONE_PERSON, argument
from tests.access.world import World
from toolevals.workspace.models import User


def client_of(world: World, person: User | None) -> Client:
    """Return a client of this person. People sign in once: whatever ends that is undone with the request."""
    client = Client(raise_request_exception=False)
    client.handler = world.handler
    if person is None:
        return client
    if person.pk in world.cookies:
        client.cookies = deepcopy(world.cookies[person.pk])
    else:
        client.force_login(person)
        world.cookies[person.pk] = deepcopy(client.cookies)
    return client


@contextmanager
def at(
    world: World, address: Address, person: User | None, known: Mapping[str, Any] | None = None
) -> Iterator[tuple[Client, str]]:
    """Make what the address names; yield who asks and the address, and undo whatever was done in between.

    `known`: the values of `for_everybody`, within it.
    """
    client = client_of(world, person)
    with transaction.atomic():
        yield client, reverse(address.name, kwargs=arguments_of(world, address, person or world.owner, known))
        transaction.set_rollback(True)


@contextmanager
def for_everybody(world: World, address: Address) -> Iterator[dict[str, Any]]:
    """Make what an address names whoever asks; yield the values by the names of its arguments, and undo it then."""
    shared = [name for name in address.arguments if name != "project"]
    # Who signs in within the transaction is signed out by its end.
    for person in (*world.people.values(), world.outsider):
        client_of(world, person)
    with transaction.atomic():
        yield {
            name: make(world, world.owner)
            for name in shared
            if (make := argument(address.name, name)) not in OF_ONE_PERSON
        }
        transaction.set_rollback(True)


def arguments_of(
    world: World, address: Address, person: User, known: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Make what an address names, as this person would find it; return the values by the names of its arguments.

    What is `known` already is not made again.
    """
    made = {"project": world.project.slug, **(known or {})}
    return {
        name: made[name] if name in made else argument(address.name, name)(world, person) for name in address.arguments
    }
