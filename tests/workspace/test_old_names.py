"""Test that what was written under an old name is still read, and that nothing is written under one."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from drf_spectacular.generators import SchemaGenerator

from reports.models import PublicScore
from reports.public_scores.services import read_scores
from reports.suspects.queries import row_of
from toolevals.workspace.models import AuditEntry, Project, User
from toolevals.workspace.old_names import OLD_NAMES, with_new_names

pytestmark = pytest.mark.django_db
MOVED = {
    "/p/{}/subjects/?q=a&q=b": "/p/{}/agents/?q=a&q=b",
    "/p/{}/subjects.csv": "/p/{}/agents.csv",
    "/p/{}/subjects/trends/?subject=%3Cx%3E": "/p/{}/agents/trends/?subject=%3Cx%3E",
    "/api/v1/projects/{}/subjects/": "/api/v1/projects/{}/agents/",
    "/p/{}/datasets/core/versions/2/floors/": "/p/{}/datasets/core/versions/2/baseline-agents/",
    "/p/{}/datasets/core/versions/2/floors.csv": "/p/{}/datasets/core/versions/2/baseline-agents.csv",
    "/api/v1/projects/{}/datasets/core/versions/2/floors/": (
        "/api/v1/projects/{}/datasets/core/versions/2/baseline-agents/"
    ),
}
SCORE = {
    "benchmark": "BFCL",
    "version": "v4",
    "subject": "m-1",
    "metric": "overall",
    "value": 0.7,
    "published_on": "2026-03-01",
    "source": "https://example.org/leaderboard",
}


@pytest.fixture
def keeper(client: Client, owner: User) -> Client:
    client.force_login(owner)
    return client


@pytest.mark.parametrize("old", MOVED)
@pytest.mark.parametrize("method", ["get", "post"])
def test_an_old_address_leads_to_the_new_one(keeper, project, old, method):
    answer = getattr(keeper, method)(old.format(project.slug))

    assert (answer.status_code, answer["Location"]) == (308, MOVED[old].format(project.slug))


def test_a_dataset_may_have_an_old_name(keeper, project):
    for address in ("/p/{}/datasets/subjects/", "/p/subjects/", "/p/{}/subjects-of-mine/", "/p/{}/datasets/floors/"):
        assert keeper.get(address.format(project.slug)).status_code == 404


def test_an_old_name_in_a_query_is_read(keeper, project):
    address = f"/p/{project.slug}/agents/trends/"

    assert keeper.get(address).status_code == 200
    assert keeper.get(address, {"subject": "nobody"}).status_code == 404
    # The new name counts where both are given.
    assert keeper.get(address, {"subject": "nobody", "agent": ""}).status_code == 200


def test_an_old_name_in_a_document_is_read(keeper: Client, project: Project):
    answer = keeper.post(f"/api/v1/projects/{project.slug}/benchmarks/", SCORE, content_type="application/json")

    assert answer.status_code == 201, answer.content
    assert PublicScore.objects.get().agent == answer.json()["agent"] == "m-1"


def test_an_old_column_is_read():
    lines = (",".join(SCORE), ",".join(map(str, SCORE.values())))

    assert [score["agent"] for score in read_scores("\n".join(lines).encode())] == ["m-1"]


def test_stored_rows_with_old_names_are_read():
    reason = {"kind": "agreement", "witnesses": [{"subject": "m-1", "run": 1, "case": "c"}]}
    revision = SimpleNamespace(
        example_id=1, pk=1, example=SimpleNamespace(external_id="ex"), resolution="resolved", gold=None
    )
    suspect = SimpleNamespace(
        entry=SimpleNamespace(revision=revision), reasons=[reason], tells_labels=False, shown=0.5, state="open"
    )

    assert row_of(suspect, 1).reasons[0]["witnesses"] == [{"agent": "m-1", "run": 1, "case": "c"}]


def test_an_old_code_in_the_audit_log_is_read_on_page_in_file_and_by_rest(keeper: Client, project: Project):
    agent = {"name": "always (none)", "connector": "floor"}
    for kind, detail in (("agent", agent), ("experiment", {"slug": "_floors"})):
        AuditEntry.objects.create(
            project=project, verb=f"{kind}_ensure", target_type=kind, target_id=uuid4(), detail=detail
        )

    page = keeper.get(f"/p/{project.slug}/audit/").content.decode()
    file = keeper.get(f"/p/{project.slug}/audit.csv").getvalue().decode()
    listed = keeper.get(f"/api/v1/projects/{project.slug}/audit/").json()["results"]

    assert "</span> baseline_agent " in page
    assert '""connector"": ""baseline_agent""' in file
    for detail in ({"slug": "_baseline_agents"}, agent | {"connector": "baseline_agent"}):
        assert detail in [entry["detail"] for entry in listed]
    assert not any("floor" in text for text in (page, file))


def test_an_old_name_beside_its_new_one_stays_unread():
    assert with_new_names({"subject": 1, "agent": 2, "other": 3}) == {"subject": 1, "agent": 2, "other": 3}


def test_nothing_is_written_under_an_old_name():
    generator: Any = SchemaGenerator
    written = set(_names(generator().get_schema(request=None, public=True)))

    assert {"agent", "agent_id", "agents", "baseline_agents"} <= written
    assert not written & set(OLD_NAMES)


def _names(value: Any) -> Iterator[str]:
    """Yield the names of the fields and parameters, and the parts of the addresses, of a schema."""
    if isinstance(value, dict):
        yield from (value["name"],) if isinstance(value.get("name"), str) else ()
        for key, inner in value.items():
            if key == "properties":
                yield from inner
            elif key == "paths":
                yield from (part for address in inner for part in address.split("/"))
            yield from _names(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _names(inner)
