"""Test how cases failed and what replies claim.

Counts that open their cases, alike on the page, in the file and by REST.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.urls import reverse

from reports.cases.claims import read_claims
from reports.cases.queries import verdict_counts
from reports.filters.case_filters import CaseFilter, Filters, read_case_filter
from reports.rates import rate
from reports.run.queries import grading_findings, warnings_of
from tests.reports.reading import csv_rows, text
from tests.runs.building import HISTORY, REFUND, STATUS, call, uploaded_run, version_of
from toolevals.grading.values import Message, Transcript
from toolevals.runs.models import CaseGrade, Grading

RESULT = {"order_id": "ORD-1", "status": "shipped", "total": 129.5, "currency": "USD", "carrier": "UPS"}


def talk(name: str, answer: str, tool: str = STATUS) -> dict[str, Any]:
    made = {"id": "c1", "name": tool, "arguments": {"order_id": "ORD-1"}}
    return {
        "id": name,
        "messages": [
            {"role": "assistant", "content": None, "calls": [made]},
            {"role": "tool", "call_id": "c1", "content": json.dumps(RESULT)},
            {"role": "assistant", "content": answer},
        ],
    }


@pytest.fixture
def grading(project, run_jobs) -> Grading:
    """A right call with a wrong claim, the wrong order, another tool and a call where none was due."""
    made = [
        talk("status", "UPS has it. The total is $192.50."),
        call("history", HISTORY, order_id="ORD-2"),
        call("refund", "invented"),
        call("hello", REFUND, order_id="ORD-1"),
    ]
    run = uploaded_run(project, version_of(project), made)
    run_jobs()
    return Grading.objects.select_related("run__project").get(run=run)


def test_every_count_of_the_file_opens_to_as_many_cases(grading, get):
    rows = csv_rows(get("findings-csv", grading))
    assert {row["family"] for row in rows} >= {"failed_by", "wrong_tool", "arguments", "result_use", "fields"}
    for row in rows:
        found = get("cases", grading, found=f"{row['family']}.{row['kind']}", tool=row["tool"]).context
        assert found["count"] == int(row["cases"]) == len(found["cases"])
    failed = {(row["kind"], row["tool"]) for row in rows if row["family"] == "failed_by" and row["tool"]}
    assert failed == {("wrong_target", HISTORY), ("another_tool", REFUND), ("too_much", REFUND)}


def test_a_family_counts_each_case_once_and_its_total_is_the_sum_of_the_wrong_tool_modes(grading):
    found = grading_findings(grading, verdict_counts(grading))
    failed = found["failed_by"]
    assert failed.cases == 3 == CaseGrade.objects.filter(grading=grading, outcome="failed").count()
    modes = found["wrong_tool"]
    kinds = {"over_tooling": 1, "wrong_argument_shape": 0, "hallucinated_tool": 1}
    assert {row.kind: row.cases for row in modes.kinds} == kinds
    assert modes.cases == 2
    assert modes.total is not None
    assert modes.total.rate == rate(2, 4)
    assert [(each.tool, each.used + each.unused) for each in found.fields] == [("", 5), (STATUS, 5)]


def test_the_pages_have_the_tables_and_say_that_prose_decides_nothing(grading, get):
    page = text(get("arguments", grading))
    for words in ("Failure types", "Wrong target", "Hallucinated tool", "Total"):
        assert words in page
    assert f"found=failed_by.wrong_target&amp;tool={HISTORY}" in page
    prose = text(get("recovery", grading))
    assert "Returned fields" in prose
    assert "It decides no case unless its example says so" in prose


def test_a_case_that_passed_with_a_finding_is_a_warning(grading, get):
    passed = CaseGrade.objects.get(grading=grading, outcome="passed")
    assert passed.result_use == "failed"
    assert warnings_of(grading, verdict_counts(grading)) == {"result_use": 1}
    listed = get("cases", grading, warned="result_use").context
    assert ([case.id for case in listed["cases"]], listed["count"]) == ([passed.pk], 1)
    assert get("cases", grading, warned="result_use", column="outcome", status="failed").context["count"] == 0
    page = text(get("case", grading, passed.pk))
    assert "warning: use of results" in page
    assert "does not decide this case" in page


def test_the_case_page_marks_the_words_of_the_answer_with_the_field_that_they_rest_on(grading, get):
    passed = CaseGrade.objects.get(grading=grading, outcome="passed")
    page = get("case", grading, passed.pk)
    claims = page.context["reading"].claims
    (wrong,) = [claim for claim in claims.claims if claim.status == "wrong"]
    assert wrong.text == "$192.50"
    assert "".join(piece.text for piece in claims.replies[0]) == "UPS has it. The total is $192.50."
    assert f'<a class="claim claim-wrong" href="#claim-{wrong.number}">$192.50' in text(page)


def test_the_file_and_the_list_refuse_what_is_no_kind(grading, get):
    assert read_case_filter({"found": "failed_by.nonsense", "tool": "x"}) == CaseFilter(Filters())
    assert read_case_filter({"warned": "selection"}) == CaseFilter(Filters())
    assert get("cases", grading, found="nothing").context["count"] == 4


def test_the_interface_says_the_same(grading, browser_of):
    address = reverse("reports-api:findings", args=[grading.run.project.slug, grading.run.number])
    rows = browser_of.get(address).json()
    assert {"family": "failed_by", "kind": "", "tool": "", "cases": 3} in [
        {name: row[name] for name in ("family", "kind", "tool", "cases")} for row in rows
    ]


def test_a_derived_claim_names_the_fields_that_it_takes():
    said = Transcript((Message("assistant", "5"),))
    claim = {"message": 0, "start": 0, "end": 1, "kind": "number", "text": "5"}
    source = {"source": "derived", "rule": "sum", "message": 0, "pointer": "/0/kg"}
    fields = [f"/{place}/kg" for place in range(6)]
    found = read_claims({"claims": [claim], "attributions": [{**source, "fields": fields}]}, said)
    assert found.claims[0].rests_on.startswith("sum of ")
    assert found.claims[0].rests_on.endswith(" and 2 more")


def test_claims_whose_place_does_not_fit_are_listed_and_not_marked():
    said = Transcript((Message("assistant", "It costs 5."),))
    claim = {"message": 0, "start": 0, "end": 1, "kind": "number", "text": "5"}
    found = read_claims({"claims": [claim, {**claim, "start": 9, "end": 10}, {**claim, "message": 7}]}, said)
    assert [each.text for each in found.claims] == ["5", "5", "5"]
    assert [piece.number for reply in found.replies for piece in reply] == [0, 2, 0]
    assert not read_claims({}, said)
    assert not read_claims({"claims": [claim]}, None)


def test_hostile_words_of_a_reply_stay_words(project, run_jobs, get):
    said = "<script>alert(1)</script> The total is $192.50."
    run = uploaded_run(project, version_of(project), [talk("status", said)])
    run_jobs()
    grading = Grading.objects.select_related("run__project").get(run=run)
    case = CaseGrade.objects.get(grading=grading, transcript__entry__revision__example__external_id="status")
    page = get("case", grading, case.pk).content.decode()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; The total is " in page
