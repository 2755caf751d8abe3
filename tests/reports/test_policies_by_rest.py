"""Policies by REST: made, changed, measured, put in force, deleted; each answer as the pages have it."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tests.runs.building import REFUND, STATUS, TOOLS, call, uploaded_run, version_of
from toolevals.registry.models import Policy
from toolevals.registry.services import registry_create, registry_publish
from toolevals.workspace.models import User

pytestmark = pytest.mark.django_db
JSON = "application/json"
BLOCKED = {"rules": {"no-refund": {"kind": "blocked", "mode": "enforce", "tools": [REFUND]}}}


@pytest.fixture
def as_adjudicator(client: Client, adjudicator: User) -> Client:
    client.force_login(adjudicator)
    return client


def at(name: str, *more: Any) -> str:
    return reverse(f"reports-api:{name}", args=["shop", *more])


@pytest.fixture
def made(as_adjudicator: Client, project: Any) -> Any:
    """The answer to a policy that is made."""
    registry = registry_create(project=project, actor=None, slug="tools", name="Tools")
    registry_publish(registry=registry, actor=None, document=TOOLS)
    asked = {"slug": "guard", "name": "Guard", "document": BLOCKED, "registry": "tools"}
    return as_adjudicator.post(at("policies"), asked, content_type=JSON)


def test_a_policy_is_made_listed_and_published_again(as_adjudicator, made):
    assert (made.status_code, made.json()["name"], made.json()["is_active"]) == (201, "guard@1", False)
    assert made.json()["document"] == {**BLOCKED, "name": "Guard", "version": 1}
    (listed,) = as_adjudicator.get(at("policies")).json()["results"]
    assert (listed["slug"], listed["registry"], listed["newest_number"], listed["active_number"]) == (
        "guard",
        "tools",
        1,
        None,
    )
    second = as_adjudicator.post(
        at("policy-versions", "guard"), {"document": {"rules": {}}, "note": "open"}, content_type=JSON
    )
    assert (second.status_code, second.json()["number"]) == (201, 2)
    versions = as_adjudicator.get(at("policy-versions", "guard")).json()["results"]
    assert [each["number"] for each in versions] == [2, 1]
    assert as_adjudicator.get(at("policy-version", "guard", 1)).json()["document"]["rules"] == BLOCKED["rules"]


def test_what_is_no_policy_is_refused_with_a_pointer(as_adjudicator, made):
    wrong = {"document": {"rules": {"a": {"kind": "magic", "mode": "off"}}}}
    answer = as_adjudicator.post(at("policy-versions", "guard"), wrong, content_type=JSON)
    assert answer.status_code == 422
    assert "/rules/a/kind" in answer.content.decode()
    unknown = {"slug": "b", "name": "B", "document": BLOCKED, "registry": "nothing"}
    answer = as_adjudicator.post(at("policies"), unknown, content_type=JSON)
    assert (answer.status_code, "/registry" in answer.content.decode()) == (422, True)
    assert Policy.objects.count() == 1


def test_a_version_is_put_in_force_for_a_reason_and_taken_out(as_adjudicator, made):
    active = at("policy-active", "guard")
    refused = as_adjudicator.put(active, {"number": 1}, content_type=JSON)
    assert (refused.status_code, "/reason" in refused.content.decode()) == (422, True)
    answer = as_adjudicator.put(active, {"number": 1, "reason": "Abuse."}, content_type=JSON)
    assert (answer.status_code, answer.json()["active_number"]) == (200, 1)
    assert as_adjudicator.get(at("policy-version", "guard", 1)).json()["reason"] == "Abuse."
    missing = as_adjudicator.put(active, {"number": 7}, content_type=JSON)
    assert (missing.status_code, "/number" in missing.content.decode()) == (422, True)
    answer = as_adjudicator.put(active, {"number": None}, content_type=JSON)
    assert answer.json()["active_number"] is None


def test_rates_are_measured_and_lead_to_their_cases(as_adjudicator, project, made, run_jobs):
    rates = at("policy-rates", "guard", 1)
    assert as_adjudicator.get(rates).json()["rules"][0]["refused"] is None
    assert as_adjudicator.get(at("policy-refusals", "guard"), {"rule": "no-refund"}).status_code == 404
    run = uploaded_run(
        project, version_of(project), [call("status", REFUND), call("refund", REFUND), call("history", STATUS)]
    )
    run_jobs()
    assert as_adjudicator.post(rates, content_type=JSON).status_code == 202
    run_jobs()
    found = as_adjudicator.get(rates).json()
    assert [each["number"] for each in found["runs"]] == [run.number]
    (rule,) = found["rules"]
    assert (rule["calls"], rule["refused"], rule["refused_expected"], rule["refused_gold"]) == (3, 2, 1, 1)
    assert (rule["is_known"], rule["too_small"]) == (False, True)
    assert 0 < rule["wrongly"]["low"] < rule["wrongly"]["high"] <= 1
    listed = as_adjudicator.get(at("policy-refusals", "guard"), {"rule": "no-refund"}).json()["results"]
    assert {(each["external_id"], each["is_expected"], each["run"]) for each in listed} == {
        ("status", False, run.number),
        ("refund", True, run.number),
    }
    of_gold = as_adjudicator.get(at("policy-refusals", "guard"), {"rule": "no-refund", "of": "gold"}).json()["results"]
    assert [(each["external_id"], each["run"], each["sentence"]) for each in of_gold] == [("refund", None, "")]


def test_tools_on_offer_are_changed_and_an_owner_deletes(as_adjudicator, made, client, owner):
    address = at("policy", "guard")
    answer = as_adjudicator.patch(address, {"registry": None}, content_type=JSON)
    assert (answer.status_code, answer.json()["registry"]) == (200, None)
    assert as_adjudicator.delete(address).status_code == 403
    client.force_login(owner)
    assert client.delete(address).status_code == 204
    assert client.get(address).status_code == 404
