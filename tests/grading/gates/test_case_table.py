"""Counted cases say what the cases say one by one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolevals.grading.gates.case_table import MEASURES, CaseTable, chained
from toolevals.grading.gates.metrics import figure_of
from toolevals.grading.gates.regressions import PairedRuns, units_of
from toolevals.grading.gates.results import PASS_MARK, GateCase
from toolevals.grading.gates.rules import RegressionRule
from toolevals.grading.metrics.comparison import compare_alike, compare_runs
from toolevals.grading.metrics.means import clustered_mean, percentile, scored_mean

scores = st.dictionaries(st.sampled_from(["outcome", "tone"]), st.sampled_from([0.0, 0.3, 0.5, 1.0, None]))
strata = st.sampled_from([{}, {"bucket": "x"}, {"bucket": "y"}])
tools = st.sampled_from(["", "a", "b"])
cases = st.builds(
    GateCase,
    st.sampled_from([f"e{place}" for place in range(6)]),
    scores,
    tool=tools,
    called=tools,
    strata=strata,
    runtime_ms=st.sampled_from([None, 1.0, 7.5]),
    cost=st.sampled_from([None, 0.25]),
    tokens=st.sampled_from([None, 100.0]),
)
runs = st.lists(cases, max_size=25)


@given(runs)
def test_a_table_gives_back_its_cases(run):
    table = CaseTable.of(run)
    assert [(each.example, each.scores, each.tool, each.called, each.strata) for each in table] == [
        (each.example, each.scores, each.tool, each.called, each.strata) for each in run
    ]
    joined = CaseTable.joined([table, CaseTable([], [], [], []), table])
    for measure, said in zip(MEASURES, ("runtime_ms", "cost", "tokens"), strict=True):
        told = len([each for each in run if getattr(each, said) is not None])
        assert sum(len(each) for each in table.taken[measure].values()) == told
        assert sum(len(each) for each in joined.taken[measure].values()) == 2 * told
    assert sum(table.tally.counts.values()) == len({each.example for each in run})


@given(runs, st.sampled_from(["outcome", None]))
def test_a_figure_is_that_of_the_cases_one_by_one(run, metric):
    rows = [(case.example, case.score(name)) for case in run for name in case.asked(metric)]
    found = [score for _, score in rows if score is not None]
    tally = CaseTable.of(run).tally
    mean, rate = (figure_of(name, tally, metric) for name in ("avg_score", "pass_rate"))
    assert (mean.count, mean.unscored) == (len(found), len(rows) - len(found))
    if not found:
        assert mean.observed is None
        return
    outcomes: defaultdict[str, list[float | None]] = defaultdict(list)
    for example, score in rows:
        outcomes[example].append(score)
    assert mean.observed == fmean(found)
    assert rate.observed == sum(score >= PASS_MARK for score in found) / len(found)
    assert figure_of("p90_score", tally, metric).observed == percentile(found, 0.9)
    assert figure_of("min_score", tally, metric).low == min(
        [*found, 0.0] if None in dict.fromkeys(s for _, s in rows) else found
    )
    expected = clustered_mean(outcomes).interval
    if expected is not None and mean.interval is not None:
        assert mean.interval.low == min(expected.low, mean.observed)
        assert mean.interval.high == max(expected.high, mean.observed)
    runtimes = [case.runtime_ms for case in run if case.asked(metric) or metric is None]
    measured = [each for each in runtimes if each is not None]
    assert figure_of("runtime_avg", tally, metric).observed == (fmean(measured) if measured else None)


def _outcomes(run: Sequence[GateCase], tool: str, tools_of: dict[str, str]) -> dict[str, list[float | None]]:
    found: defaultdict[str, list[float | None]] = defaultdict(list)
    for case in run:
        if case.asks("outcome") and tools_of.get(case.example) == tool:
            found[case.example].append(case.score("outcome"))
    return found


@given(runs, runs)
def test_two_runs_are_compared_as_their_examples_one_by_one(before, after):
    tools_of = {case.example: case.tool for case in (*before, *after) if case.tool}
    rule = RegressionRule("paired", ("outcome",), per_tool=True, overrides={"a": 0.0, "b": 0.0}, ignore_removed=True)
    for unit in units_of(rule, PairedRuns(CaseTable.of(before), CaseTable.of(after))):
        first, second = (_outcomes(run, unit.group, tools_of) for run in (before, after))
        assert compare_alike(unit.counts) == compare_runs(first, second)
        scored = [name for name, trials in first.items() if scored_mean(trials) is not None]
        missing = [name for name in scored if name in second and scored_mean(second[name]) is None]
        assert (unit.shared, unit.gone) == (sum(name in second for name in scored), len(set(scored) - second.keys()))
        assert unit.missing == len(missing)
        worst = second | {name: [0.0] for name in missing}
        assert compare_alike(unit.at_worst()) == compare_runs(first, worst)
        fell = [name for name in first if name in second and sum(map(bool, first[name])) > sum(map(bool, second[name]))]
        named = unit.named(lambda then, now: bool(now) and sum(map(bool, then)) > sum(map(bool, now)))
        assert sorted(named) == sorted(fell)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3))))
def test_patterns_hold_the_numbers_of_each_place_in_order(rows):
    by_place, patterns = chained(5, rows)
    assert [patterns[pattern] for pattern in by_place] == [
        tuple(number for place, number in rows if place == at) for at in range(5)
    ]
    assert max(Counter(patterns).values()) == 1


def test_names_come_once_and_in_order():
    run = [GateCase(name, {"outcome": score}) for name, score in (("b", 0.0), ("a", 1.0), ("c", 0.0), ("b", 0.0))]
    table = CaseTable.of(run)
    assert table.named([("x", "y") if kind.score("outcome") == 0 else () for kind in table.kinds]) == {
        "x": ["b", "c"],
        "y": ["b", "c"],
    }


def test_what_cannot_be_a_score_is_refused():
    with pytest.raises(ValueError):
        CaseTable.of([GateCase("e", {"outcome": 1.5})])
