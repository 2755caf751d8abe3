"""The consistency slice: pass^k, asked of release candidates alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolevals.grading.gates.case_table import CaseTable
from toolevals.grading.gates.documents import read_gate
from toolevals.grading.gates.evaluation import Evidence, hold_gate
from toolevals.grading.gates.results import Check, GateCase


def trials(**examples: str) -> list[GateCase]:
    """Return cases by example -> its trials in letters: `p`assed, `f`ailed, `u`nscored."""
    scores = {"p": 1.0, "f": 0.0, "u": None}
    return [
        GateCase(name, {"outcome": scores[mark]}, trial)
        for name, marks in examples.items()
        for trial, mark in enumerate(marks)
    ]


def check(cases: list[GateCase] | None, minimum: float, *, k: int = 2, candidate: bool = True) -> Check:
    gate = read_gate({"consistency": [{"min": minimum, "k": k}]})
    evidence = Evidence(
        CaseTable.of([GateCase("e", {"outcome": 1.0})]),
        None,
        None if cases is None else CaseTable.of(cases),
        release_candidate=candidate,
    )
    (only,) = hold_gate(gate, evidence).checks
    return only


def test_it_is_skipped_unless_it_is_a_release_candidate():
    assert check(trials(a="ff"), 1.0, candidate=False).status == "skipped"


def test_without_a_slice_it_is_unanswered():
    assert check(None, 0.0).status == "unanswered"


def test_pass_hat_k_by_hand():
    # C(3,2)/C(4,2) = 1/2 and 1: the mean is 3/4.
    slice_cases = trials(a="pppf", b="pppp")
    assert (check(slice_cases, 0.75).status, check(slice_cases, 0.75).observed) == ("passed", 0.75)
    failed = check(slice_cases, 0.76)
    assert (failed.status, failed.examples, failed.count) == ("failed", ("a",), 2)


def test_too_few_trials_are_unanswered():
    found = check(trials(a="pp", b="p"), 0.0)
    assert found.status == "unanswered"
    assert "1 of 2 examples have fewer than 2 trials" in found.reason


@pytest.mark.parametrize(("minimum", "status"), [(0.5, "passed"), (0.75, "unanswered")])
def test_an_unscored_trial_could_have_failed(minimum, status):
    # b is 1/3 with its open trial failed, 1 with it passed: between 2/3 and 1 with a.
    assert check(trials(a="ppp", b="ppu"), minimum).status == status


@given(st.lists(st.text("pf", min_size=4, max_size=4), min_size=1, max_size=6), st.integers(1, 3))
def test_more_in_a_row_are_never_likelier(rows, k):
    cases = trials(**{f"e{place}": row for place, row in enumerate(rows)})
    fewer, more = (check(cases, 0.0, k=each).observed for each in (k, k + 1))
    assert fewer is not None
    assert more is not None
    assert more <= fewer + 1e-12
