"""One case: what was said and called, what was expected, and how its gold came about."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from labeling.models import Dispute, Gold, Label, LabelSlot, Revision
from reports.cases.analysis import compared_calls, shown_calls
from tests.fixtures.people import person
from tests.reports.building import Case, cases_of
from tests.reports.reading import csv_rows, table, text
from toolevals.grading.engine.grading import compile_case
from toolevals.grading.engine.grading import grade as graded
from toolevals.grading.values import CallExpectation, Expectation, Message, ToolCall, ToolSpec, Trajectory, Transcript
from toolevals.grading.values.matchers import Exact
from toolevals.grading.values.verdicts import NONE, ArgumentDifference, CaseGrade, Pair, Verdict
from toolevals.registry.tool_lists import tool_list_of
from toolevals.runs import models
from toolevals.runs.runs.serializers import CaseDetailSerializer

pytestmark = pytest.mark.django_db


@pytest.fixture
def grading(build):
    return build.grading(cases_of({("a", "b"): 3, ("a", "a"): 1, ("a", NONE): 1}))


def a_case(grading: models.Grading, **wanted: Any) -> models.CaseGrade:
    return models.CaseGrade.objects.filter(grading=grading, **wanted).order_by("pk")[0]


def test_it_shows_both_sides_and_every_verdict_with_its_reason(get, grading):
    case = a_case(grading, actual="b")
    page = get("case", grading, case.pk, expected="a", actual="b")
    html = text(page)
    assert "Called b where a was expected" in html
    assert "Where is order A-0?" in html
    assert [row[:3] for row in table(page, "diff-table")[1:]] == [["tool", "a", "b"], ["id", "1", "1"]]
    for name in ("outcome", "selection", "arguments", "schema", "shape", "equivalence"):
        assert f"{name} {getattr(case, name)}" in html
    assert "imported with the dataset" in html


def test_a_broken_schema_is_explained_on_the_page_and_by_rest(get, grading):
    case = a_case(grading, actual="b")
    revision = case.transcript.entry.revision
    schema = {"properties": {"id": {"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 10}]}}}
    tools = tool_list_of(project=grading.run.experiment.project, specs=[ToolSpec("b", "", schema)])
    Revision.objects.filter(pk=revision.pk).update(tools=tools)
    problem = {"call": 0, "pointer": "/id", "keyword": "anyOf", "message": "fits none"}
    models.CaseGrade.objects.filter(pk=case.pk).update(detail={**case.detail, "schema_problems": [problem]})
    html = text(get("case", grading, case.pk))
    assert 'Nearest rule of the schema: <span class="mono">/properties/id/anyOf/1/minimum</span>' in html
    assert "1 is less than the minimum of 10.</p>" in html
    assert "Alternative 1: 1 is not of type" in html
    kept = models.CaseGrade.objects.get(pk=case.pk)
    assert CaseDetailSerializer(kept).data["schema_reasons"] == [
        {
            "call": 0,
            "pointer": "/id",
            "rule": "/properties/id/anyOf/1/minimum",
            "message": "1 is less than the minimum of 10",
            "alternatives": ["1 is not of type 'string'", "1 is less than the minimum of 10"],
        }
    ]


def test_previous_and_next_stay_in_the_list_that_it_was_opened_from(get, grading):
    cases = list(models.CaseGrade.objects.filter(grading=grading, actual="b").order_by("pk"))
    page = get("case", grading, cases[1].pk, expected="a", actual="b", order="name", measure="row")
    assert (page.context["previous"], page.context["next"]) == (cases[0].pk, cases[2].pk)
    assert "2 of 3" in text(page)
    assert page.context["back"].endswith("/matrix/?expected=a&actual=b&order=name&measure=row")
    alone = get("case", grading, cases[1].pk)
    assert alone.context["count"] == 5
    assert "/cases/" in alone.context["back"]


def test_the_same_example_in_other_runs_is_one_click_away(get, build):
    first = build.grading(cases_of({("a", "b"): 1}))
    again = build.run(first.dataset_version)
    grading = models.Grading.objects.create(run=again, number=1, dataset_version=first.dataset_version, graders=[])
    entry = first.dataset_version.entries.get()
    transcript = models.Transcript.objects.create(run=again, entry=entry, document=None)
    case = Case("a", "a")
    models.CaseGrade.objects.create(
        grading=grading, transcript=transcript, detail=case.grade().to_document(), **case.verdicts
    )
    models.Run.objects.filter(pk=again.pk).update(grading=grading)
    strip = get("case", first, a_case(first).pk).context["reading"].other_runs
    assert [(each.number, each.status) for each in strip] == [(first.run.number, "failed"), (again.number, "passed")]


@pytest.mark.parametrize(
    ("case", "said"),
    [
        (Case("a", "a", status="unscored"), "No prediction for this case, so it is unscored."),
        (Case("a", "a", status="errored"), "The agent could not be reached"),
        (Case("a", NONE), "Did not call a, which was expected"),
        (Case(NONE, "a"), "Called a where no call was expected"),
        (Case(NONE, NONE), "Correctly made no call"),
        (Case("a", "a"), "Right tool, right arguments"),
        (Case("a", "a", wrong_value=True), "Right tool, wrong value"),
    ],
)
def test_each_kind_of_case_says_what_it_is(get, build, case, said):
    grading = build.grading([case])
    assert said in text(get("case", grading, a_case(grading).pk))


def test_what_is_asked_and_the_dispute_stand_above_what_others_say(get, grading):
    case = a_case(grading, actual="b")
    revision = case.transcript.entry.revision
    turns = [{"role": role, "content": f"turn {place}"} for place in range(6) for role in ("user", "assistant")]
    asked = {"context": {"today": "10 March"}, "messages": [*turns, {"role": "user", "content": "the last"}]}
    Revision.objects.filter(pk=revision.pk).update(input=asked)
    page = get("case", grading, case.pk)
    reading, html = page.context["reading"], text(page)
    assert [block.is_open for block in reading.context[0].blocks] == [True]
    assert (len(reading.earlier), len(reading.near)) == (10, 3)
    assert reading.near[-1].is_now
    assert "10 earlier turns" in html
    assert html.index('id="v-h"') < html.index('id="other-tools"')
    said = page.context["said"]
    assert said.alike
    assert all(not each.verdict.reason for _, alike in said.alike for each in alike)
    for status, alike in said.alike:
        assert f'{len(alike)} more: <span class="verdict verdict-{status}">' in html


def test_a_regraded_case_shows_the_gold_that_it_was_graded_by(get, build):
    from labeling.models import DatasetVersion, VersionEntry

    grading = build.grading(cases_of({("a", "b"): 1}))
    old = grading.dataset_version.entries.get()
    gold = Gold.objects.create(
        revision=old.revision, expectation=Expectation.single("b", {}).to_document(), source="adjudicated"
    )
    newer = DatasetVersion.objects.create(dataset=grading.dataset_version.dataset, number=2, size=1)
    VersionEntry.objects.create(version=newer, position=0, revision=old.revision, gold=gold)
    models.Grading.objects.filter(pk=grading.pk).update(dataset_version=newer)
    assert get("case", grading, a_case(grading).pk).context["reading"].gold == gold
    (line,) = csv_rows(get("cases-csv", grading))
    assert [call["tool"] for call in json.loads(line["expected_calls"])] == ["b"]


def test_a_try_that_was_made_again_after_a_passing_failure_is_marked_and_not_compared():
    def calls(order: str, call_id: str) -> Message:
        return Message("assistant", calls=(ToolCall("track", {"order": order}, call_id),))

    did = Transcript(
        (
            calls("A-1", "1"),
            Message("tool", "Error: 503 Service Unavailable", call_id="1"),
            calls("A-1", "2"),
            Message("tool", "sent", call_id="2"),
            calls("A-2", "3"),
            Message("tool", "sent", call_id="3"),
        )
    )
    wanted = [CallExpectation("track", {"order": Exact(order)}) for order in ("A-1", "A-2")]
    expectation = Expectation("calls", alternatives=(Trajectory(tuple(wanted)),))
    found = graded(compile_case(expectation, ()), did)
    assert [each.status for each in shown_calls(found, did)] == ["repeated", "passed", "passed"]
    compared = compared_calls(found, expectation, did)
    assert [[row.actual for row in each.agreed] for each in compared] == [['"A-1"'], ['"A-2"']]


def test_a_forgiven_call_is_marked_with_the_reason_and_not_compared(get, grading):
    tools = (ToolSpec("get_order"), ToolSpec("get_order_from_archive"))
    calls = [Message("assistant", calls=(ToolCall(tool.name, {"id": "A-1"}, tool.name),)) for tool in tools]
    failed = Message("tool", "Error: 503 Service Unavailable", call_id="get_order")
    sent = Message("tool", "sent", call_id="get_order_from_archive")
    did = Transcript((Message("user", "Where is A-1?"), calls[0], failed, calls[1], sent))
    expectation = Expectation.single("get_order", {"id": "A-1"})
    kept = CaseGrade.from_document(graded(compile_case(expectation, tools), did).to_document())
    assert [each.status for each in shown_calls(kept, did, expectation)] == ["passed", "forgiven"]
    assert [[row.actual for row in each.agreed] for each in compared_calls(kept, expectation, did)] == [['"A-1"']]
    case = a_case(grading)
    models.CaseGrade.objects.filter(pk=case.pk).update(detail=kept.to_document())
    models.Transcript.objects.filter(pk=case.transcript_id).update(document=did.to_document())
    page = get("case", grading, case.pk)
    html = text(page)
    assert html.count("after a failure: doesn’t count") == 1
    reason = "get_order_from_archive is not an excess call: get_order was called as expected and failed"
    assert reason in html
    assert reason in next(
        row["reasons"] for row in csv_rows(get("cases-csv", grading)) if row["case_id"] == str(case.pk)
    )


def labelled(grading: models.Grading) -> Revision:
    """Put one label on the first case's revision, before it is resolved."""
    revision = a_case(grading).transcript.entry.revision
    slot = LabelSlot.objects.create(revision=revision, number=1, dataset=revision.example.dataset)
    document = Expectation.single("a", {}).to_document()
    author = person("Author")
    Label.objects.create(slot=slot, revision=revision, reviewer=author, expectation=document, rationale="seen early")
    type(revision).objects.filter(pk=revision.pk).update(resolution="open")
    return revision


