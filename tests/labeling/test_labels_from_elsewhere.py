"""Labels and notes that people gave elsewhere: each person apart, blind or not, decided by the usual rules."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from labeling.adjudicate.resolution import settle_due
from labeling.adjudicate.services import adjudication_decide, revision_reopen
from labeling.agreement.cache import agreement_now, labels_read
from labeling.agreement.cases import pairs_of
from labeling.agreement.filters import Filters
from labeling.blindness import sides_of
from labeling.datasets.services import dataset_create
from labeling.datasheet.gathering import Scope, labelling_of
from labeling.examples.views import history_of
from labeling.exports import Outcome, Selection
from labeling.exports.formats import native_lines
from labeling.exports.table import label_table
from labeling.imports import judgements as storing
from labeling.imports import services
from labeling.imports.reading import file_looked_at
from labeling.models import Comment, Gold, Label, LabelSlot, Resolution, SlotState
from tests.labeling.importing import load, shown
from tests.labeling.rows import NO_CALL, call, document
from toolevals.grading.reading.examples import read_example
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import JobState, Role

__all__ = ["load"]

pytestmark = pytest.mark.django_db
DATA = Path(__file__).parents[1] / "grading" / "files" / "evaluation_files" / "data"
ADA, BEN = "ada@annotators.example", "user 11"
NOTE = {"author": BEN, "text": "helpfulness: 4"}


def said(author: str, expectation: Any = None, text: str = "") -> dict[str, Any]:
    return {"author": author, "expectation": expectation or call()} | ({"text": text} if text else {})


def states(name: str) -> list[str]:
    return list(LabelSlot.objects.filter(revision=shown(name)).order_by("number").values_list("state", flat=True))


def test_two_people_are_two_labels_and_what_differs_waits_for_an_adjudicator(load, adjudicator, ann, client):
    rows = [
        document("same", judgements=[said(ADA, text="It asks."), said(BEN)]),
        document("differs", judgements=[said(ADA), said(BEN, NO_CALL), NOTE]),
        document("alone", judgements=[said(ADA)]),
        document("none", judgements=[NOTE]),
    ]
    job = load(rows, "jsonl")
    assert job.state == JobState.SUCCEEDED, job.report
    counts = {name: job.report[name] for name in ("added", "labels", "labels_of_people", "notes")}
    assert counts == {"added": 4, "labels": 5, "labels_of_people": 2, "notes": 2}
    assert states("same") == states("differs") == [SlotState.SUBMITTED] * 2
    assert states("alone") == [SlotState.SUBMITTED, SlotState.OPEN]
    assert states("none") == [SlotState.OPEN] * 2
    settle_due()
    gold = shown("same").gold
    assert gold is not None
    # Two labels agree; that they were given blind is nowhere said.
    assert (gold.source, gold.rationale) == ("elsewhere", "It asks.")
    differs = shown("differs")
    assert (differs.resolution, shown("alone").resolution) == (Resolution.DISAGREED, Resolution.OPEN)
    # No one sees others' labels before it is resolved; then each has its author's name.
    assert not Label.objects.filter(revision=differs).visible_to(ann, Role.REVIEWER).exists()
    adjudication_decide(revision=differs, actor=adjudicator, expectation=call(), rationale="Asked.")
    labels = Label.objects.filter(revision=differs).visible_to(ann, Role.REVIEWER)
    assert sorted((each.author_name, each.blindness) for each in labels) == [(ADA, "unknown"), (BEN, "unknown")]
    events = history_of(shown("differs"), ann, Role.REVIEWER)
    told = [(event.who, event.what) for event in events if any("blind" in note for note in event.notes)]
    assert told == [(ADA, "labelled"), (BEN, "labelled"), (BEN, "noted")]


def test_the_same_file_again_changes_nothing_and_another_label_of_a_person_is_a_change_of_mind(load):
    load([document("a", judgements=[said(ADA), NOTE])], "jsonl")
    again = load([document("a", judgements=[said(ADA), NOTE])], "jsonl")
    assert "labels" not in again.report
    assert (Label.objects.count(), Comment.objects.count()) == (1, 1)
    changed = load([document("a", judgements=[said(ADA, NO_CALL)])], "jsonl")
    assert (changed.report["labels_changed"], states("a")) == (1, [SlotState.SUBMITTED, SlotState.OPEN])
    second = load([document("a", judgements=[said(BEN, NO_CALL)])], "jsonl")
    assert second.report["labels"] == 1
    settle_due()
    # The first label of the one who changed it still counts: an adjudicator decides.
    assert shown("a").resolution == Resolution.DISAGREED


def test_a_label_of_a_resolved_example_is_kept_next_to_its_gold_and_changes_no_more(load):
    load([document("a", expectation=call(), judgements=[said(ADA, NO_CALL)])], "jsonl")
    revision = shown("a")
    assert (revision.resolution, Label.objects.get().revision) == (Resolution.RESOLVED, revision)
    late = load([document("a", expectation=call(), judgements=[said(ADA)])], "jsonl")
    assert late.report["labels_too_late"] == 1
    assert Label.objects.get().expectation["kind"] == "no_call"


def test_an_example_that_was_reopened_is_labelled_afresh(load, adjudicator):
    rows = [document("a", judgements=[said(ADA), said(BEN)])]
    load(rows, "jsonl")
    settle_due()
    revision_reopen(revision=shown("a"), actor=adjudicator, reason="The guideline changed.")
    assert "labels" not in load(rows, "jsonl").report
    assert Label.objects.count() == 2
    load([document("a", judgements=[said(ADA, NO_CALL)])], "jsonl")
    label = Label.objects.select_related("slot").latest("pk")
    assert (label.slot.round, label.is_first) == (2, True)


def test_a_person_here_and_one_elsewhere_are_two_labels(load, ann, claim, submit):
    load([document("a", judgements=[said(ADA)])], "jsonl")
    slot = claim(ann)
    assert slot.revision == shown("a")
    submit(ann, call(), slot=slot)
    settle_due()
    # The one here may still change theirs.
    assert not Gold.objects.exists()
    settle_due(database_now() + timedelta(hours=1))
    assert Gold.objects.get().source == "elsewhere"


def test_agreement_counts_them_only_where_it_is_asked_to(load, dataset, adjudicator, client):
    load([document("a", judgements=[said(ADA), said(BEN)]), document("b", judgements=[said(ADA), said(BEN)])], "jsonl")
    settle_due()
    labels_read(dataset)
    assert agreement_now(dataset, Filters()).labels == 0
    marked = agreement_now(dataset, Filters.of_address({"elsewhere": "1"}, names=True))
    assert (marked.labels, marked.units, marked.tool.percent.value) == (4, 2, 1.0)
    assert Filters(elsewhere=True).parameters == {"elsewhere": "1"}
    # Nothing that counts blind labels counts them, and the data sheet says them apart.
    assert pairs_of(dataset).counted == 0
    sheet = labelling_of(Scope(dataset))
    assert (sheet.labels, sheet.nameless, sheet.elsewhere, sheet.people_elsewhere) == (0, 0, 4, 2)
    client.force_login(adjudicator)
    address = f"/p/{dataset.project.slug}/datasets/{dataset.slug}/agreement/"
    page = client.get(f"{address}?elsewhere=1").content.decode()
    assert "4 labels of resolved examples" in " ".join(page.split())
    assert "If they were blind is not known" in page
    assert "with-elsewhere" in client.get(f"{address}csv/?elsewhere=1")["Content-Disposition"]
    asked = f"/api/v1/projects/{dataset.project.slug}/datasets/{dataset.slug}/agreement/"
    assert [client.get(asked + query).json()["figures"]["labels"] for query in ("", "?elsewhere=1")] == [0, 4]


def test_exports_say_who_said_it_and_import_gives_it_again(load, dataset, project):
    load([document("a", judgements=[said(ADA), said(BEN), NOTE]), document("b", judgements=[said(ADA)])], "jsonl")
    settle_due()
    rows = [json.loads(line) for line in native_lines(Selection(dataset), Outcome())]
    assert [(each["author"], "expectation" in each) for each in rows[0]["judgements"]] == [
        (ADA, True),
        (BEN, True),
        (BEN, False),
    ]
    # What is not resolved tells nothing.
    assert "judgements" not in rows[1]
    assert rows[0]["gold_source"] == "elsewhere"
    table = b"".join(label_table(Selection(dataset), Outcome())).decode().splitlines()
    assert table[0].endswith("external_author,blindness")
    assert sorted(line.split(",")[-2:] for line in table[1:]) == [[ADA, "unknown"], [BEN, "unknown"]]
    tools = dataset.default_tools
    other = dataset_create(project=project, actor=None, slug="other", name="Other", default_tools=tools)
    services.examples_import(dataset=other, actor=None, rows=map(read_example, rows))
    again = [json.loads(line) for line in native_lines(Selection(other), Outcome())]
    assert again[0]["judgements"] == rows[0]["judgements"]


def test_a_large_file_stores_them_in_parts(load, monkeypatch):
    monkeypatch.setattr(services, "AT_ONCE", 2)
    monkeypatch.setattr(storing, "AT_ONCE", 2)
    job = load([document(f"ex-{n}", judgements=[said(ADA), said(BEN)]) for n in range(5)], "jsonl")
    assert (job.report["labels"], job.report["labels_of_people"]) == (10, 2)
    assert settle_due() == 5
    assert all(states(f"ex-{n}") == [SlotState.SUBMITTED] * 2 for n in range(5))


@pytest.mark.parametrize(("name", "waits"), [("label_studio", "order"), ("argilla", "order")])
def test_a_file_of_annotators_brings_in_what_the_look_at_it_promised(load, adjudicator, name, waits):
    content = (DATA / f"{name}.json").read_bytes()
    promised = file_looked_at(content).counts
    job = load(content, "auto")
    assert job.state == JobState.SUCCEEDED, job.report
    counts = [job.report[each] for each in ("added", "labels", "labels_of_people", "notes")]
    assert counts == [
        promised[each] for each in ("examples", "labels given elsewhere", "people who gave them", "notes")
    ]
    settle_due()
    assert shown(waits).resolution == Resolution.DISAGREED
    sides = sides_of(shown(waits), adjudicator, Role.ADJUDICATOR)
    assert len(sides) == 2
    # What is no label is named with its place.
    kept = [each for each in job.report["read"]["warnings"] if each["message"].endswith("kept as a note")]
    assert len(kept) == promised["notes"]


@pytest.mark.parametrize(
    ("judgements", "pointer"),
    [
        ([{"author": "", "text": "x"}], "/judgements/0/author"),
        ([{"author": ADA}], "/judgements/0"),
        ([said(ADA), said(ADA, NO_CALL)], "/judgements/1/author"),
        ([{"author": ADA, "expectation": {"kind": "?"}}], "/judgements/0/expectation/kind"),
    ],
)
def test_a_judgement_that_says_nothing_is_refused_with_its_place(load, judgements, pointer):
    job = load([document("a", judgements=judgements)], "jsonl")
    assert job.state == JobState.FAILED
    assert job.report["errors"][0]["pointer"] == pointer


def test_the_page_tells_labels_and_people_and_rest_tells_who_gave_each(load, adjudicator, client, dataset):
    load([document("a", judgements=[said(ADA), said(BEN)])], "jsonl")
    settle_due()
    client.force_login(adjudicator)
    (example,) = dataset.examples.all()
    page = client.get(f"/p/{dataset.project.slug}/datasets/{dataset.slug}/examples/{example.pk}/").content.decode()
    assert ADA in page
    assert "if it was blind is not known" in page
    listed = client.get(f"/api/v1/projects/{dataset.project.slug}/labels/").json()["results"]
    assert {(each["external_author"], each["blindness"], each["reviewer"]) for each in listed} == {
        (ADA, "unknown", None),
        (BEN, "unknown", None),
    }
