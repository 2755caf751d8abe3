"""The pages of calibration rounds, and the same through REST."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from labeling.calibration_rounds.services import calibration_answer, calibration_open
from labeling.imports.services import examples_import
from labeling.models import CalibrationAnswer, CalibrationRound, Dataset, Draft
from tests.labeling.rows import NO_CALL
from tests.labeling.test_api import Program
from tests.labeling_pages.shop import row
from toolevals.grading.reading.examples import read_example
from toolevals.workspace.models import User

pytestmark = pytest.mark.django_db
AsUser = Callable[[User], Client]
SECRET = "secret-rationale-of-another"
NONE = {"tool": "none", "why": "greeting"}


@pytest.fixture
def solved(dataset: Dataset) -> Dataset:
    """Return the dataset with two solved examples whose gold calls for an order that nobody else names."""
    gold = {"expected_tool": "get_order", "expected_args": {"order_id": "GOLD-77"}}
    examples_import(dataset=dataset, actor=None, rows=[read_example(row(number, **gold)) for number in (50, 51)])
    return dataset


@pytest.fixture
def opened(solved: Dataset, owner: User) -> CalibrationRound:
    """Return a round of both, which the owner has answered."""
    made = calibration_open(dataset=solved, actor=owner, name="Week one")
    for item in made.items.with_content():
        calibration_answer(item=item, actor=owner, expectation=NO_CALL, rationale=SECRET, seconds=7)
    return made


def url(name: str, *arguments: Any) -> str:
    return reverse(f"labeling:{name}", args=["shop", "core", *arguments])


def text(response: Any) -> str:
    body = b"".join(response.streaming_content) if response.streaming else response.content
    # A page whatever its line breaks; a file as it is.
    return " ".join(body.decode().split()).replace(" >", ">") if "html" in response["Content-Type"] else body.decode()


def finish(client: Client, calibration: CalibrationRound, data: dict[str, str]) -> None:
    for item in calibration.items.all():
        assert client.post(url("calibrate-submit", calibration.pk, item.pk), data).status_code == 302


def test_an_adjudicator_sees_what_is_proposed_and_opens_a_round(solved: Dataset, adjudicator: User, as_user: AsUser):
    client = as_user(adjudicator)
    shown = text(client.post(url("calibrations"), {"name": "New", "size": "1", "propose": "1"}))
    assert not CalibrationRound.objects.exists()
    (name,) = (name for name in ("ex-50", "ex-51") if f"> {name}</textarea>" in shown)
    response = client.post(url("calibrations"), {"name": "New", "size": "1", "names": name, "comes_first": "on"})
    made = CalibrationRound.objects.get()
    assert response["Location"] == url("calibration", made.pk)
    assert (made.comes_first, made.items.get().revision.example.external_id) == (True, name)
    assert "comes first" in text(client.get(url("calibrations")))


def test_what_cannot_be_a_round_is_said(solved: Dataset, adjudicator: User, as_user: AsUser):
    response = as_user(adjudicator).post(url("calibrations"), {"name": "New", "size": "1", "names": "nothing"})
    assert response.status_code == 422
    assert "No solved example here is called nothing." in text(response)


def test_a_round_is_answered_on_the_screen_of_the_label_page(
    opened: CalibrationRound, reviewer: User, as_user: AsUser, swap: dict[str, str]
):
    client = as_user(reviewer)
    first, second = opened.items.all()
    assert client.get(url("calibrate", opened.pk))["Location"] == url("calibrate-item", opened.pk, first.pk)
    page = text(client.get(url("calibrate-item", opened.pk, first.pk)))
    assert all(part in page for part in ('id="label-form"', 'value="missing_tool"', "0</strong>", "of 2"))
    assert not any(part in page for part in ("data-flag", 'id="skip"', "data-renew-url"))
    panel = client.post(url("calibrate-panel", opened.pk, first.pk), {"tool": "0", "to": "tool"})
    assert 'data-choice="0"' in text(panel)
    draft = client.post(url("calibrate-draft", opened.pk, first.pk), {"tool": "none", "rationale": "half said"})
    assert draft.json()["problems"]
    assert "half said" in text(client.get(url("calibrate-item", opened.pk, first.pk)))
    refused = client.post(url("calibrate-submit", opened.pk, first.pk), {"tool": "0"}, headers=swap)
    assert refused.status_code == 422
    assert refused.json()["problems"]
    taken = client.post(url("calibrate-submit", opened.pk, first.pk), {**NONE, "seconds": "12"}, headers=swap)
    assert taken["HX-Push-Url"] == url("calibrate-item", opened.pk, second.pk)
    assert "1</strong>" in text(taken)
    assert not Draft.objects.exists()
    last = client.post(url("calibrate-submit", opened.pk, second.pk), NONE, headers=swap)
    assert (last["HX-Push-Url"], last.content) == (url("calibration", opened.pk), b"")
    assert CalibrationAnswer.objects.get(item=first, reviewer=reviewer).seconds == 12
    again = client.get(url("calibrate-item", opened.pk, first.pk), follow=True)
    assert again.redirect_chain[-1][0] == url("calibration", opened.pk)
    late = client.post(url("calibrate-submit", opened.pk, first.pk), {"tool": "ambiguous"}, headers=swap)
    assert (late.status_code, late.json()["url"]) == (409, url("calibration", opened.pk))
    assert client.post(url("calibrate-draft", opened.pk, first.pk), NONE).status_code == 409


def test_nothing_is_taken_from_a_page_of_somebody_else(
    opened: CalibrationRound, reviewer: User, owner: User, as_user: AsUser
):
    item = opened.items.all()[0]
    for name in ("calibrate-submit", "calibrate-draft"):
        response = as_user(reviewer).post(url(name, opened.pk, item.pk), NONE, headers={"X-Person": str(owner.pk)})
        assert response.status_code == 401
    assert not CalibrationAnswer.objects.filter(reviewer=reviewer).exists()


def test_neither_gold_nor_answers_are_told_before_the_last_is_answered(
    opened: CalibrationRound, reviewer: User, adjudicator: User, owner: User, as_user: AsUser
):
    first, second = opened.items.all()
    inside = [url(name, opened.pk) for name in ("calibration", "calibration-csv", "calibrate")]
    inside += [
        url(name, opened.pk, item.pk) for name in ("calibration-item", "calibrate-item") for item in (first, second)
    ]
    inside += [reverse("labeling:guide", args=["shop", item.revision_id]) for item in (first, second)]
    api = ["datasets/core/calibrations/", f"calibrations/{opened.pk}/", f"calibrations/{opened.pk}/items/"]
    inside += [url("calibrations"), *(f"/api/v1/projects/shop/{path}" for path in api)]
    for person in (reviewer, adjudicator):
        client = as_user(person)
        client.post(url("calibrate-submit", opened.pk, first.pk), NONE)
        for address in inside:
            shown = text(client.get(address, follow=True))
            for told in ("GOLD-77", SECRET, "alpha", "as the gold", owner.name + "</th>"):
                assert told not in shown, (address, told)
        Program(person).get(f"calibrations/{opened.pk}/results/", status=409)


def test_after_the_last_one_reviewers_see_the_others_unnamed(
    opened: CalibrationRound, reviewer: User, owner: User, as_user: AsUser
):
    client = as_user(reviewer)
    finish(client, opened, {"tool": "ambiguous"})
    shown = text(client.get(url("calibration", opened.pk)))
    assert "All who answered agree on 0 of 2 examples, 0.0 % (0.0 to 65.8)." in shown
    item = text(client.get(url("calibration-item", opened.pk, opened.items.all()[0].pk)))
    assert all(part in item for part in ("GOLD-77", SECRET, "Answer A", "Answer B", "yours"))
    lines = text(client.get(url("calibration-csv", opened.pk))).splitlines()
    assert len(lines) == 5
    assert SECRET in "".join(lines)
    for told in (shown.split("People")[0], item, "".join(lines)):
        assert f"{owner.name}," not in told
        assert f">{owner.name}<" not in told.replace("by " + owner.name, "")


def test_owners_see_who_said_what_and_how_far_everybody_is(
    opened: CalibrationRound, reviewer: User, owner: User, as_user: AsUser
):
    finish(as_user(reviewer), opened, {"tool": "ambiguous"})
    client = as_user(owner)
    assert "2 of 2" in text(client.get(url("calibrations")))
    item = text(client.get(url("calibration-item", opened.pk, opened.items.all()[0].pk)))
    assert f">{reviewer.name}</h2>" in item
    assert f",{reviewer.name}," in text(client.get(url("calibration-csv", opened.pk)))


def test_a_round_that_waits_is_told_where_one_labels(opened: CalibrationRound, reviewer: User, as_user: AsUser):
    client = as_user(reviewer)
    address = reverse("labeling:label", args=["shop"])
    assert url("calibrate", opened.pk) in text(client.get(address, follow=True))
    finish(client, opened, NONE)
    assert url("calibrate", opened.pk) not in text(client.get(address, follow=True))


def test_a_round_that_comes_first_is_shown_instead_of_an_example(solved: Dataset, reviewer: User, as_user: AsUser):
    made = calibration_open(dataset=solved, actor=None, name="Newcomers", comes_first=True)
    client = as_user(reviewer)
    address = reverse("labeling:label", args=["shop"])
    shown = text(client.get(address))
    assert "Calibration round first" in shown
    assert url("calibrate", made.pk) in shown
    Program(reviewer).send("POST", "claims/", {}, 409)
    finish(client, made, NONE)
    assert client.get(address).status_code == 302


def test_a_round_through_rest(solved: Dataset, adjudicator: User, reviewer: User, owner: User):
    chief, program = Program(adjudicator), Program(reviewer)
    program.send("POST", "datasets/core/calibrations/", {"name": "Round"}, 403)
    made = chief.send("POST", "datasets/core/calibrations/", {"name": "Round", "names": ["ex-51"]}, 201)
    assert (made["size"], made["answered"], made["closed_at"]) == (1, 0, None)
    (item,) = program.get(f"calibrations/{made['id']}/items/")
    assert item["external_id"] == "ex-51"
    path = f"calibration-items/{item['id']}/answer/"
    program.send("POST", path, {"expectation": {"kind": "calls"}}, 422)
    program.send("POST", path, {"expectation": NO_CALL}, 201)
    program.send("POST", path, {"expectation": NO_CALL}, 201)
    program.send("POST", path, {"answer": "ambiguous"}, 409)
    assert program.get(f"calibrations/{made['id']}/items/") == []
    results = program.get(f"calibrations/{made['id']}/results/")
    assert results["items"][0]["splits"][0]["count"] == 1
    assert results["people"] == [
        {"name": reviewer.name, "is_self": True, "right": 0, "answered": 1}
        | {"seconds": None, "interval": results["people"][0]["interval"]}
    ]
    assert results["agreements"][0]["interval"] is None
    chief.get(f"calibrations/{made['id']}/results/", 409)
    program.send("POST", f"calibrations/{made['id']}/close/", status=403)
    assert chief.send("POST", f"calibrations/{made['id']}/close/")["closed_at"]
    assert chief.get(f"calibrations/{made['id']}/results/")["raters"] == 1
    assert len(Program(owner).get(f"calibrations/{made['id']}/")["progress"]) == 3


def test_lists_take_as_many_queries_for_many_rounds_as_for_one(opened: CalibrationRound, owner: User, as_user: AsUser):
    client = as_user(owner)
    counts = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as found:
            assert client.get(url("calibrations")).status_code == 200
        counts.append(len(found))
        for number in range(10):
            calibration_open(dataset=opened.dataset, actor=None, name=f"Round {number}")
    assert counts[0] == counts[1] <= 14


def test_a_round_that_waits_stands_under_label_until_it_is_answered(
    opened: CalibrationRound, reviewer: User, as_user: AsUser
):
    client = as_user(reviewer)
    waiting, project, mine = (
        reverse(f"{name}", args=["shop"])
        for name in ("labeling:calibration-waiting", "workspace:project", "labeling:my-labels")
    )
    assert f'href="{waiting}">Calibration <span class="count">2</span>' in text(client.get(mine))
    assert waiting in text(client.get(project))
    assert client.get(waiting)["Location"] == url("calibration", opened.pk)
    finish(client, opened, NONE)
    assert waiting not in text(client.get(project)) + text(client.get(mine))
    page = text(client.get(waiting, follow=True))
    assert "No calibration round waits for you." in page
