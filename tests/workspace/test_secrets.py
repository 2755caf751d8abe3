"""Secrets: sealed, named, and never given back."""

import pytest
from django.core.exceptions import ValidationError

from toolevals.workspace.models import AuditEntry, Secret
from toolevals.workspace.secrets.services import (
    SealBrokenError,
    SecretMissingError,
    SecretRefusedError,
    seal,
    secret_check,
    secret_for,
    secret_set,
    unseal,
)

pytestmark = pytest.mark.django_db
VALUE = "hush-7421-ü"
HOST = "https://models.example.org"


@pytest.fixture
def page(client, owner, project):
    client.force_login(owner)
    return client


def test_what_is_sealed_opens_and_looks_like_nothing():
    assert unseal(seal(VALUE)) == VALUE
    assert seal(VALUE) != seal(VALUE)
    assert VALUE not in seal(VALUE)


def test_it_opens_after_a_change_of_the_key_only_with_the_old_one_at_hand(settings):
    sealed = seal(VALUE)
    old, settings.SECRET_KEY = settings.SECRET_KEY, "another-key"
    with pytest.raises(SealBrokenError):
        unseal(sealed)
    settings.SECRET_KEY_FALLBACKS = [old]
    assert unseal(sealed) == VALUE


def test_what_was_changed_does_not_open():
    sealed = seal(VALUE)
    with pytest.raises(SealBrokenError):
        unseal(sealed[:-5] + ("A" if sealed[-5] != "A" else "B") + sealed[-4:])


def test_a_value_is_replaced_and_both_acts_are_audited_without_it(project, owner):
    secret_set(project=project, actor=owner, name="model-host", value="first", addresses=[HOST])
    secret_set(project=project, actor=owner, name="model-host", value=VALUE)
    assert secret_for(project=project, name="model-host", address=f"{HOST}/v1") == VALUE
    assert Secret.objects.count() == 1
    entries = AuditEntry.objects.filter(verb__startswith="secret_").order_by("id")
    assert [entry.verb for entry in entries] == ["secret_set", "secret_replace"]
    assert VALUE not in str([vars(entry) for entry in entries])


def test_one_projects_secret_is_not_anothers(project, owner):
    from toolevals.workspace.projects.services import project_create

    other = project_create(actor=owner, name="Other", slug="other")
    secret_set(project=project, actor=owner, name="model-host", value=VALUE)
    with pytest.raises(SecretMissingError, match="no secret named 'model-host'"):
        secret_for(project=other, name="model-host", address=HOST)


@pytest.mark.parametrize(("name", "value"), [("", "x"), ("with space", "x"), ("fine", ""), ("fine", "x" * 10_001)])
def test_bad_names_and_values_are_refused(project, name, value):
    with pytest.raises(ValidationError):
        secret_set(project=project, actor=None, name=name, value=value)
    assert not Secret.objects.exists()


def test_a_secret_is_refused_for_any_other_address_and_that_is_audited_once(project, adjudicator):
    secret_set(project=project, actor=None, name="model-host", value=VALUE, addresses=[HOST])
    asked = {"project": project, "name": "model-host", "address": "https://evil.example/v1"}
    for _ in range(3):
        with pytest.raises(SecretRefusedError, match=r"may not be sent to https://evil\.example\. An owner") as caught:
            secret_for(**asked)
        with pytest.raises(SecretRefusedError, match="/p/shop/secrets/"):
            secret_check(**asked, actor=adjudicator)
    assert VALUE not in str(caught.value)
    entries = AuditEntry.objects.filter(project=project, verb="secret_refuse").order_by("id")
    assert [entry.actor for entry in entries] == [None, adjudicator]
    assert entries[0].detail["reason"] == "The secret 'model-host' may not be sent to https://evil.example."
    secret_check(project=project, actor=adjudicator, name="model-host", address=HOST)


def test_a_secret_from_before_is_refused_until_its_addresses_are_named(page, project):
    secret = secret_set(project=project, actor=None, name="model-host", value=VALUE)
    with pytest.raises(SecretRefusedError, match="may be sent to no address yet"):
        secret_for(project=project, name="model-host", address=HOST)
    text = page.get("/p/shop/secrets/").content.decode()
    assert "no allowed address: cannot be used" in text
    url = f"/p/shop/secrets/{secret.pk}/addresses/"
    assert url in text
    wrong = page.post(url, {"addresses": f"{HOST}/v1"})
    assert (wrong.status_code, "a scheme, a host and a port alone" in wrong.content.decode()) == (422, True)
    unproved = page.post(url, {"addresses": HOST})
    assert (unproved.status_code, Secret.objects.get().addresses) == (422, [])
    page.post(url, {"value": VALUE, "addresses": f"{HOST.upper()}\n\nhttp://[::1]:8080"})
    assert secret_for(project=project, name="model-host", address=f"{HOST}/v1") == VALUE
    assert "http://[::1]:8080" in page.get("/p/shop/secrets/").content.decode()
    assert "http://[::1]:8080" in page.get(url).content.decode()


def test_a_new_value_without_addresses_keeps_those_that_are_named(page, project):
    page.post("/p/shop/secrets/", {"name": "model-host", "value": "first", "addresses": HOST})
    page.post("/p/shop/secrets/", {"name": "model-host", "value": VALUE, "addresses": ""})
    assert secret_for(project=project, name="model-host", address=HOST) == VALUE


def test_the_page_names_secrets_and_shows_no_value(page):
    answer = page.post("/p/shop/secrets/", {"name": "model-host", "value": VALUE}, follow=True)
    assert "model-host" in answer.content.decode()
    assert VALUE not in answer.content.decode()
    refused = page.post("/p/shop/secrets/", {"name": "not a name", "value": VALUE})
    assert refused.status_code == 422
    assert VALUE not in refused.content.decode()
    secret = Secret.objects.get()
    page.post(f"/p/shop/secrets/{secret.pk}/forget/")
    assert not Secret.objects.exists()


def test_the_interface_sets_lists_and_deletes_and_never_reads(page):
    said = {"value": VALUE, "addresses": [HOST]}
    put = page.put("/api/v1/projects/shop/secrets/model-host/", said, "application/json")
    assert put.status_code == 200
    assert put.json()["addresses"] == [HOST]
    other = {"addresses": ["http://x.example"]}
    unproved = page.put("/api/v1/projects/shop/secrets/model-host/", other, "application/json")
    assert (unproved.status_code, unproved.json()["problems"][0]["pointer"]) == (422, "/value")
    assert "only together with its value" in unproved.json()["problems"][0]["message"]
    assert Secret.objects.get().addresses == [HOST]
    moved = page.put("/api/v1/projects/shop/secrets/model-host/", {"value": VALUE, **other}, "application/json")
    assert moved.json()["addresses"] == ["http://x.example"]
    wrong = page.put("/api/v1/projects/shop/secrets/model-host/", {"addresses": ["x.example"]}, "application/json")
    assert (wrong.status_code, wrong.json()["problems"][0]["pointer"]) == (422, "/addresses")
    listed = page.get("/api/v1/projects/shop/secrets/")
    assert [secret["name"] for secret in listed.json()["results"]] == ["model-host"]
    assert VALUE not in put.content.decode() + listed.content.decode()
    assert page.get("/api/v1/projects/shop/secrets/model-host/").status_code == 405
    assert page.put("/api/v1/projects/shop/secrets/model-host/", {"value": ""}, "application/json").status_code == 422
    assert page.delete("/api/v1/projects/shop/secrets/model-host/").status_code == 204
    assert page.delete("/api/v1/projects/shop/secrets/model-host/").status_code == 404
