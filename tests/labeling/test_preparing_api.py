"""Coverage, quotas, lint and drafts of edge cases through the REST interface."""

from __future__ import annotations

from typing import Any

import pytest

from labeling.imports.services import examples_import
from labeling.models import Dataset, Example
from tests.labeling.rows import call, row
from tests.labeling.test_api import Program
from toolevals.workspace.models import User

pytestmark = pytest.mark.django_db
PATH = "datasets/support"


@pytest.fixture
def chief(adjudicator: User, dataset: Dataset) -> Program:
    """An adjudicator's program; three calls with gold, one broken, and one example to label."""
    rows = [row(f"e-{number}", expectation=call(order=f"A-{number}")) for number in range(2)]
    examples_import(dataset=dataset, actor=None, rows=[*rows, row("bad", expectation=call(order=5)), row("open")])
    return Program(adjudicator)


def cells(document: Any, tool: str) -> dict[str, Any]:
    (found,) = (each for each in document["tools"] if each["tool"] == tool)
    return {cell["covers"]: (cell["have"], cell["wanted"], cell["lacking"]) for cell in found["cells"]}


def test_coverage_follows_the_quotas(chief: Program) -> None:
    document = chief.get(f"{PATH}/coverage/")
    assert (document["size"], document["gold"], document["waiting"], document["counted_at"]) == (4, 3, 1, None)
    assert cells(document, "get_order")["expected"] == (3, 30, 27)
    assert document["next"][0]["lacking"] == 30
    quotas = chief.send("PUT", f"{PATH}/quotas/", {"per_tool": 2, "tools": {"cancel_order": 0}})
    assert (quotas["per_tool"], quotas["bucket"]["selection"]) == (2, 0.4)
    assert chief.get(f"{PATH}/quotas/") == quotas
    assert cells(chief.get(f"{PATH}/coverage/"), "get_order")["expected"] == (3, 2, 0)


def test_quotas_that_are_none_are_refused_by_pointer(chief: Program, reviewer: User) -> None:
    refused = chief.send("PUT", f"{PATH}/quotas/", {"difficulty": {"easy": 2}}, 422)
    assert refused["problems"][0]["pointer"] == "/difficulty/easy"
    Program(reviewer).send("PUT", f"{PATH}/quotas/", {}, 403)


def test_a_finding_is_let_be_and_shown_again(chief: Program) -> None:
    chief.get(f"{PATH}/lint/", 404)
    report = chief.send("POST", f"{PATH}/lint/", status=201)
    assert (report["examples"], report["gold"], report["passed_idle"]) == (4, 3, 0)
    key = next(finding["key"] for finding in report["findings"] if finding["rule"] == "breaks_schema")
    chief.send("PUT", f"{PATH}/lint/findings/{key}/", {"reason": "On purpose."}, 204)
    assert chief.get(f"{PATH}/lint/")["ignored"][key]["reason"] == "On purpose."
    chief.send("DELETE", f"{PATH}/lint/findings/{key}/", status=204)
    chief.send("DELETE", f"{PATH}/lint/findings/{key}/", status=409)
    chief.send("PUT", f"{PATH}/lint/findings/{key}/", {}, 422)


def test_drafts_are_made_accepted_and_dropped(chief: Program, dataset: Dataset) -> None:
    assert chief.send("POST", f"{PATH}/proposals/", {"kinds": ["null_optional"]}, 201) == {"made": 1}
    (draft,) = chief.get(f"{PATH}/proposals/?kind=null_optional")["results"]
    assert draft["parameter"] == "/verbose"
    made = chief.send("POST", f"proposals/{draft['id']}/accept/", {"words": "Where is it?"}, 201)
    assert made["status"] == "open"
    assert Example.objects.get(pk=made["id"]).edge_case == "null_optional"
    chief.send("POST", f"proposals/{draft['id']}/accept/", {}, 409)
    chief.send("POST", f"{PATH}/proposals/", {"tools": ["get_order"]}, 201)
    for left in chief.get(f"{PATH}/proposals/")["results"]:
        chief.send("POST", f"proposals/{left['id']}/drop/", {}, 204)
    assert chief.get(f"{PATH}/proposals/")["results"] == []
