"""The REST interface from a new dataset to a decision, as programs use it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from labeling.adjudicate.resolution import settle_due
from labeling.models import Label, LabelSlot
from tests.labeling.rows import NO_CALL, SHOP_TOOLS, call, document
from tests.labeling.windows import later
from toolevals.workspace.models import Job, User
from toolevals.workspace.projects.services import project_create

API = "/api/v1/projects/shop/"


class Program:
    """A client of the interface that is signed in as somebody."""

    def __init__(self, user: User) -> None:
        self.client = Client()
        self.client.force_login(user)

    def send(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        """Return the answer's JSON, or None, after checking its status."""
        response = self.client.generic(
            method, API + path, "" if body is None else json.dumps(body), content_type="application/json"
        )
        assert response.status_code == status, response.content.decode()
        return response.json() if response.content else None

    def get(self, path: str, status: int = 200) -> Any:
        return self.send("GET", path, status=status)

    def lines(self, path: str) -> bytes:
        """Return a download."""
        response = self.client.get(API + path)
        assert response.status_code == 200
        return b"".join(response)


@pytest.fixture
def chief(adjudicator) -> Program:
    """An adjudicator's program."""
    return Program(adjudicator)


@pytest.fixture
def shop(chief) -> None:
    """A registry and an empty dataset, made through the interface."""
    chief.send("POST", "registries/", {"slug": "shop", "name": "Shop"}, 201)
    chief.send("POST", "registries/shop/versions/", {"document": SHOP_TOOLS}, 201)
    chief.send("POST", "datasets/", {"slug": "support", "name": "Support", "default_tools": "shop@1"}, 201)


def load(program: Program, rows: list[dict[str, Any]], key: str = "", dataset: str = "support") -> Any:
    text = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    response = program.client.post(
        f"{API}datasets/{dataset}/imports/",
        {"file": SimpleUploadedFile("rows.jsonl", text)},
        headers={"Idempotency-Key": key} if key else {},
    )
    assert response.status_code == 202, response.content.decode()
    return response.json()


def test_from_import_to_adjudication(chief, shop, reviewer, owner, run_jobs):
    assert load(chief, [document("a"), document("b", expectation=call(), strata={"bucket": "selection"})])["total"] > 0
    run_jobs()
    first, second = Program(reviewer), Program(owner)
    for program, expectation, seconds in ((first, call(), 38), (second, NO_CALL, 112)):
        claim = program.send("POST", "claims/", {"dataset": "support"})
        assert (claim["external_id"], [tool["name"] for tool in claim["tools"]]) == ("a", ["get_order", "cancel_order"])
        assert program.get("claims/")["results"][0]["id"] == claim["id"]
        program.send("PUT", f"claims/{claim['id']}/draft/", {"document": {"typed": "half"}})
        assert program.get(f"claims/{claim['id']}/draft/")["document"] == {"typed": "half"}
        body = {"expectation": expectation, "rationale": "because", "seconds": seconds}
        label = program.send("POST", f"claims/{claim['id']}/label/", body, 201)
        assert program.send("POST", f"claims/{claim['id']}/label/", body, 201) == label
        program.send("POST", "claims/", {}, 204)
    settle_due(later())
    (waiting,) = chief.get("adjudications/")["results"]
    comparison = chief.get(f"adjudications/{waiting['id']}/")
    assert {side["expectation"]["kind"] for side in comparison["sides"]} == {"calls", "no_call"}
    assert {*comparison["sides"][0]} == {"answer", "expectation", "first", "flagged", "rationale"}
    decision = {"expectation": NO_CALL, "rationale": "Only a greeting"}
    gold = chief.send("POST", f"adjudications/{waiting['id']}/", decision, 201)
    example = first.get(f"examples/{waiting['example']}/")
    assert (example["status"], example["gold"]["id"], example["gold_source"]) == ("resolved", gold["id"], "adjudicated")
    assert [each["in_force"] for each in first.get(f"examples/{example['id']}/golds/")["results"]] == [True]
    assert {label["reviewer"] for label in first.get("labels/")["results"]} == {reviewer.name, owner.name}


def test_errors_are_problems_with_pointers(chief, shop, reviewer, run_jobs):
    load(chief, [document("a")])
    run_jobs()
    program = Program(reviewer)
    claim = program.send("POST", "claims/", {})
    bad = program.send("POST", f"claims/{claim['id']}/label/", {"expectation": call(tool="fly")}, 422)
    assert bad["problems"][0]["pointer"] == "/alternatives/0/ordered/0/tool"
    assert program.send("POST", f"claims/{claim['id']}/label/", {}, 422)["problems"][0]["pointer"] == "/expectation"
    conflict = chief.send(
        "POST", f"adjudications/{claim['revision']}/", {"expectation": NO_CALL, "rationale": "x"}, 409
    )
    assert "Nothing to decide" in conflict["detail"]
    taken = chief.send("POST", "datasets/", {"slug": "support", "name": "Again"}, 422)
    assert taken["problems"]
    assert chief.send("POST", "datasets/support/versions/", {}, 409)["status"] == 409
    unknown = {"slug": "other", "name": "Other", "default_tools": "shop@9"}
    assert chief.send("POST", "datasets/", unknown, 422)["problems"][0]["pointer"] == "/default_tools"


