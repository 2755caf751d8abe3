"""Every failure mode that the core knows has its layer and its words."""

from __future__ import annotations

from reports.run.analysis import ARGUMENTS, ERROR_MODES, MODES, SELECTION, WEAK_ARGUMENTS, WEAK_SELECTION, failure_modes
from toolevals.grading.engine import grader_catalog as catalog


def test_the_modes_are_the_cores():
    assert {*MODES, *ERROR_MODES} == set(catalog.MODES)


def test_every_mode_can_be_said():
    assert set(WEAK_SELECTION) == {mode for mode, layer in MODES.items() if layer == SELECTION}
    assert set(WEAK_ARGUMENTS) == {mode for mode, layer in MODES.items() if layer == ARGUMENTS}


def test_modes_stand_by_layer_and_then_by_count_without_errors():
    counts = {"wrong_value": 9, "missed_call": 1, "wrong_tool": 2, "harness_error": 5, "": 40, "extra_call": 0}
    found = [(each.mode, each.count) for each in failure_modes(counts)]
    assert found == [("wrong_tool", 2), ("missed_call", 1), ("wrong_value", 9)]
