"""A run as one HTML file: what it says, what it may not hold, how large it is."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from typing import Any

import pytest
from django.urls import reverse

from reports.report_file import cases as report_cases
from reports.report_file.cases import MOST_CASES, chosen_cases
from reports.report_file.document import report_file
from tests.reports.building import Builder, Case, cases_of
from tests.reports.strangers_texts import HOSTILE, write_texts
from toolevals.grading.values.verdicts import JudgedVerdict
from toolevals.runs.judging.services import rubric_use
from toolevals.runs.models import CalibratedCase, CaseGrade, Grading, Judge, JudgeCalibration

pytestmark = pytest.mark.django_db

CELLS = {("get_order", "get_order"): 7, ("get_order", "refund"): 2, ("(none)", "refund"): 1}
SECRET = "Ada Example, Elm Street 12"


@pytest.fixture
def grading(build: Builder) -> Grading:
    return build.grading(cases_of(CELLS))


def held(document: str) -> dict[str, Any]:
    """Return what the file's script reads."""
    (text,) = re.findall(r'<script type="application/json" id="held">(.*?)</script>', document, re.DOTALL)
    told = json.loads(text)
    texts = told["texts"]

    def said(value: Any) -> Any:
        return (
            [said(each) for each in value] if isinstance(value, list) else texts[value] if type(value) is int else value
        )

    parts = ("given", "done", "rows", "verdicts", "title", "expected", "actual", "name")
    told["cases"] = [{**case, **{part: said(case[part]) for part in parts}} for case in told["cases"]]
    return told  # type: ignore[no-any-return]


def test_it_tells_the_headline_the_matrix_and_every_case(grading):
    document = report_file(grading, host="https://evals.example")
    assert "This file holds all 10 cases of the run." in document
    cells = {
        tuple(map(int, place.split("-"))): int(count)
        for place, count in re.findall(r'href="#cell-(\d+-\d+)">(\d+)</a>', document)
    }
    told = held(document)
    assert {(told["rows"][row], told["columns"][column]): count for (row, column), count in cells.items()} == CELLS
    assert [case["outcome"] for case in told["cases"]] == ["failed"] * 3 + ["passed"] * 7
    assert {case["id"] for case in told["cases"]} == {str(pk) for pk in CaseGrade.objects.values_list("pk", flat=True)}
    case = told["cases"][0]
    assert ["selection", "failed", "selection failed"] in case["verdicts"]
    assert case["done"][0] == ["Agent calls refund", '{\n  "id": 1\n}']
    assert (
        told["base"]
        == f"https://evals.example{reverse('reports:run', args=[grading.run.project.slug, grading.run.number])}"
    )


def test_it_says_the_same_each_time_and_names_no_server_where_there_is_none(grading):
    assert report_file(grading) == report_file(grading)
    assert not re.search(r"https?://", report_file(grading))


def test_its_policy_lets_its_own_script_and_style_run_and_nothing_else(grading):
    document = report_file(grading)
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', document)
    policy = policy.replace("&#x27;", "'")
    for name in ("script", "style"):
        (source,) = re.findall(rf"<{name}>(.*?)</{name}>", document, re.DOTALL)
        assert f"{name}-src 'sha256-{b64encode(sha256(source.encode()).digest()).decode()}'" in policy
    assert policy.startswith("default-src 'none';")


def test_hostile_texts_stay_texts(grading):
    write_texts(grading, HOSTILE)
    document = report_file(grading)
    assert document.count("<script") == 2
    assert "<img" not in document
    assert "<!--" not in document
    assert "\u2028" not in document
    case = held(document)["cases"][0]
    assert ["Agent", HOSTILE] in case["done"]
    assert HOSTILE in [row[2].strip('"') for row in case["rows"] if row[2]]


def test_lone_surrogates_and_odd_signs_are_written(grading):
    assert json.loads(report_cases.written(["\ud800", "</script>", "\u2029"])) == ["\ud800", "</script>", "\u2029"]
    report_cases.written(["\ud800"]).encode()