def test_labels_are_shown_only_as_far_as_blindness_allows(get, build):
    grading = build.grading(cases_of({("a", "b"): 1}))
    revision = labelled(grading)
    page = get("case", grading, a_case(grading).pk)
    assert "seen early" not in text(page)
    type(revision).objects.filter(pk=revision.pk).update(resolution="resolved")
    page = get("case", grading, a_case(grading).pk)
    assert "seen early" in text(page)
    assert "Author" not in text(page)


def dispute(client: Client, grading: models.Grading, reason: str) -> Any:
    case = a_case(grading)
    address = reverse("reports:dispute", args=[grading.run.project.slug, grading.run.number, case.pk])
    return client.post(f"{address}?expected=a&actual=b", {"reason": reason})


def test_a_reviewer_disputes_the_gold_and_comes_back(client, reviewer, grading):
    client.force_login(reviewer)
    response = dispute(client, grading, "It should be b.")
    assert response.status_code == 302
    assert response["Location"].endswith("?expected=a&actual=b")
    found = Dispute.objects.get()
    assert (found.actor, found.reason) == (reviewer, "It should be b.")
    assert "Dispute opened." in text(client.get(response["Location"]))


def test_a_dispute_needs_a_reason(client, reviewer, grading):
    client.force_login(reviewer)
    response = dispute(client, grading, "  ")
    assert "Not sent" in text(client.get(response["Location"]))
    assert not Dispute.objects.exists()


