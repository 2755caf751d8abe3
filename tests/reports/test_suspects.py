"""Suspect labels: what is counted from runs, labels and twins, who is told what, and disputing one."""

from __future__ import annotations

import csv
import io
from math import log
from typing import Any

import pytest
from django.urls import reverse

from labeling.models import Dispute, Example, Gold, Label, LabelSlot, Revision, VersionEntry
from reports.models import Suspect, SuspectCount
from reports.suspects import services as counting
from reports.suspects.agent_evidence import refused_calls
from reports.suspects.queries import SuspectFilter, page_of
from reports.suspects.services import suspects_counted
from tests.runs.building import EXAMPLES, HISTORY, REFUND, STATUS, call, example, silence, uploaded_run, version_of
from toolevals.runs.models import Agent
from toolevals.workspace.models import Job, Role

pytestmark = pytest.mark.django_db(transaction=True)
NEAR = "I would like to know the present shipping status of my order with the number ORD-1"


@pytest.fixture
def version(project: Any) -> Any:
    return version_of(project)


def listed(version: Any, person: Any, role: Role = Role.VIEWER, **wanted: Any) -> dict[str, Any]:
    suspects_counted(version, actor=None)
    return {row.external_id: row for row in page_of(version, SuspectFilter(**wanted), person, role).rows}


def kinds(row: Any) -> list[str]:
    return [reason["kind"] for reason in row.reasons]


def three_runs(project: Any, version: Any, run_jobs: Any) -> None:
    """Two of three models use the history for the status; all are right about the refund."""
    for model, said in (("one", HISTORY), ("two", HISTORY), ("three", REFUND)):
        uploaded_run(project, version, [call("status", said), call("refund", REFUND), silence("hello")], model=model)
    run_jobs()


def test_models_that_agree_against_gold_make_it_suspect(project, version, run_jobs, viewer):
    three_runs(project, version, run_jobs)
    rows = listed(version, viewer)
    assert list(rows) == ["status"]
    by_kind = {reason["kind"]: reason for reason in rows["status"].reasons}
    assert list(by_kind) == ["failed", "close", "agreement"]
    agreement = by_kind["agreement"]
    assert agreement["sentence"] == f"2 of 3 agents use {HISTORY} for the call; the gold expects {STATUS}."
    assert [(each["agent"], each["run"]) for each in agreement["witnesses"]] == [("one", 1), ("two", 2)]
    # Each sides with the gold of both other examples: (2 + 1)/(2 + 2).
    assert by_kind["failed"]["evidence"] == pytest.approx(3 * log((1 - 0.1 * 0.75) / 0.25))
    assert "although they agree with 75 % of the other gold labels" in by_kind["failed"]["sentence"]
    assert (rows["status"].says[:10], rows["status"].gold) == ("What is th", STATUS)


def test_runs_of_one_model_are_one_voice(project, version, run_jobs, viewer):
    for commit in ("a", "b", "c"):
        uploaded_run(project, version, [call("status", HISTORY)], model="one", commit=commit)
    run_jobs()
    assert Agent.objects.count() == 3
    assert listed(version, viewer) == {}
    assert SuspectCount.objects.get().voices == 1


def test_gold_that_was_changed_is_judged_by_runs_that_compare_with_it_alone(project, version, run_jobs, viewer):
    three_runs(project, version, run_jobs)
    later = version_of(project, [example("status", "What is the shipping status of order ORD-1?", HISTORY)])
    assert later.pk != version.pk
    assert listed(later, viewer) == {}
    assert listed(version, viewer)["status"].state == "changed"


def test_examples_that_say_the_same_or_nearly_the_same_with_other_gold(project, viewer):
    rows = [
        example("one", "Where is it?", STATUS),
        example("two", "where is it", HISTORY),
        example("three", NEAR + " please", STATUS),
        example("four", NEAR + " thanks", REFUND),
        example("five", NEAR + " now", STATUS),
    ]
    found = listed(version_of(project, rows), viewer)
    assert {name: [each["external_id"] for each in row.reasons[0]["examples"]] for name, row in found.items()} == {
        "one": ["two"],
        "two": ["one"],
        "four": ["three", "five"],
    }
    # One of one other; two of two others: of three and five each has one on its side.
    assert found["one"].reasons[0]["evidence"] == pytest.approx(4.4 / 2)
    assert found["four"].reasons[0]["evidence"] == pytest.approx(1.5 * 2 / 3)


def test_a_call_of_the_gold_that_the_tool_refuses(project, version, run_jobs, viewer):
    messages = [
        {"role": "assistant", "calls": [{"id": "1", "name": STATUS, "arguments": {"order_id": "ORD-1"}}]},
        {"role": "tool", "call_id": "1", "content": "Error: no such order", "is_error": True},
    ]
    uploaded_run(project, version, [{"id": "status", "format": "native", "messages": messages}], model="one")
    run_jobs()
    reason = listed(version, viewer)["status"].reasons[0]
    assert reason["kind"] == "refused"
    assert "“Error: no such order” is the answer to get_order_status(" in reason["sentence"]


