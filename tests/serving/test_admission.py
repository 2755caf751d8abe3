"""Only people who are known may send a large body."""

from __future__ import annotations

import sqlite3
from unittest.mock import Mock

import pytest
from django.db import OperationalError
from django.test import Client

from toolevals.serving.admission import refusal
from toolevals.workspace.models import Role
from toolevals.workspace.tokens.services import token_create


def cookie_of(client: Client) -> dict[str, str]:
    return {"COOKIE": "; ".join(f"{morsel.key}={morsel.value}" for morsel in client.cookies.values())}


def code_for(headers: dict[str, str]) -> int | None:
    error = refusal(headers)
    return None if error is None else error.code


def test_who_is_signed_in_may(client, owner):
    assert code_for(cookie_of(client)) == 401
    client.force_login(owner)
    assert code_for(cookie_of(client)) is None
    client.logout()
    assert code_for(cookie_of(client)) == 401


def test_who_has_a_token_may(project, owner):
    _, secret = token_create(project=project, actor=owner, user=owner, name="ci", role=Role.VIEWER)
    assert code_for({"AUTHORIZATION": f"Bearer {secret}"}) is None
    assert code_for({"AUTHORIZATION": "Bearer te_unknown"}) == 401
    assert code_for({"AUTHORIZATION": f"Basic {secret}"}) == 401


def test_nonsense_is_nobody():
    assert code_for({}) == 401
    assert code_for({"COOKIE": "sessionid=\x00; ;=;;", "AUTHORIZATION": "\x00"}) == 401


def test_a_database_that_is_away_is_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("toolevals.workspace.tokens.services.token_find", Mock(side_effect=OperationalError))
    assert code_for({"AUTHORIZATION": "Bearer te_unknown"}) == 503


def test_a_full_disk_is_said(monkeypatch: pytest.MonkeyPatch):
    cause = sqlite3.OperationalError("database or disk is full")
    cause.sqlite_errorcode = sqlite3.SQLITE_FULL
    full = OperationalError()
    full.__cause__ = cause
    monkeypatch.setattr("toolevals.workspace.tokens.services.token_find", Mock(side_effect=full))
    assert code_for({"AUTHORIZATION": "Bearer te_unknown"}) == 507
