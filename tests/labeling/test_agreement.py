"""Agreement: what a label says, figures by hand, the laws they keep, and what may be counted at all."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from labeling.agreement import kept
from labeling.agreement.cases import Asked, case_page, cases
from labeling.agreement.comparing import decided_tools, units_of
from labeling.agreement.figures import argument_measures, cells, measures
from labeling.agreement.filling import labels_read
from labeling.agreement.filters import Filters
from labeling.agreement.kept import agreement_counted, agreement_now
from labeling.agreement.matrix import chart_document, tool_matrix
from labeling.agreement.periods import periods_of
from labeling.agreement.reading import read_label, tool_class
from labeling.agreement.report import Agreement, agreement_of
from labeling.agreement.reviewers import reviewer_figures
from labeling.agreement.units import RatedLabel, Unit, units_in
from labeling.models import AgreementReport, Dataset, Label, LabelAnswer, LabelReading, Revision
from labeling.services import (
    adjudication_decide,
    adjudication_set_aside,
    adjudication_withdraw,
    revision_reopen,
    settle_due,
)
from labeling.tasks import agreement as agreement_task
from tests.labeling.rows import NO_CALL, call
from tests.labeling.test_labels import later
from toolevals.workspace.models import Job, Project, User

ANN, BEN, EVE = (UUID(int=number) for number in (1, 2, 3))
NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)


def label(tool: str, who: UUID = ANN, *, said: str = "", differs: bool | None = None, **arguments: str) -> RatedLabel:
    named = {tool: arguments} if arguments else {}
    return RatedLabel(uuid4(), UUID(int=9), 1, who, tool, said or tool, named, NOW, 30, differs)


def unit(*labels: RatedLabel, number: int = 9, at: datetime = NOW) -> Unit:
    return Unit(tuple(one._replace(revision=UUID(int=number), at=at) for one in labels))


def both(one: str, other: str, **more: Any) -> Unit:
    return unit(label(one, ANN), label(other, BEN), **more)


def choice(*tools: str) -> dict[str, Any]:
    return {"kind": "calls", "alternatives": [{"ordered": [{"tool": tool} for tool in tools]}]}


@pytest.mark.parametrize(
    ("answer", "expectation", "tool"),
    [
        ("expectation", NO_CALL, "(none)"),
        ("expectation", {"kind": "some_call"}, "(any)"),
        ("expectation", choice("b", "a", "b"), "a + b"),
        ("ambiguous", None, "(ambiguous)"),
        ("missing_tool", None, "(missing_tool)"),
    ],
)
def test_a_tool_choice_is_a_class(answer: str, expectation: Any, tool: str) -> None:
    assert read_label(answer, expectation).tool == tool


def test_long_choices_stay_apart() -> None:
    one, other = (tool_class([f"{'t' * 300}{end}"]) for end in "ab")
    assert one != other
    assert max(len(one), len(other)) <= 200


def test_what_means_the_same_reads_the_same() -> None:
    exact, listed = call(), call()
    listed["alternatives"][0]["ordered"][0]["arguments"]["order_id"] = {"one_of": ["A-1"]}
    one, same, other = (read_label("expectation", each) for each in (exact, listed, call(order="A-2")))
    assert one == same
    assert one.tool == other.tool
    assert one.meaning != other.meaning
    assert one.arguments["get_order"]["order_id"] != other.arguments["get_order"]["order_id"]


def test_figures_by_hand() -> None:
    units = [both("a", "a")] * 4 + [both("b", "b")] * 4 + [both("a", "b")] * 2
    found = measures(units, lambda one: one.tool)
    assert found.percent.value == pytest.approx(0.8)
    # Ann: 6 a, 4 b; Ben: 4 a, 6 b; chance .24 + .24.
    assert found.kappa is not None
    assert found.kappa.value == pytest.approx((0.8 - 0.48) / 0.52)
    # 20 labels, ten of each: D_o = 4/20, D_e = 200/(20·19).
    assert found.alpha.value == pytest.approx(1 - 0.2 / (200 / 380))
    assert found.ac1.value == pytest.approx((0.8 - 0.5) / 0.5)
    assert {one.count for one in (found.percent, found.kappa, found.alpha, found.ac1)} == {10}
    for one in (found.percent, found.kappa, found.alpha, found.ac1):
        assert one.value is not None
        assert one.interval is not None
        assert one.interval.low < one.value < one.interval.high


def test_figures_do_not_depend_on_the_order_of_labels() -> None:
    units = [both("a", "a"), both("a", "b"), both("b", "b"), unit(label("a", ANN), label("b", EVE), label("b", BEN))]
    turned = [Unit(one.labels[::-1]) for one in units[::-1]]
    assert measures(units, lambda one: one.tool) == measures(turned, lambda one: one.tool)
    assert cells(units) == cells(turned)


def test_cells_count_units_and_draw_both_ways() -> None:
    units = [both("b", "a"), both("a", "b"), both("a", "a"), unit(label("a"), label("a", BEN), label("b", EVE))]
    found = cells(units)
    assert found == {("a", "a"): 2, ("a", "b"): 3}
    matrix = tool_matrix(found, is_pair=False)
    counts = {(cell.row, cell.column): (cell.count, cell.of) for _, _, cell in matrix.filled}
    assert counts == {("a", "a"): (2, 5), ("a", "b"): (3, 5), ("b", "a"): (3, 3)}
    few = tool_matrix(found, is_pair=False, most=1)
    assert (len(few.names), few.hidden) == (1, 1)


def test_a_chart_escapes_hostile_names() -> None:
    matrix = tool_matrix({("<b>x</b>", "<b>x</b>"): 1, ("<i>", "(none)"): 2}, is_pair=True)
    document = chart_document(matrix, [""] * 2)
    assert matrix.names[-1] == "(none)"
    assert "<b>x" not in str(document["chart"])
    assert len(document["chart"]["data"][0]["x"]) == len(matrix.filled) + 2


def test_arguments_are_compared_where_the_tool_is_the_same() -> None:
    units = [
        unit(label("t", city="1", day="7"), label("t", BEN, city="1")),
        unit(label("t", city="2"), label("t", BEN, city="3")),
        unit(label("t", city="2"), label("u", BEN, city="2")),
        both("(none)", "(none)"),
    ]
    rows = {row.argument: row for row in argument_measures(units)}
    assert (rows["city"].differ, rows["city"].measures.percent.count) == (1, 2)
    assert rows["city"].measures.percent.value == 0.5
    assert rows["day"].measures.percent.value == 0
    assert rows["city"].measures.kappa is None


def test_short_times_are_told_by_day_and_long_ones_by_week() -> None:
    days = periods_of([both("a", "a"), both("a", "b", at=NOW + timedelta(days=1))])
    assert [(one.since, one.until, one.same_tool.value) for one in days] == [
        (date(2026, 3, 4), date(2026, 3, 4), 1.0),
        (date(2026, 3, 5), date(2026, 3, 5), 0.0),
    ]
    weeks = periods_of([both("a", "a"), both("a", "a", at=NOW + timedelta(days=60))])
    assert [(one.since, one.until) for one in weeks] == [
        (date(2026, 3, 2), date(2026, 3, 8)),
        (date(2026, 4, 27), date(2026, 5, 3)),
    ]
    assert periods_of([]) == []


def test_people_are_held_against_decisions_only() -> None:
    units = [
        unit(label("a", ANN, differs=False), label("b", BEN, differs=True), number=1),
        unit(label("a", ANN, differs=True), label("b", BEN, differs=True), number=2),
        unit(label("a", ANN), label("a", BEN), number=3),
    ]
    ann, ben = reviewer_figures(units, {UUID(int=1): "a", UUID(int=2): "b", UUID(int=3): "a"})
    assert (ann.reviewer, ann.labels, ann.right_tool.value, ann.right_label.value) == (ANN, 3, 0.5, 0.5)
    assert (ben.right_tool.value, ben.right_label.value, ben.right_label.count) == (0.5, 0.0, 2)


def test_filters_choose_units_whole() -> None:
    early, late = both("a", "b", number=1), both("a", "a", number=2, at=NOW + timedelta(days=3))
    third = unit(label("a", ANN), label("b", EVE), number=3)
    labels = [one for each in (early, late, third) for one in each.labels]
    assert len(units_in(labels, Filters(since=date(2026, 3, 5)))) == 1
    assert len(units_in(labels, Filters(until=date(2026, 3, 4)))) == 2
    assert len(units_in(labels, Filters(reviewer=BEN))) == 2
    assert len(units_in(labels, Filters(reviewer=ANN, other=EVE))) == 1


def test_an_address_says_what_makes_sense() -> None:
    query = {"bucket": "x", "since": "2026-02-30", "guideline": "²", "reviewer": str(ANN), "other": str(ANN), "q": "\0"}
    assert Filters.asked(query, names=True) == Filters(strata={"bucket": "x"}, reviewer=ANN)
    assert Filters.asked(query, names=False) == Filters(strata={"bucket": "x"})
    assert Asked.read({"one": "a", "show": "argument_differs", "gold": "judged"}, of=None) == Asked()


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
    shown = case_page(dataset, Filters(), Asked(show="tool_differs"), "")
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
        assert len(list(cases(dataset, Filters(), Asked(one=one, two=two)))) == count
    pair = Filters(reviewer=ben.pk, other=ann.pk)
    assert len(list(cases(dataset, pair, Asked(one="(none)", two="get_order")))) == 1
    assert list(cases(dataset, pair, Asked(one="get_order", two="(none)"))) == []
    (row,) = counted.each_argument
    asked = Asked(show="argument_differs", tool=row.tool, argument=row.argument)
    assert [one.revision for one in cases(dataset, Filters(), asked)] == [labelled[1].pk]
    assert row.differ == 1
    wrong = Asked(gold="label_wrong", of=ben.pk)
    assert len(list(cases(dataset, Filters(), wrong))) == 2
    assert len(list(cases(dataset, Filters(), Asked(gold="tool_wrong", of=ben.pk)))) == 1
    assert list(cases(dataset, Filters(), Asked(gold="label_wrong", of=ann.pk))) == []


@pytest.mark.django_db
def test_what_is_set_aside_is_a_class_of_its_own(dataset: Dataset, labelled: list[Revision], adjudicator: User) -> None:
    adjudication_set_aside(
        revision=labelled[2], actor=adjudicator, answer=LabelAnswer.AMBIGUOUS, rationale="Who knows."
    )
    assert decided_tools(dataset) == {labelled[2].pk: "(ambiguous)"}
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


def test_a_report_comes_back_from_its_document() -> None:
    units = [both("a", "b", number=1), unit(label("t", city="1"), label("t", BEN, city="2"), number=2)]
    found = agreement_of(units, {}, Filters())
    assert Agreement.from_document(found.to_document()) == found