def test_what_was_mended_or_not_reached_is_no_refusal():
    gold = {"kind": "calls", "alternatives": [{"ordered": [{"tool": "pay", "arguments": {"sum": {"exact": 3}}}]}]}

    def said(*answers: tuple[str, bool], amount: int = 3) -> list[str]:
        messages: list[dict[str, Any]] = []
        for place, (content, is_error) in enumerate(answers):
            made = {"id": str(place), "name": "pay", "arguments": {"sum": amount}}
            messages += [
                {"role": "assistant", "calls": [made]},
                {"role": "tool", "call_id": str(place), "content": content, "is_error": is_error},
            ]
        return list(refused_calls({"messages": messages}, gold, lambda _: "writes"))

    assert len(said(("Error: the card is void", True))) == 1
    assert said(("Error: the card is void", True), ("paid", False)) == []
    assert said(("503 Service Unavailable", True)) == []
    assert said(("Error: the card is void", True), amount=4) == []


def labelled(version: Any, person: Any, name: str, tool: str, number: int = 9) -> Revision:
    """Write a label of a resolved revision that says another tool."""
    revision: Revision = Revision.objects.get(example__external_id=name)
    slot = LabelSlot.objects.create(
        dataset=version.dataset, revision=revision, number=number, reviewer=person, state="submitted", priority=None
    )
    other = Gold.objects.get(revision__example__external_id="history").expectation
    Label.objects.create(slot=slot, revision=revision, reviewer=person, expectation=other)
    return revision


def test_labels_that_differ_are_told_to_adjudicators_alone(version, reviewer, adjudicator, viewer, owner):
    revision = labelled(version, reviewer, "status", HISTORY)
    # One person whom an adjudicator overruled is no evidence.
    assert listed(version, adjudicator, Role.ADJUDICATOR) == {}
    labelled(version, viewer, "status", HISTORY, number=7)
    for person, role in ((viewer, Role.VIEWER), (reviewer, Role.REVIEWER)):
        assert listed(version, person, role) == {}
        assert listed(version, person, role, reason="wavered") == {}
    row = listed(version, adjudicator, Role.ADJUDICATOR)["status"]
    assert kinds(row) == ["wavered"]
    assert row.reasons[0]["sentence"] == "2 of 2 people labelled something different from the gold."
    # Reopened, the example is labelled anew: who labelled it is not told, whatever the role.
    Revision.objects.filter(pk=revision.pk).update(resolution="open", gold=None)
    assert kinds(listed(version, adjudicator, Role.ADJUDICATOR)["status"]) == ["wavered"]
    labelled(version, owner, "status", HISTORY, number=8)
    assert listed(version, owner, Role.OWNER) == {}


def test_the_page_cites_evidence_that_opens_and_disputes_with_one_click(
    project, version, run_jobs, client, reviewer, viewer
):
    three_runs(project, version, run_jobs)
    address = reverse("reports:suspects", args=[project.slug, "core", "1"])
    client.force_login(viewer)
    page = client.get(address).content.decode()
    assert "1 of 4 gold labels have evidence against them." in page
    assert "Dispute the gold of status" not in page
    assert page.count("/cases/") == 8
    client.force_login(reviewer)
    assert "Dispute the gold of status" in client.get(address).content.decode()
    revision = Revision.objects.get(example__external_id="status")
    dispute = reverse("reports:suspect-dispute", args=[project.slug, "core", "1", revision.pk])
    answer = client.post(f"{dispute}?reason=agreement&page=1")
    assert answer["Location"] == f"{address}?reason=agreement&page=1#s-{revision.pk}"
    opened = Dispute.objects.get()
    assert (opened.actor, opened.revision) == (reviewer, revision)
    assert "2 of 3 agents use" in opened.reason
    page = client.get(address).content.decode()
    assert ">disputed</span>" in page
    assert "Dispute the gold of status" not in page
    # Another click changes nothing, and says so.
    assert "Not sent" in client.post(dispute, follow=True).content.decode()
    assert Dispute.objects.count() == 1
    other = Revision.objects.get(example__external_id="hello")
    unsuspected = reverse("reports:suspect-dispute", args=[project.slug, "core", "1", other.pk])
    assert client.post(unsuspected).status_code == 404


