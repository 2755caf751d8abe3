"""The datasheet of a dataset and of its versions: every figure, by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from labeling.adjudicate.resolution import settle_due
from labeling.adjudicate.services import adjudication_decide, dispute_open, revision_reopen
from labeling.datasheet import gathering
from labeling.datasheet import gathering as agreement
from labeling.datasheet.gathering import datasheet_of
from labeling.datasheet.values import ValueCount
from labeling.imports.services import examples_import
from labeling.lint.services import lint_start
from labeling.models import Dataset, Example, Label, LintReport, ProposedExample, Revision
from labeling.versions.services import version_freeze
from tests.labeling.rows import NO_CALL, call, row
from tests.labeling.test_api import Program
from toolevals.grading.metrics.rates import wilson
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import User

pytestmark = pytest.mark.django_db


@pytest.fixture
def labelled(dataset: Dataset, ann: User, ben: User, adjudicator: User, submit: Callable[..., Label]) -> Dataset:
    """Six examples: four that two people labelled (one of them adjudicated), one imported gold, one to label."""
    rows = [row(f"ex-{n}", strata={"bucket": "selection"} if n else {}) for n in range(4)]
    examples_import(dataset=dataset, actor=None, rows=rows)
    for one, other in ((call(), call()), (NO_CALL, NO_CALL), (call(), NO_CALL), (call(), call())):
        submit(ann, one, seconds=60)
        submit(ben, other, seconds=0)
    settle_due(project=dataset.project, now=database_now() + timedelta(days=1))
    decided = Revision.objects.get(example__external_id="ex-2")
    adjudication_decide(
        revision=decided, actor=adjudicator, expectation=call("cancel_order"), rationale="Both are wrong.", seconds=90
    )
    examples_import(dataset=dataset, actor=None, rows=[row("ex-4", expectation=NO_CALL), row("ex-5")])
    return dataset


def revision(name: str) -> Revision:
    return Revision.objects.get(example__external_id=name)


@pytest.mark.database
def test_the_examples_are_counted_by_status_stratum_source_and_tool(labelled: Dataset):
    found = datasheet_of(labelled).composition
    assert (found.examples, found.gold, found.waiting, found.set_aside) == (6, 5, 1, {})
    assert found.gold_sources == {"agreed": 3, "adjudicated": 1, "imported": 1}
    assert found.strata.keys() == {"bucket"}
    assert found.strata["bucket"].listed == (ValueCount("selection", 3), ValueCount("", 2))
    assert found.tools.listed == (ValueCount("get_order", 2), ValueCount("cancel_order", 1))
    assert (found.no_call, found.any_call, found.unread, found.tool_lists, found.replaced) == (2, 0, 0, 1, None)


@pytest.mark.database
def test_labels_people_hours_decisions_and_agreement_are_those_of_what_is_resolved(labelled: Dataset):
    sheet = datasheet_of(labelled)
    labels = sheet.labelling
    assert (labels.labels, labels.people, labels.nameless, labels.overlap) == (8, 2, 0, {2: 4})
    assert (labels.timed, labels.seconds, labels.guidelines) == (4, 240.0, {0: 8})
    assert (labels.adjudications, labels.adjudicators, labels.adjudication_seconds) == (1, 1, 90.0)
    assert (sheet.agreement.units, sheet.agreement.sampled) == (4, 4)
    assert sheet.agreement.percent.value == 0.75
    assert sheet.agreement.percent.interval == wilson(3, 4)
    # Coincidences: get_order 5, (none) 3, of which 2 disagree: 1 - 2/8 / (2*5*3/(8*7)).
    assert sheet.agreement.alpha.value == pytest.approx(1 - (2 / 8) / (30 / 56))


@pytest.mark.database
def test_a_version_keeps_what_it_froze(labelled: Dataset, adjudicator: User):
    version = version_freeze(dataset=labelled, actor=adjudicator, note="First")
    dispute_open(revision=revision("ex-4"), actor=None, reason="A doubt")
    adjudication_decide(revision=revision("ex-4"), actor=adjudicator, expectation=call(), rationale="It asks.")
    examples_import(dataset=labelled, actor=None, rows=[row("ex-6", expectation=call())])
    frozen, now = datasheet_of(labelled, version), datasheet_of(labelled)
    assert (frozen.about.name, frozen.about.note, frozen.about.frozen_by) == ("support@1", "First", adjudicator.name)
    assert (frozen.composition.examples, now.composition.examples) == (5, 7)
    assert (frozen.composition.no_call, now.composition.no_call) == (2, 1)
    assert frozen.composition.gold_sources == {"agreed": 3, "adjudicated": 1, "imported": 1}
    assert (frozen.composition.replaced, frozen.labelling.adjudications, now.labelling.adjudications) == (1, 1, 2)
    assert (frozen.labelling.disputes_open, frozen.labelling.disputes_settled) == (0, 1)
    assert (frozen.sources.without_file, now.sources.without_file) == (2, 3)


def test_what_was_reopened_tells_nothing_of_its_labels(labelled: Dataset, adjudicator: User, submit, members):
    version = version_freeze(dataset=labelled, actor=adjudicator)
    revision_reopen(revision=revision("ex-2"), actor=adjudicator, reason="Unclear")
    for sheet in (datasheet_of(labelled), datasheet_of(labelled, version)):
        assert (sheet.labelling.labels, sheet.labelling.overlap, sheet.labelling.adjudications) == (6, {2: 3}, 0)
        assert (sheet.agreement.units, sheet.agreement.percent.value) == (3, 1.0)
    before = datasheet_of(labelled).to_document()
    submit(members(1)[0], call())
    assert datasheet_of(labelled).to_document() == before


def test_replaced_labels_and_those_after_the_freeze_do_not_count(labelled: Dataset, ann: User):
    version = version_freeze(dataset=labelled, actor=None)
    said = Label.objects.get(revision=revision("ex-0"), reviewer=ann)
    again = {"slot": said.slot, "revision": said.revision, "reviewer": ann, "seconds": 30}
    Label.objects.create(**again, expectation=NO_CALL)
    assert datasheet_of(labelled, version).labelling.seconds == 240
    now = datasheet_of(labelled)
    assert (now.labelling.labels, now.labelling.seconds, now.agreement.percent.value) == (8, 210, 0.5)
    Label.objects.filter(slot=said.slot).update(withdrawn_at=database_now())
    assert datasheet_of(labelled, version).labelling.labels == 8
    assert datasheet_of(labelled).labelling.overlap == {1: 1, 2: 3}


@pytest.mark.database
def test_of_very_many_labels_a_sample_is_compared_the_same_each_time(labelled: Dataset, monkeypatch):
    monkeypatch.setattr(agreement, "SAMPLE", 1)
    first, second = datasheet_of(labelled).agreement, datasheet_of(labelled).agreement
    tails = [str(one.pk)[-3:] for one in Revision.objects.filter(labels__isnull=False).distinct()]
    assert first.units == 4
    assert first.sampled == second.sampled == sum(tail < "400" for tail in tails)


def test_gold_that_is_not_read_yet_is_said_and_read_bit_by_bit(labelled: Dataset, monkeypatch):
    monkeypatch.setattr(gathering, "READ_AT_ONCE", 2)
    version = version_freeze(dataset=labelled, actor=None)
    assert datasheet_of(labelled).composition.unread == 5
    assert [datasheet_of(labelled, version).composition.unread for _ in range(3)] == [3, 1, 0]
    assert datasheet_of(labelled, version).composition.tools.listed[0] == ValueCount("get_order", 2)


def test_files_drafts_and_lint_are_told(labelled: Dataset, adjudicator: User):
    audit_record(
        project=labelled.project, actor=None, verb="import_start", target=labelled,
        detail={"job": "0190", "file": "orders.csv", "source": "csv"},
    )  # fmt: skip
    example, origin = Example.objects.get(external_id="ex-4"), revision("ex-4")
    ProposedExample.objects.create(
        dataset=labelled, origin=origin, tool="t", parameter="/a", kind="currency", input={},
        tools=origin.tools, state="accepted", example=example,
    )  # fmt: skip
    sheet = datasheet_of(labelled)
    (file,) = sheet.sources.files
    assert (file.file, file.format, file.added, sheet.sources.more, sheet.sources.drafts) == (
        "orders.csv",
        "csv",
        None,
        0,
        1,
    )
    assert sheet.lint is None
    lint_start(dataset=labelled, actor=None)
    LintReport.objects.update(
        document={"examples": 6, "gold": 5, "passed_idle": 2, "no_call": 2, "tools": 2, "ignored": {}, "findings": [],
                  "counts": {}}
    )  # fmt: skip
    lint = datasheet_of(labelled).lint
    assert lint is not None
    assert (lint.passed_idle.value, lint.passed_idle.interval, lint.rules) == (0.4, wilson(2, 5), ())


def test_an_empty_dataset_has_a_datasheet(dataset: Dataset, reviewer: User):
    shown = Program(reviewer).get("datasets/support/versions/now/datasheet/")
    assert (shown["name"], shown["composition"]["examples"], shown["licence"]) == ("support@now", 0, None)
    assert shown["agreement"]["alpha"] == {
        "value": None, "low": None, "high": None, "count": 0, "reason": "no unit has two labels",
    }  # fmt: skip


def test_programs_and_files_get_the_same(labelled: Dataset, reviewer: User):
    version_freeze(dataset=labelled, actor=None)
    shown = Program(reviewer).get("datasets/support/versions/1/datasheet/")
    client = Client()
    client.force_login(reviewer)
    file = client.get(reverse("labeling:datasheet-json", args=["shop", "support", "1"]))
    assert json.loads(file.content) == shown
    assert file["Content-Disposition"] == 'attachment; filename="support-1-datasheet.json"'
    Program(reviewer).get("datasets/support/versions/9/datasheet/", 404)


def test_more_examples_take_no_more_queries(labelled: Dataset, reviewer: User):
    client = Client()
    client.force_login(reviewer)

    def queries(version: str) -> int:
        client.get(reverse("labeling:datasheet", args=["shop", "support", version]))
        with CaptureQueriesContext(connection) as found:
            page = client.get(reverse("labeling:datasheet", args=["shop", "support", version]))
        assert page.status_code == 200
        return len(found)

    version_freeze(dataset=labelled, actor=None)
    few, few_now = queries("1"), queries("now")
    examples_import(dataset=labelled, actor=None, rows=[row(f"more-{n}", expectation=call()) for n in range(40)])
    version_freeze(dataset=labelled, actor=None)
    assert queries("2") <= few <= 28
    assert queries("now") <= few_now <= 28
