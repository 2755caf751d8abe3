"""Cases of several calls: every view, count and filter against the cases read one by one."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.cases.queries import listed_cases
from reports.filters.case_filters import CaseFilter, Filters, Split
from reports.filters.dividing import divided_by
from reports.filters.matrix_cells import matrix_counts
from reports.filters.sums import counted_number
from tests.fixtures.draws import draws
from tests.reports.building import Builder, Case, count_anew
from toolevals.grading.metrics.confusion import NO_MAJORITY, collapsed_class, set_class
from toolevals.grading.values.verdicts import NONE
from toolevals.runs.aggregates.cube import Unit, View
from toolevals.runs.models import AlignedPair, CaseGrade, CaseTag, Grading
from toolevals.workspace.projects.services import project_create

pytestmark = pytest.mark.django_db
NAMES = st.sampled_from(["shop.get", "shop.pay", "plain", NONE])
PAIRS = st.lists(st.tuples(NAMES, NAMES), max_size=3)
TRIALS = st.lists(st.tuples(NAMES, NAMES, PAIRS, st.booleans()), min_size=3, max_size=3)
FILTERS: list[dict[str, Any]] = [
    {},
    {"tag": "WRONG_ANSWER"},
    {"trial": 2},
    {"tools": "unsaid"},
    {"tagged": "odd"},
    {"tag": "", "turn": 7},
]


def graded(examples: list[list[Any]]) -> Grading:
    cases = [[Case(expected, actual) for expected, actual, _, _ in trials] for trials in examples]
    grading = Builder(project_create(actor=None, slug=f"several-{Grading.objects.count()}", name="Several")).tried(
        cases
    )
    rows = CaseGrade.objects.filter(grading=grading).order_by("transcript__entry__position", "transcript__trial")
    for case, (expected, _, pairs, odd) in zip(rows, [trial for trials in examples for trial in trials], strict=True):
        if odd:
            CaseTag.objects.create(transcript=case.transcript, tag="odd")
        # No pair at all, that of the first call, or several others.
        if not pairs and expected == NONE:
            case.pairs.all().delete()
        AlignedPair.objects.bulk_create(
            AlignedPair(grading=grading, case=case, number=number, expected=due, actual=made, arguments="unscored")
            for number, (due, made) in enumerate(pairs, start=case.pairs.count())
        )
    count_anew(grading)
    return grading


def cells_of(case: CaseGrade, view: View) -> tuple[tuple[str, str], ...]:
    pairs = [(pair.expected, pair.actual) for pair in case.pairs.order_by("number")]
    if view is View.FIRST:
        return ((case.expected, case.actual),) if case.expected else ()
    if view is View.ALIGNED:
        return tuple(sorted(pairs))
    return ((set_class(due for due, _ in pairs), set_class(made for _, made in pairs)),) if pairs else ()


def shown(grading: Grading, view: View, unit: Unit) -> list[tuple[CaseGrade, tuple[tuple[str, str], ...]]]:
    """Return the cases that count, with their cells: majorities by hand."""
    rows = CaseGrade.objects.filter(grading=grading).order_by("transcript__entry__position", "transcript__trial")
    placed = [(case, cells) for case in rows.select_related("transcript") if (cells := cells_of(case, view))]
    if unit is Unit.TRIAL:
        return placed
    found = []
    for entry in dict.fromkeys(case.transcript.entry_id for case, _ in placed):
        trials = [each for each in placed if each[0].transcript.entry_id == entry]
        cells, most = Counter(cells for _, cells in trials).most_common(1)[0]
        if 2 * most > len(trials):
            found.append(next(each for each in trials if each[1] == cells))
        else:
            case, cells = trials[0]
            found.append((case, tuple((expected, NO_MAJORITY) for expected, _ in cells)))
    return found


def meets(case: CaseGrade, asked: dict[str, Any], offered: set[str]) -> bool:
    checks = {
        "tag": case.tag == asked.get("tag") or not asked.get("tag"),
        "trial": case.transcript.trial + 1 == asked.get("trial"),
        "tools": case.expected in offered,
        "tagged": case.transcript.tags.filter(tag="odd").exists(),
        "turn": False,
    }
    return all(checks[name] for name in asked)


@draws(6)
@given(examples=st.lists(TRIALS, min_size=1, max_size=4), collapse=st.sampled_from([(), ("*",)]), divides=st.booleans())
def test_views_and_units_count_what_the_cases_say(examples, collapse, divides):
    split = Split.ARGUMENTS if divides else Split.NOTHING
    grading = graded(examples)
    # The tools of first trials are offered.
    offered = {name for trials in examples for name in trials[0][:2]} - {NONE}
    for view in View:
        for unit in Unit:
            counting = shown(grading, view, unit)
            for asked in FILTERS:
                filters = Filters(view=view, unit=unit, collapse=collapse, split=split, **asked)
                wanted: Counter[tuple[str, str]] = Counter()
                behind: dict[tuple[str, str], set[Any]] = {}
                for case, cells in counting:
                    for expected, actual in cells if meets(case, asked, offered) else ():
                        cell = collapsed_class(expected, collapse), collapsed_class(actual, collapse)
                        if divides:
                            cell = cell[0], divided_by(cell[1], case.arguments)
                        wanted[cell] += 1
                        behind.setdefault(cell, set()).add(case.pk)
                assert matrix_counts(grading, filters) == wanted
                for (expected, actual), cases in behind.items():
                    listed = listed_cases(grading, CaseFilter(filters, expected, actual))
                    assert set(listed.values_list("pk", flat=True)) == cases
                    assert listed.count() == len(cases)


def test_the_number_of_a_list_is_counted_before(build):
    grading = build.tried(
        [[Case("a", "b", bucket="x"), Case("a", "a")], [Case("b", "b"), Case("b", "b", status="errored")]]
    )
    for wanted in (
        CaseFilter(),
        CaseFilter(column="outcome", status="failed"),
        CaseFilter(Filters(bucket="x"), mode="wrong_tool"),
        CaseFilter(Filters(trial=2), expected="a"),
        CaseFilter(Filters(tools="unsaid"), expected="a", actual="b"),
        CaseFilter(latent="selection"),
        CaseFilter(ended="budget"),
    ):
        assert counted_number(grading, wanted) == listed_cases(grading, wanted).count()
    for wanted in (CaseFilter(Filters(tagged="odd")), CaseFilter(Filters(unit=Unit.MAJORITY), "a", "b")):
        assert counted_number(grading, wanted) is None
