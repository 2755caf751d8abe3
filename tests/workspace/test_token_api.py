"""API tokens in the REST interface: made, ended, and never more than the token that asks for them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from toolevals.workspace.clock import database_now
from toolevals.workspace.models import ApiToken, Role
from toolevals.workspace.projects.services import project_create
from toolevals.workspace.tokens.services import TokenTooWideError, token_create

SHOP = "/api/v1/projects/shop/"
Bearer = Callable[..., dict[str, str]]


@pytest.fixture
def bearer(project, owner) -> Bearer:
    """Return a function that makes the header of an owner's token."""

    def make(expires_at: datetime | None = None) -> dict[str, str]:
        made = token_create(project=project, actor=owner, user=owner, name="ci", role=Role.OWNER, expires_at=expires_at)
        return {"Authorization": f"Bearer {made[1]}"}

    return make


def make(client: Client, header: dict[str, str] | None = None, **said: Any) -> Any:
    body = {"name": "gate", "role": "viewer"} | said
    return client.post(f"{SHOP}tokens/", body, content_type="application/json", headers=header)


def test_a_token_makes_no_token_that_lasts_longer(client, bearer):
    ends = database_now() + timedelta(days=3)
    header = bearer(expires_at=ends)
    for later in ({"expires_at": None}, {"expires_at": (ends + timedelta(seconds=1)).isoformat()}):
        refused = make(client, header, **later)
        assert refused.status_code == 403
        assert "tokens that end by" in refused.json()["detail"]
    sooner = {"expires_at": (ends - timedelta(days=1)).isoformat()}
    for unsaid in ({}, sooner):
        made = make(client, header, **unsaid)
        assert made.status_code == 201
    assert ApiToken.objects.filter(expires_at__gt=ends).count() == 0
    assert ApiToken.objects.filter(expires_at=ends).count() == 2


def test_a_session_makes_a_token_without_an_end(client, owner, project):
    client.force_login(owner)
    made = make(client)
    assert made.json()["token"]["expires_at"] is None


def test_a_token_makes_none_of_a_higher_role_another_project_or_another_person(project, owner, viewer):
    maker, _ = token_create(project=project, actor=owner, user=owner, name="small", role=Role.REVIEWER)
    other = project_create(actor=owner, slug="other", name="Other")
    for place, user, role, said in (
        (project, owner, Role.ADJUDICATOR, "the role reviewer at most"),
        (other, owner, Role.VIEWER, "for its own project and user"),
        (project, viewer, Role.VIEWER, "for its own project and user"),
    ):
        with pytest.raises(TokenTooWideError, match=said):
            token_create(project=place, actor=owner, user=user, name="x", role=role, maker=maker)
    assert ApiToken.objects.count() == 1


def test_tokens_are_made_and_ended(client, bearer):
    header = bearer()
    made = make(client, header).json()
    secret = {"Authorization": f"Bearer {made['secret']}"}
    assert client.get(SHOP, headers=secret).status_code == 200
    url = f"{SHOP}tokens/{made['token']['id']}/"
    assert client.delete(url, headers=header).status_code == 204
    assert client.get(SHOP, headers=secret).status_code == 401
    assert client.get(url, headers=header).json()["revoked_at"] is not None
    assert made["secret"] not in client.get(f"{SHOP}tokens/", headers=header).content.decode()
