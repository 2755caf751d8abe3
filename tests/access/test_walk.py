"""Every address, asked for by everybody: who gets in is what the rules say, and nothing is without a rule.

No page offers a member what would be refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from http import HTTPStatus
from typing import Any

import pytest
from django.db import transaction

from tests.access.addresses import Address, addresses
from tests.access.asking import at, for_everybody
from tests.access.offers import offers
from tests.access.world import World
from toolevals.workspace.access import Audience, Rule, rules
from toolevals.workspace.models import Role, TokenScope, User
from toolevals.workspace.tokens.services import token_create

EVERY = addresses()
METHODS = ("GET", "POST")
SIGN_IN = "/sign-in/?next="
ONE_THING = {
    TokenScope.TRACES: {"traces-intake:traces", "traces-intake:logs"},
    TokenScope.GUARD: {
        "registry-api:guard-check",
        "registry-api:guard-signed",
        "registry-api:guard-policy-signed",
        "registry-api:guard-keys",
    },
}


def asked(world: World, address: Address, person: User | None, known: Mapping[str, Any]) -> dict[str, Any]:
    """Send the requests to real objects, and undo whatever each did. Return the answers by method."""
    answers = {}
    with at(world, address, person, known) as (client, path):
        for method in METHODS:
            cookies = deepcopy(client.cookies)
            with transaction.atomic():
                answers[method] = client.generic(method, path, content_type="application/json")
                transaction.set_rollback(True)
            client.cookies = cookies
    return answers


def refusal(response: Any) -> str:
    """Say in one word how a request was refused; "" if it was let in, whatever the view made of it then."""
    if response.status_code == HTTPStatus.FOUND and response["Location"].startswith(SIGN_IN):
        return "sign in"
    names = {401: "sign in", 403: "role too low", 404: "not found"}
    return names.get(response.status_code, "broken" if response.status_code >= 500 else "")


def expected(rule: Rule, method: str, role: Role | None, *, known: bool) -> str:
    """Say how the rule refuses a stranger, an outsider (`known`) or a member. The owner alone owns the installation."""
    needed = rule.needs(method)
    if needed is Audience.ANYONE:
        return ""
    # The operator shows a token that no project has: these requests come to a name that is not of this machine.
    if needed is Audience.OPERATOR:
        return "sign in"
    # A session sends no traces and asks nothing by MCP: a token does.
    if not known or needed in (Audience.SENDER, Audience.HOLDER):
        return "sign in"
    if not isinstance(needed, Audience):
        if role is None:
            return "not found"
        if role < needed:
            return "role too low"
    return "role too low" if rule.grant_for(method) and role != Role.OWNER else ""


def offered_in_vain(response: Any, role: Role) -> set[str]:
    """Return what a page offers to a member of this role, and would refuse them."""
    if response.status_code != HTTPStatus.OK or not response.get("Content-Type", "").startswith("text/html"):
        return set()
    known = rules()
    page = "" if response.streaming else response.content.decode()
    return {
        f"{method} {name}"
        for method, name in offers(page, response.wsgi_request.path)
        if name in known and expected(known[name], method, role, known=True)
    }


def test_every_address_has_a_name_and_a_rule():
    assert [address.route for address in EVERY if address.name not in rules()] == []


def test_every_rule_has_an_address():
    assert set(rules()) - {address.name for address in EVERY} == set()


def test_no_two_addresses_have_one_name():
    names = [address.name for address in EVERY]
    assert sorted(set(names)) == sorted(names)


@pytest.mark.parametrize("address", EVERY, ids=str)
def test_everybody_gets_what_the_rule_says(world, address):
    walkers: list[tuple[str, User | None, Role | None]] = [
        ("a stranger", None, None),
        ("an outsider", world.outsider, None),
        *((role.label, person, role) for role, person in world.people.items()),
    ]
    wrong = []
    with for_everybody(world, address) as known:
        for who, person, role in walkers:
            for method, response in asked(world, address, person, known).items():
                wanted = expected(rules()[address.name], method, role, known=person is not None)
                if refusal(response) != wanted:
                    wrong.append(f"{method} by {who}: {response.status_code}, not {wanted or 'let in'!r}")
                if role is not None:
                    wrong += [f"{who} is offered {vain}" for vain in offered_in_vain(response, role)]
    assert wrong == []


@pytest.mark.parametrize("scope", [each for each in TokenScope if each is not TokenScope.PROJECT])
def test_a_token_that_does_one_thing_reads_and_writes_nothing_else(world, scope):
    let_in, known = set(), {"project": world.project.slug}
    with transaction.atomic():
        _, secret = token_create(
            project=world.project, actor=None, user=world.owner, name="one thing", role=Role.OWNER, scope=scope
        )
        for address in EVERY:
            with for_everybody(world, address) as values, at(world, address, None, known | values) as (client, path):
                for method in METHODS:
                    headers = {"Authorization": f"Bearer {secret}"}
                    response: Any = client.generic(method, path, content_type="application/json", headers=headers)
                    if refusal(response) == "" and rules()[address.name].needs(method) is not Audience.ANYONE:
                        let_in.add(address.name)
        transaction.set_rollback(True)
    assert let_in == ONE_THING[scope]


@pytest.mark.parametrize("address", [each for each in EVERY if each.is_api], ids=str)
def test_the_api_refuses_strangers_by_a_problem_and_never_by_a_page(world, address):
    with at(world, address, None) as (client, path):
        response: Any = client.get(path)
    if rules()[address.name].read is not Audience.ANYONE:
        assert response.status_code == HTTPStatus.UNAUTHORIZED
        assert response["Content-Type"] == "application/problem+json"
        assert response["WWW-Authenticate"] == "Bearer"
