"""Tags, notes and the reading of a cell by REST: what pages do, and to whom."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import pytest
from django.urls import reverse

from tests.reports.building import Case
from toolevals.runs.models import CaseTag

pytestmark = pytest.mark.django_db


@pytest.fixture
def address(build, project) -> str:
    case = build.grading([Case("a", "b")]).cases.get()
    return reverse("reports-api:case-remarks", args=[project.slug, 1, case.pk])


def say(client: Any, address: str, **said: str) -> Any:
    return client.post(address, said, content_type="application/json")


def test_a_reviewer_tags_and_writes_and_takes_a_tag_off(client, reviewer, address):
    client.force_login(reviewer)
    assert say(client, address, kind="tag", text=" look  here ").json()["text"] == "look here"
    note = say(client, address, kind="note", text="<b>odd</b>")
    assert (note.status_code, note.json()["person"]) == (HTTPStatus.CREATED, reviewer.name)
    found = client.get(address).json()
    assert [each["text"] for each in (*found["tags"], *found["notes"])] == ["look here", "<b>odd</b>"]
    assert client.delete(f"{address}?tag=look+here").status_code == HTTPStatus.NO_CONTENT
    assert client.delete(f"{address}?tag=look+here").status_code == HTTPStatus.NO_CONTENT
    assert not CaseTag.objects.exists()


def test_what_cannot_be_said_is_refused_with_its_place(client, reviewer, address):
    client.force_login(reviewer)
    for said in ({"kind": "tag", "text": "x" * 41}, {"kind": "note", "text": "  "}, {"kind": "thumb", "text": "x"}, {}):
        answer = say(client, address, **said)
        assert 400 <= answer.status_code < 500, said
        assert answer["Content-Type"] == "application/problem+json"


def test_a_viewer_reads_and_says_nothing(client, viewer, address):
    client.force_login(viewer)
    assert client.get(address).json() == {"tags": [], "notes": []}
    assert say(client, address, kind="tag", text="x").status_code == HTTPStatus.FORBIDDEN


def test_a_cell_is_read_as_beside_the_matrix(get, build):
    grading = build.grading([Case("a", "b")] * 3 + [Case("a", "a")] * 2)
    shown = get("cell", grading, expected="a", actual="b").context["reading"]
    said = get("api:cell", grading, expected="a", actual="b").json()
    assert (said["cell"]["count"], said["rate"]["value"], said["case_count"]) == (3, 0.6, 3)
    assert (said["advice"]["kind"], said["advice"]["why"]) == (shown.advice.kind.name, shown.advice.kind.why)
    for name, key in (("shown", "shown"), ("tries", "to_try")):
        assert [each["sentence"] for each in said["advice"][key]] == [each.text for each in getattr(shown.advice, name)]
    assert [each["description"] for each in said["tools"]] == ["Does a.", "Does b."]
    assert get("api:cell", build.grading([])).status_code == HTTPStatus.NO_CONTENT


def test_failures_are_counted_by_tag_with_what_to_do(get, build):
    grading = build.grading([Case("a", "b")] * 3 + [Case("a", "a", status="errored")] * 2)
    said = get("api:layers", grading).json()
    counts = {"MALFORMED_OUTPUT": 0, "WRONG_ANSWER": 3, "ADAPTER_ERROR": 2, "HARNESS_ERROR": 0}
    assert said["failure_counts"] == counts
    assert {each["tag"]: (each["count"], each["scored"]) for each in said["failure_tags"]} == {
        tag: (count, not tag.endswith("_ERROR")) for tag, count in counts.items()
    }
    assert all(each["meaning"] and each["to_do"] for each in said["failure_tags"])