def test_states_filters_and_hostile_addresses(project, version, run_jobs, reviewer, client):
    three_runs(project, version, run_jobs)
    suspects_counted(version, actor=None)
    revision = Revision.objects.get(example__external_id="status")
    assert list(listed(version, reviewer, state="open")) == ["status"]
    dispute = Dispute.objects.create(revision=revision, actor=reviewer, reason="Wrong.")
    assert list(listed(version, reviewer, state="disputed")) == ["status"]
    Dispute.objects.filter(pk=dispute.pk).update(settled_at=dispute.created_at)
    assert list(listed(version, reviewer, state="settled")) == ["status"]
    assert listed(version, reviewer, state="open") == {}
    assert listed(version, reviewer, reason="twins") == {}
    assert list(listed(version, reviewer, reason="agreement", text="STAT")) == ["status"]
    client.force_login(reviewer)
    address = reverse("reports:suspects", args=[project.slug, "core", "1"])
    for query in ("page=-1", "page=99999999999", "page=%C2%B2", "q='\"<b>", "reason=%27&state=x", "q=%25"):
        assert client.get(f"{address}?{query}").status_code == 200


def test_page_interface_and_file_say_the_same(project, version, run_jobs, client, viewer):
    three_runs(project, version, run_jobs)
    client.force_login(viewer)
    at = [project.slug, "core", "1"]
    body = client.get(reverse("reports-api:suspects", args=at)).json()
    text = b"".join(client.get(reverse("reports:suspects-csv", args=at)).streaming_content).decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    (suspect,) = body["results"]
    assert (body["count"], body["voices"], body["job"]) == (1, 3, None)
    assert [row["sentence"] for row in rows] == [reason["sentence"] for reason in suspect["reasons"]]
    assert {(row["revision_id"], float(row["score"])) for row in rows} == {(suspect["revision_id"], suspect["score"])}
    assert rows[0]["case_ids"].split() == [each["case"] for each in suspect["reasons"][0]["witnesses"]]


def test_much_is_counted_by_a_job_and_only_once(project, version, run_jobs, viewer, client, monkeypatch):
    three_runs(project, version, run_jobs)
    monkeypatch.setattr(counting, "COUNTED_AT_ONCE", 0)
    client.force_login(viewer)
    address = reverse("reports:suspects", args=[project.slug, "core", "1"])
    assert "Calculating suspect labels for the first time." in client.get(address).content.decode()
    client.get(address)
    job = Job.objects.get(kind="suspects")
    assert (job.progress, job.result_path) == ((0, 16), address)
    run_jobs()
    job.refresh_from_db()
    assert job.state == "succeeded"
    assert job.report == {"suspects": 1}
    assert "1 of 4 gold labels" in client.get(address).content.decode()
    assert Job.objects.filter(kind="suspects").count() == 1
    # A further run is more to count; what is known is shown meanwhile.
    uploaded_run(project, version, [call("status", HISTORY)], model="four")
    run_jobs()
    page = client.get(address).content.decode()
    assert "1 of 4 gold labels" in page
    assert Job.objects.filter(kind="suspects").count() == 2


def test_each_new_label_is_counted_and_those_of_other_datasets_are_not_looked_through(
    project, version, reviewer, viewer, owner, monkeypatch
):
    """Much that is newer in other datasets changes neither what is found nor what it costs to ask."""
    monkeypatch.setattr(counting, "LOOKED_THROUGH", 1)
    other = version_of(project, [example(f"other-{number}", f"Case {number}?", STATUS) for number in range(3)], "other")
    people = (reviewer, viewer, owner)
    for number, person in enumerate(people, start=7):
        labelled(version, person, "status", HISTORY, number=number)
        reasons = listed(version, owner, Role.OWNER).get("status")
        assert (reasons is not None) == (number > 7)
        if reasons is not None:
            assert f"{number - 6} of {number - 6} people" in reasons.reasons[0]["sentence"]
        labelled(other, person, f"other-{number - 7}", HISTORY)
        suspects_counted(version, actor=None)
    counted_at = SuspectCount.objects.get(version=version).counted_at
    labelled(other, reviewer, "other-1", HISTORY, number=8)
    assert suspects_counted(version, actor=None).counted_at == counted_at


def test_a_page_costs_the_same_however_many_suspects_there_are(
    project, run_jobs, viewer, client, django_assert_max_num_queries
):
    rows = [example(f"ex-{number}", f"Case {number}: where is it?", STATUS) for number in range(120)]
    version = version_of(project, rows)
    for model in ("one", "two"):
        said = [call(row["id"], HISTORY if place < 40 else STATUS) for place, row in enumerate(rows)]
        uploaded_run(project, version, said, model=model)
    run_jobs()
    suspects_counted(version, actor=None)
    assert Suspect.objects.count() == 40
    client.force_login(viewer)
    with django_assert_max_num_queries(30):
        page = client.get(reverse("reports:suspects", args=[project.slug, "core", "1"]) + "?page=2")
    assert page.content.decode().count('class="suspect"') == 15


def test_examples_leave_with_their_suspects(version, reviewer, viewer):
    labelled(version, reviewer, "status", HISTORY)
    labelled(version, viewer, "status", HISTORY, number=8)
    suspects_counted(version, actor=None)
    assert Suspect.objects.count() == 1
    VersionEntry.objects.filter(version=version).delete()
    assert Suspect.objects.count() == 0
    assert Example.objects.count() == len(EXAMPLES)