def test_labels_are_taken_back_skips_undone_and_claims_given_back(chief, shop, reviewer, run_jobs):
    load(chief, [document("a")])
    run_jobs()
    program = Program(reviewer)
    claim = program.send("POST", "claims/", {})
    label = program.send("POST", f"claims/{claim['id']}/label/", {"expectation": NO_CALL}, 201)
    assert program.send("DELETE", f"labels/{label['id']}/")["id"] == claim["id"]
    skip = program.send("POST", f"claims/{claim['id']}/skip/", {"reason": "unclear"}, 201)
    program.send("POST", "claims/", {}, 204)
    again = program.send("DELETE", f"skips/{skip['id']}/")
    assert program.send("POST", f"claims/{again['id']}/")["lease_until"] >= again["lease_until"]
    program.send("DELETE", f"claims/{again['id']}/", status=204)
    program.get(f"claims/{again['id']}/", 404)
    assert LabelSlot.objects.filter(state="open").count() == 2
    assert Label.objects.get().withdrawn_at is not None


def test_gold_that_breaks_a_schema_is_frozen_for_a_reason_and_a_rationale_says_more_than_it_begins(
    chief, shop, reviewer, run_jobs
):
    load(chief, [document("a"), document("b", expectation=call(order=5))])
    run_jobs()
    refused = chief.send("POST", "datasets/support/versions/", {"note": "first"}, 409)
    assert "b: /alternatives/0/ordered/0/arguments/order_id/exact" in refused["detail"]
    assert chief.get("datasets/support/versions/")["results"] == []
    body = {"note": "first", "misfits_reason": "It tests refusals."}
    version = chief.send("POST", "datasets/support/versions/", body, 201)
    assert version["note"] == "first (1 label breaks its tools' schemas: It tests refusals.)"
    program = Program(reviewer)
    claim = program.send("POST", "claims/", {})
    said = {"expectation": NO_CALL, "rationale": "The guideline says so:"}
    bad = program.send("POST", f"claims/{claim['id']}/label/", said, 422)
    assert bad["problems"][0]["pointer"] == "/rationale"


def test_upload_sent_twice_is_imported_once(chief, shop, run_jobs):
    assert load(chief, [document("a")], key="k1")["id"] == load(chief, [document("a")], key="k1")["id"]
    assert Job.objects.count() == 1


def test_versions_and_exports(chief, shop, run_jobs):
    rows = [document("a"), document("b", expectation=call(), rationale="r", strata={"bucket": "selection"})]
    load(chief, rows)
    run_jobs()
    version = chief.send("POST", "datasets/support/versions/", {"note": "first"}, 201)
    assert (version["name"], version["size"]) == ("support@1", 1)
    assert chief.send("POST", "datasets/support/versions/", {}, 201)["id"] == version["id"]
    assert [each["number"] for each in chief.get("datasets/support/versions/")["results"]] == [1]
    assert chief.get("datasets/support/versions/1/")["note"] == "first"
    everything = [json.loads(line) for line in chief.lines("datasets/support/export/").splitlines()]
    assert [line["id"] for line in everything] == ["a", "b"]
    assert everything[1]["gold_source"] == "imported"
    frozen = chief.lines("datasets/support/versions/1/export/")
    assert [json.loads(line) for line in frozen.splitlines()] == everything[1:]


def test_disputes(chief, shop, reviewer, run_jobs):
    load(chief, [document("a", expectation=call())])
    run_jobs()
    program = Program(reviewer)
    (example,) = program.get("datasets/support/examples/")["results"]
    opened = program.send("POST", f"examples/{example['id']}/disputes/", {"reason": "A greeting"}, 201)
    assert program.get(f"examples/{example['id']}/disputes/")["results"] == [opened]
    program.send("POST", f"disputes/{opened['id']}/settle/", {}, 403)
    assert chief.send("POST", f"disputes/{opened['id']}/settle/", {})["settled_at"] is not None
    assert chief.get("adjudications/")["results"] == []


def test_examples_are_listed_in_pages_with_filters_and_few_queries(
    chief, shop, run_jobs, django_assert_max_num_queries
):
    rows = [document(f"ex-{n}", strata={"bucket": "selection" if n % 2 else "no_call"}) for n in range(30)]
    load(chief, [*rows, document("gold", expectation=NO_CALL)])
    run_jobs()
    path = "datasets/support/examples/"
    with django_assert_max_num_queries(8):
        page = chief.get(f"{path}?limit=10")
    assert [each["external_id"] for each in page["results"]][:2] == ["gold", "ex-29"]
    following = chief.client.get(page["next"]).json()["results"]
    assert following[0]["external_id"] == "ex-20"
    assert len(chief.get(f"{path}?bucket=selection")["results"]) == 15
    assert [each["external_id"] for each in chief.get(f"{path}?status=resolved")["results"]] == ["gold"]
    assert [each["external_id"] for each in chief.get(f"{path}?q=x-1&bucket=no_call&limit=3")["results"]] == [
        "ex-18", "ex-16", "ex-14",
    ]  # fmt: skip


def test_nothing_of_another_project_is_found(chief, shop, outsider, members, run_jobs):
    project_create(actor=outsider, slug="other", name="Other")
    load(chief, [document("a", expectation=call())])
    run_jobs()
    (example,) = chief.get("datasets/support/examples/")["results"]
    client = Client()
    client.force_login(outsider)
    for path in (f"examples/{example['id']}/", "datasets/support/", "registries/shop/", "datasets/support/export/"):
        assert client.get(f"/api/v1/projects/other/{path}").status_code == 404


def test_agreement_settles_when_the_time_has_passed(chief, shop, reviewer, owner, run_jobs):
    load(chief, [document("a")])
    run_jobs()
    for user in (reviewer, owner):
        program = Program(user)
        claim = program.send("POST", "claims/", {})
        program.send("POST", f"claims/{claim['id']}/label/", {"expectation": NO_CALL}, 201)
    assert settle_due(later()) == 1
    (example,) = chief.get("datasets/support/examples/?status=resolved")["results"]
    assert example["gold_source"] == "agreed"
    assert chief.get("datasets/support/")["with_gold"] == 1