def test_a_viewer_sees_no_form_and_may_not_dispute(client, viewer, grading):
    client.force_login(viewer)
    assert dispute(client, grading, "why").status_code == 403
    case = a_case(grading)
    address = reverse("reports:case", args=[grading.run.project.slug, grading.run.number, case.pk])
    assert "Dispute the gold</button>" not in text(client.get(address))


def test_a_case_of_another_run_is_not_there(get, build):
    one, other = build.grading([Case("a", "a")]), build.grading([Case("a", "a")])
    assert get("case", one, a_case(other).pk).status_code == 404


def test_hostile_text_does_no_harm(get, build):
    grading = build.grading([Case("<script>x</script>", "<img src=x>")])
    html = get("case", grading, a_case(grading).pk).content.decode()
    assert "<script>x" not in html
    assert "<img" not in html


def test_its_cost_is_bounded(get, grading, django_assert_max_num_queries):
    case = a_case(grading, actual="b")
    with django_assert_max_num_queries(22):
        get("case", grading, case.pk, expected="a", actual="b")


def test_what_no_one_sees_of_two_texts_is_marked():
    differences = (
        ArgumentDifference("/a", {"exact": "Caf\u00e9"}, "Cafe\u0301", "same"),
        ArgumentDifference("/b", {"exact": "New York"}, "New\u00a0York", "changed"),
    )
    grade = CaseGrade({"outcome": Verdict("failed")}, pairs=(Pair("t", "t", "failed"),), differences=differences)
    transcript = Transcript((Message("assistant", None, (ToolCall("t", {}),)),))
    (call,) = compared_calls(grade, Expectation.single("t", {}), transcript)
    assert [(row.kind, row.note) for row in call.rows[1:]] == [
        ("same", "same letters, composed in another way (NFC)"),
        ("changed", "another value by U+00A0 NO-BREAK SPACE"),
    ]
    assert call.agreed == ()


