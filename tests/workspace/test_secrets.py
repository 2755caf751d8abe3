"""Secrets: sealed, named, and never given back."""

import pytest
from django.core.exceptions import ValidationError

from toolevals.workspace.models import AuditEntry, Secret
from toolevals.workspace.services import SecretMissingError, secret_read, secret_set
from toolevals.workspace.vault import SealBrokenError, seal, unseal

pytestmark = pytest.mark.django_db
VALUE = "hush-7421-ü"


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
    secret_set(project=project, actor=owner, name="model-host", value="first")
    secret_set(project=project, actor=owner, name="model-host", value=VALUE)
    assert secret_read(project=project, name="model-host") == VALUE
    assert Secret.objects.count() == 1
    entries = AuditEntry.objects.filter(verb__startswith="secret_").order_by("id")
    assert [entry.verb for entry in entries] == ["secret_set", "secret_replace"]
    assert VALUE not in str([vars(entry) for entry in entries])


def test_one_projects_secret_is_not_anothers(project, owner):
    from toolevals.workspace.services import project_create

    other = project_create(actor=owner, name="Other", slug="other")
    secret_set(project=project, actor=owner, name="model-host", value=VALUE)
    with pytest.raises(SecretMissingError, match="no secret named 'model-host'"):
        secret_read(project=other, name="model-host")


@pytest.mark.parametrize(("name", "value"), [("", "x"), ("with space", "x"), ("fine", ""), ("fine", "x" * 10_001)])
def test_bad_names_and_values_are_refused(project, name, value):
    with pytest.raises(ValidationError):
        secret_set(project=project, actor=None, name=name, value=value)
    assert not Secret.objects.exists()


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
    put = page.put("/api/v1/projects/shop/secrets/model-host/", {"value": VALUE}, "application/json")
    assert put.status_code == 200
    listed = page.get("/api/v1/projects/shop/secrets/")
    assert [secret["name"] for secret in listed.json()["results"]] == ["model-host"]
    assert VALUE not in put.content.decode() + listed.content.decode()
    assert page.get("/api/v1/projects/shop/secrets/model-host/").status_code == 405
    assert page.put("/api/v1/projects/shop/secrets/model-host/", {"value": ""}, "application/json").status_code == 422
    assert page.delete("/api/v1/projects/shop/secrets/model-host/").status_code == 204
    assert page.delete("/api/v1/projects/shop/secrets/model-host/").status_code == 404
