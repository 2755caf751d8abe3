"""Test what holds a NUL is refused, by whichever door it comes."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from tests.access.addresses import addresses
from toolevals.workspace.models import AuditEntry


@pytest.mark.parametrize(
    "address", ["/?next=a%00b", "/p/shop/label%00/", "/p/shop/datasets/?q=%00", "/sign-in/?next=%00"]
)
def test_an_address_with_a_nul_is_refused_and_says_why(client, owner, address):
    client.force_login(owner)
    response = client.get(address)
    assert response.status_code == 400
    assert "contains a NUL character" in response.content.decode()


def test_a_form_with_a_nul_is_refused_and_changes_nothing(client, owner, project):
    client.force_login(owner)
    before = AuditEntry.objects.count()
    filled_in = "name=A%00&email=new%40example.org&role=10"
    address = reverse("workspace:members", args=[project.slug])
    response = client.post(address, filled_in, content_type="application/x-www-form-urlencoded")
    assert response.status_code == 400
    assert AuditEntry.objects.count() == before


def test_a_program_is_told_of_a_nul_too(client):
    response = client.get("/api/v1/projects/shop/jobs/?cursor=%00")
    assert response.status_code == 400
    assert response.json()["detail"] == "The request contains a NUL character (%00), which is not allowed."


def test_a_number_that_no_column_holds_is_not_found(client, owner, project):
    """An address is refused before anything is read, no matter what else it names."""
    client.force_login(owner)
    others = {"slug": "x", "uuid": "00000000-0000-7000-8000-000000000000"}
    numbered = [address for address in addresses() if "<int:" in address.route]
    assert len(numbered) > 100
    for address in numbered:
        for number in (2**31, 10**30):
            path = address.route.replace("<slug:project>", project.slug)
            for kind, value in {**others, "int": str(number)}.items():
                path = re.sub(rf"<{kind}:\w+>", value, path)
            path = re.sub(r"<\w+:\w+>", "x", path)
            for method in (client.get, client.post):
                assert method(f"/{path}").status_code in (404, 405), path