def test_agreed_arguments_fold_and_differing_ones_are_marked():
    differences = (
        ArgumentDifference("/a", {"exact": 1}, 1, "same"),
        ArgumentDifference("/b/0", {"exact": 1}, 2, "changed"),
        ArgumentDifference("/c", {"exact": 1}, None, "missing"),
        ArgumentDifference("/d", None, 4, "extra"),
    )
    grade = CaseGrade({"outcome": Verdict("failed")}, pairs=(Pair("t", "t", "failed"),), differences=differences)
    transcript = Transcript((Message("assistant", None, (ToolCall("t", {}),)),))
    (call,) = compared_calls(grade, Expectation.single("t", {}), transcript)
    assert [(row.path, row.expected, row.actual, row.kind) for row in call.rows] == [
        ("tool", "t", "t", "same"),
        ("b[0]", "1", "2", "changed"),
        ("c", "1", None, "missing"),
        ("d", None, "4", "extra"),
    ]
    assert [row.path for row in call.agreed] == ["a"]


@pytest.mark.parametrize(
    ("allowed", "status", "note"),
    [(True, "beside", "extra, allowed"), (False, "failed", "needless call")],
)
def test_calls_that_may_come_beside_are_not_marked_wrong(allowed, status, note):
    expectation = Expectation(
        "calls", alternatives=(Trajectory((CallExpectation("pay", {}),), additional_calls=allowed),)
    )
    did = Transcript((Message("assistant", calls=(ToolCall("look", {}), ToolCall("pay", {}))),), answer="Done.")
    found = graded(compile_case(expectation, ()), did)
    assert (found.verdicts["selection"].status == "passed") is allowed
    assert [each.status for each in shown_calls(found, did, expectation)] == [status, "passed"]
    assert note in [call.rows[0].note for call in compared_calls(found, expectation, did)]