def test_a_redacted_file_holds_no_text_of_people_or_agents(grading):
    write_texts(grading, SECRET)
    assert SECRET in report_file(grading)
    document = report_file(grading, redacted=True)
    assert not [word for word in ("Ada", "Elm", "Street", "4711") if word in document]
    case = held(document)["cases"][0]
    assert case["verdicts"][0][:2] == ["outcome", "failed"]
    assert "Redacted" in document


@pytest.mark.parametrize("length", [1, 3_000])
def test_a_thousand_cases_take_less_than_two_megabytes(build, length):
    grading = build.grading(
        [Case("get_order", "refund" if number % 3 else "get_order") for number in range(MOST_CASES)]
    )
    write_texts(grading, "é<" * length)
    document = report_file(grading, host="https://evals.example")
    assert len(held(document)["cases"]) == MOST_CASES
    assert len(document.encode()) < 2_000_000
    assert held(document)["cases"][0]["cut"] == (length > 1)


def test_of_more_cases_it_holds_the_wrong_ones_and_a_part_of_the_others(grading, monkeypatch):
    chosen = chosen_cases(grading, 5)
    assert (chosen.held_wrong, chosen.held_others) == (3, 2)
    assert "5 of the 10 cases of the run: all 3 failed or errored ones and 2 of 7 others" in chosen.words
    passed = list(
        CaseGrade.objects.filter(grading=grading, outcome="passed").order_by("pk").values_list("pk", flat=True)
    )
    assert chosen.ids[3:] == (passed[0], passed[3])
    few = chosen_cases(grading, 2)
    assert (few.held_wrong, few.held_others) == (2, 0)
    assert "2 of 3 failed" in few.words


def test_it_compares_with_a_baseline(build, get):
    before = build.grading([Case("get_order", "refund")] * 30 + [Case("refund", "refund")] * 10)
    after = build.again(before, [[Case("get_order", "get_order")]] * 30 + [[Case("refund", "get_order")]] * 10)
    answer = get("report-file", after, baseline=before.run.number)
    assert answer.status_code == 200
    text = answer.content.decode()
    assert f"Compared with run {before.run.number}" in text
    assert "Examples fixed: 30" in text
    assert "Examples broken: 10" in text
    assert re.search(r"<td>get_order</td><td>refund</td><td class=\"r\">30</td><td class=\"r\">0</td>", text)


@pytest.mark.parametrize("baseline", ["99999", "x"])
def test_a_baseline_that_cannot_be_compared_is_refused(grading, get, baseline):
    answer = get("report-file", grading, baseline=baseline)
    assert answer.status_code == 302
    assert f"There is no graded run {baseline}" in get("bundle", grading).content.decode()
    answer = get("api:report-file", grading, baseline=baseline)
    assert answer.status_code == 409
    assert "There is no graded run" in answer.json()["detail"]


def test_page_and_rest_send_the_same_file(grading, get):
    page, rest = get("report-file", grading), get("api:report-file", grading)
    assert page.content == rest.content
    assert page["Content-Disposition"].startswith("attachment;")
    assert "Redacted" in get("api:report-file", grading, redacted="true").content.decode()
    assert (
        reverse("reports:report-file", args=[grading.run.project.slug, grading.run.number])
        in get("bundle", grading).content.decode()
    )


def test_what_a_judge_says_is_left_out_while_people_rate_the_case(grading, project):
    rubric = rubric_use(project=project, actor=None, name="argument_semantics")
    judge = Judge.objects.create(
        project=project, name="Tone", rubric=rubric, model="judge-2", is_pinned=True, options={}
    )
    said = JudgedVerdict("argument_semantics", 1, "failed", 0.0, "Too curt").to_document()
    for case in grading.cases.all():
        CaseGrade.objects.filter(pk=case.pk).update(detail=case.detail | {"judged": {"argument_semantics": said}})
    judged = ["judge: argument_semantics", "failed", "Too curt"]
    assert all(judged in case["verdicts"] for case in held(report_file(grading))["cases"])
    rated = grading.cases.first()
    made = JudgeCalibration.objects.create(judge=judge, grading=grading, raters=1, seed="s", drawn_from={})
    CalibratedCase.objects.create(calibration=made, position=0, case=rated, is_held_out=True, passed=True)
    cases = held(report_file(grading))["cases"]
    assert [case["id"] for case in cases if judged not in case["verdicts"]] == [str(rated.pk)]
