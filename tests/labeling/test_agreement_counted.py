"""Say what of a dataset's labels counts for agreement: resolved rounds, blind labels, and the cases behind a number."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import timedelta
from uuid import UUID

import pytest

from labeling.adjudicate.resolution import settle_due
from labeling.adjudicate.services import (
    adjudication_decide,
    adjudication_set_aside,
    adjudication_withdraw,
    revision_reopen,
)
from labeling.agreement import cache as kept
from labeling.agreement.cache import agreement_counted, agreement_now, labels_read
from labeling.agreement.cases import UnitFilter, case_page, cases, decided_tools, units_of
from labeling.agreement.filters import Filters
from labeling.models import AgreementReport, Dataset, Label, LabelAnswer, LabelReading, Revision
from labeling.tasks import agreement as agreement_task
from tests.labeling.rows import NO_CALL, call
from tests.labeling.windows import later
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Job, Project, User


@pytest.fixture
def labelled(
    dataset: Dataset, project: Project, examples: list[Revision], ann: User, ben: User, submit: Callable[..., Label]
) -> list[Revision]:
    """Agreed; differing in the argument; differing in the tool."""
    for one, other in ((call(), call()), (call(), call(order="A-2")), (call(), NO_CALL)):
        submit(ann, one)
        submit(ben, other)
    return examples


@pytest.mark.django_db
def test_nothing_counts_before_it_is_resolved(
    dataset: Dataset, labelled: list[Revision], project: Project, adjudicator: User
) -> None:
    before = agreement_now(dataset, Filters())
    assert (before.labels, before.units, labels_read(dataset)) == (0, 0, 0)
    settle_due(later())
    labels_read(dataset)
    found = agreement_now(dataset, Filters())
    assert (found.labels, found.units, found.tool.percent.value) == (2, 1, 1.0)
    assert LabelReading.objects.count() == 2
    made = adjudication_decide(revision=labelled[2], actor=adjudicator, expectation=call(), rationale="An order.")
    counted = agreement_counted(dataset, Filters(), actor=None).agreement
    assert counted is not None
    assert (counted.labels, counted.tool.percent.value, counted.cells) == (
        4,
        0.5,
        {("get_order", "get_order"): 1, ("(none)", "get_order"): 1},
    )
    assert [row.right_tool.value for row in counted.reviewers] in ([1.0, 0.0], [0.0, 1.0])
    assert made.adjudication is not None
    adjudication_withdraw(adjudication=made.adjudication, actor=adjudicator)
    assert agreement_now(dataset, Filters()) == found


@pytest.mark.django_db
def test_all_pairs_count_decided_or_not_once_none_can_be_changed(
    dataset: Dataset, labelled: list[Revision], project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labeling.agreement.figures.BLOCK", 3)
    labels_read(dataset)
    before = agreement_now(dataset, Filters()).pairs
    assert before is not None
    assert (before.counted, before.waiting) == (0, 0)
    Label.objects.update(created_at=database_now() - timedelta(days=1))
    labels_read(dataset)
    found = agreement_now(dataset, Filters())
    assert found.pairs is not None
    assert (found.units, found.pairs.counted, found.pairs.waiting) == (0, 3, 0)
    assert found.pairs.tool.percent.value == pytest.approx(2 / 3)
    assert found.pairs.whole.percent.value == pytest.approx(1 / 3)
    # A filter could single out one pair.
    assert agreement_now(dataset, Filters(guideline=1)).pairs is None
    assert list(cases(dataset, Filters(), UnitFilter(show="tool_differs"))) == []


@pytest.mark.django_db
def test_rounds_are_units_of_their_own_and_rest_while_open(
    dataset: Dataset,
    labelled: list[Revision],
    project: Project,
    adjudicator: User,
    ann: User,
    ben: User,
    submit: Callable[..., Label],
) -> None:
    first = labelled[0]
    settle_due(later())
    labels_read(dataset)
    revision_reopen(revision=first, actor=adjudicator, reason="The guideline changed.")
    assert agreement_now(dataset, Filters()).labels == 0
    submit(ann, NO_CALL)
    assert agreement_now(dataset, Filters()).labels == 0
    submit(ben, call())
    adjudication_decide(revision=first, actor=adjudicator, expectation=call(), rationale="Still.")
    found = agreement_counted(dataset, Filters(), actor=None).agreement
    assert found is not None
    assert (found.units, found.tool.percent.value) == (2, 0.5)
    shown = case_page(dataset, Filters(), UnitFilter(show="tool_differs"), "")
    assert [(one.revision, one.round) for one in shown.units] == [(first.pk, 2)]


@pytest.mark.django_db
def test_a_label_handed_in_after_the_decision_is_not_blind(
    dataset: Dataset, labelled: list[Revision], project: Project, adjudicator: User
) -> None:
    adjudication_decide(revision=labelled[1], actor=adjudicator, expectation=call(), rationale="A-1.")
    labels_read(dataset)
    late = Label.objects.filter(revision=labelled[1]).order_by("pk").last()
    assert late is not None
    assert len(units_of(dataset, Filters())[0].labels) == 2
    Label.objects.filter(pk=late.pk).update(created_at=later())
    assert [one.labels[0].pk != late.pk for one in units_of(dataset, Filters())] == [True]


@pytest.mark.django_db
def test_cases_are_as_many_as_the_number(
    dataset: Dataset, labelled: list[Revision], project: Project, adjudicator: User, ann: User, ben: User
) -> None:
    settle_due(later())
    for revision in labelled[1:]:
        adjudication_decide(revision=revision, actor=adjudicator, expectation=call(), rationale="So.")
    counted = agreement_counted(dataset, Filters(), actor=None).agreement
    assert counted is not None
    for (one, two), count in counted.cells.items():
        assert len(list(cases(dataset, Filters(), UnitFilter(one=one, two=two)))) == count
    pair = Filters(reviewer=ben.pk, other=ann.pk)
    assert len(list(cases(dataset, pair, UnitFilter(one="(none)", two="get_order")))) == 1
    assert list(cases(dataset, pair, UnitFilter(one="get_order", two="(none)"))) == []
    (row,) = counted.each_argument
    asked = UnitFilter(show="argument_differs", tool=row.tool, argument=row.argument)
    assert [one.revision for one in cases(dataset, Filters(), asked)] == [labelled[1].pk]
    assert row.differ == 1
    wrong = UnitFilter(gold="label_wrong", of=ben.pk)
    assert len(list(cases(dataset, Filters(), wrong))) == 2
    assert len(list(cases(dataset, Filters(), UnitFilter(gold="tool_wrong", of=ben.pk)))) == 1
    assert list(cases(dataset, Filters(), UnitFilter(gold="label_wrong", of=ann.pk))) == []


@pytest.mark.django_db
def test_what_is_set_aside_is_a_class_of_its_own(dataset: Dataset, labelled: list[Revision], adjudicator: User) -> None:
    adjudication_set_aside(
        revision=labelled[2], actor=adjudicator, answer=LabelAnswer.AMBIGUOUS, rationale="Who knows."
    )
    assert decided_tools([one.pk for one in labelled]) == {labelled[2].pk: "(ambiguous)"}
    labels_read(dataset)
    assert [row.right_tool.value for row in agreement_now(dataset, Filters()).reviewers] == [0.0, 0.0]


@pytest.mark.django_db
def test_many_labels_are_counted_by_a_job_and_forgotten_when_reopened(
    dataset: Dataset, labelled: list[Revision], project: Project, adjudicator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle_due(later())
    expected = agreement_counted(dataset, Filters(), actor=None).agreement
    monkeypatch.setattr(kept, "COUNTED_AT_ONCE", 1)
    waiting = agreement_counted(dataset, Filters(), actor=adjudicator)
    assert (waiting.agreement, waiting.job is not None) == (None, True)
    assert agreement_counted(dataset, Filters(), actor=adjudicator).job == waiting.job
    job = Job.objects.get(kind="agreement")
    agreement_task(str(job.batches.get().pk))
    done = agreement_counted(dataset, Filters(), actor=adjudicator)
    assert (done.agreement, done.job) == (expected, None)
    revision_reopen(revision=labelled[0], actor=adjudicator, reason="Look again.")
    assert not AgreementReport.objects.exists()
    assert agreement_counted(dataset, Filters(), actor=adjudicator).agreement is None


@pytest.mark.django_db
def test_only_what_people_labelled_is_asked_for_its_decision(
    dataset: Dataset, labelled: list[Revision], adjudicator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle_due(later())
    adjudication_decide(revision=labelled[1], actor=adjudicator, expectation=call(), rationale="So.")
    labels_read(dataset)
    asked: list[list[UUID]] = []

    def note(revisions: Iterable[UUID]) -> dict[UUID, str]:
        asked.append(list(revisions))
        return decided_tools(asked[-1])

    monkeypatch.setattr(kept, "decided_tools", note)
    agreement_now(dataset, Filters())
    assert asked == [[labelled[1].pk]]
    assert decided_tools(()) == {}
