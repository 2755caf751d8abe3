"""Agreement: what a label says, figures by hand, and the laws they keep."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from labeling.agreement.cases import UnitFilter, read_label, tool_class
from labeling.agreement.figures import BLOCK, argument_measures, cells, measures, pair_figures
from labeling.agreement.filters import Filters
from labeling.agreement.report import Agreement, agreement_of
from labeling.agreement.units import RatedLabel, Unit, periods_of, reviewer_figures, units_in
from labeling.agreement.views import chart_document, tool_matrix
from tests.labeling.rows import NO_CALL, call

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
    assert Filters.of_address(query, names=True) == Filters(strata={"bucket": "x"}, reviewer=ANN)
    assert Filters.of_address(query, names=False) == Filters(strata={"bucket": "x"})
    assert UnitFilter.of_address({"one": "a", "show": "argument_differs", "gold": "judged"}, of=None) == UnitFilter()


def pair(number: int, *tools: str, minutes: int | None = None) -> list[RatedLabel]:
    """Labels of one example, the n-th of which is submitted n seconds after so many minutes."""
    at = NOW + timedelta(minutes=number if minutes is None else minutes)
    people = (ANN, BEN, EVE)
    return [
        label(tool, who)._replace(revision=UUID(int=number), at=at + timedelta(seconds=place))
        for place, (tool, who) in enumerate(zip(tools, people, strict=False))
    ]


def test_all_pairs_count_in_full_blocks_in_the_order_of_the_second_label() -> None:
    rows = [pair(number, "a", "a" if number % 4 else "b") for number in range(1, 2 * BLOCK + 6)]
    ends = NOW + timedelta(days=1)
    found = pair_figures([one for each in rows[::-1] for one in each], {}, ends)
    assert (found.counted, found.waiting, found.tool.percent.value) == (2 * BLOCK, 5, 0.75)
    few = pair_figures([one for each in rows[: BLOCK - 1] for one in each], {}, ends)
    assert (few.counted, few.waiting, few.tool.percent.value) == (0, BLOCK - 1, None)
    # The last pair of the first block is the 20th: one more pair changes nothing until 20 are there.
    first = [pair_figures([one for each in rows[:n] for one in each], {}, ends) for n in range(BLOCK, 2 * BLOCK)]
    assert len({one.tool.percent.value for one in first}) == 1


def test_of_three_labels_the_first_two_are_the_pair_and_a_changed_one_counts_from_its_change() -> None:
    rows = [pair(number, "a", "a", "b") for number in range(1, BLOCK + 1)]
    labels = [one for each in rows for one in each]
    until = NOW + timedelta(minutes=BLOCK, seconds=30)
    assert pair_figures(labels, {}, until).tool.percent.value == 1.0
    assert pair_figures(labels, {}, until - timedelta(minutes=1)).waiting == BLOCK - 1
    # Ann changed her label of the first example: Ben's and Eve's are its pair, and then hers is the last.
    late: dict[tuple[UUID, int, UUID | None], datetime] = {(UUID(int=1), 1, ANN): until}
    assert pair_figures(labels, late, until).tool.percent.value == 1 - 1 / BLOCK
    assert pair_figures([one for one in labels if one.reviewer != EVE], late, until - timedelta(seconds=1)).counted == 0


def test_a_report_comes_back_from_its_document() -> None:
    units = [both("a", "b", number=1), unit(label("t", city="1"), label("t", BEN, city="2"), number=2)]
    pairs = pair_figures(
        [one for number in range(BLOCK) for one in pair(number, "a", "b")], {}, NOW + timedelta(days=1)
    )
    found = agreement_of(units, {}, Filters(), pairs)
    assert Agreement.from_document(found.to_document()) == found
