"""Second looks on a project's first page and in the REST interface: a person's own, and nobody else's."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from labeling.models import Dataset, LookProposal, Revision, SecondLook
from labeling.second_looks.pending_second_looks import looks_due, proposal_document
from labeling.second_looks.services import second_looks_begin, second_looks_end
from tests.labeling.rows import NO_CALL, call
from toolevals.grading.values import ToolCall
from toolevals.workspace.models import User

API = "/api/v1/projects/shop/second-looks/"
WAITS = "second look"
AsUser = Callable[[User], Client]


@pytest.fixture
def looked(project, dataset: Dataset, examples: list[Revision], submit, ann, ben, pass_time) -> LookProposal:
    """Ann has a second look at the example that she has labelled; Ben has labelled what the agent did."""
    document = proposal_document([ToolCall("cancel_order", {"order_id": "A-1"})])
    proposals = {revision.pk: document for revision in examples}
    second_looks_begin(dataset=dataset, actor=None, run=7, agent="Rival", proposals=proposals, planted_share=0)
    submit(ann, NO_CALL)
    submit(ben, call("cancel_order"))
    pass_time(project.undo_seconds + 1)
    (due,) = looks_due(project, ann)
    return due.proposal


@pytest.fixture
def ask() -> Callable[..., Any]:
    """Return a function that asks as a person and returns the answer's JSON."""

    def do(user: User, method: str, path: str = "", body: Any = None, status: int = 200) -> Any:
        client = Client()
        client.force_login(user)
        text = "" if body is None else json.dumps(body)
        answer = client.generic(method, API + path, text, content_type="application/json")
        assert answer.status_code == status, answer.content
        return answer.json()

    return do


def home(user: User) -> str:
    client = Client()
    client.force_login(user)
    return client.get("/p/shop/").content.decode()


def test_the_first_page_tells_who_has_one_and_nobody_else(looked, ann, ben, adjudicator, viewer):
    shown = home(ann)
    assert "second look" in shown
    assert 'href="/p/shop/second-looks/"' in shown
    for other in (ben, adjudicator, viewer):
        assert "second look" not in home(other).lower()
    # What is proposed, and by whom, stands on no first page.
    assert "Rival" not in shown


def test_the_first_page_tells_no_more_once_it_is_answered(looked, ann, ask):
    ask(ann, "POST", f"{looked.pk}/")
    assert "second look" in home(ann)
    ask(ann, "POST", f"{looked.pk}/answer/", {"answer": "kept"})
    assert "second look" not in home(ann)


def test_one_reads_opens_and_answers_ones_own(looked, ann, ask):
    waiting = ask(ann, "GET")["waiting"]
    assert [each["id"] for each in waiting] == [str(looked.pk)]
    # The list tells which example waits, and not what is proposed.
    assert waiting[0].keys() == {"id", "dataset", "example", "revision"}
    assert not SecondLook.objects.exists()
    opened = ask(ann, "POST", f"{looked.pk}/")
    assert (opened["expectation"], opened["proposed"]) == (NO_CALL, looked.expectation)
    assert (opened["answer"], opened["some_are_wrong"]) == ("expectation", False)
    assert opened["input"] == looked.revision.input
    ask(ann, "POST", f"{looked.pk}/answer/", {"answer": "perhaps"}, 422)
    said = ask(ann, "POST", f"{looked.pk}/answer/", {"answer": "went_over", "remark": " It asks for it. "})
    assert (said["id"], said["answer"], said["remark"]) == (str(looked.pk), "went_over", "It asks for it.")
    again = ask(ann, "POST", f"{looked.pk}/answer/", {"answer": "kept"})
    assert again["answer"] == "went_over"
    assert ask(ann, "GET")["waiting"] == []


def test_nobody_reads_another_persons(looked, ann, ben, adjudicator, owner, viewer, ask):
    for other in (ben, adjudicator, owner):
        assert ask(other, "GET")["waiting"] == []
        ask(other, "POST", f"{looked.pk}/", status=404)
        ask(other, "POST", f"{looked.pk}/answer/", {"answer": "kept"}, 404)
    ask(viewer, "GET", status=403)
    # Who has not opened it does not answer it: they have seen nothing.
    ask(ann, "POST", f"{looked.pk}/answer/", {"answer": "kept"}, 404)
    assert not SecondLook.objects.exists()


def test_what_was_decided_meanwhile_is_a_conflict(looked, ann, ask, dataset):
    ask(ann, "POST", f"{looked.pk}/")
    second_looks_end(dataset=dataset, actor=None)
    answer = ask(ann, "POST", f"{looked.pk}/answer/", {"answer": "kept"}, 409)
    assert "has been decided" in answer["detail"]
