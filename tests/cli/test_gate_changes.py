"""Two files are compared for a comment: layers, pairs and what examples take."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cli.test_gate import RIGHT, WRONG, rows
from toolevals.cli.gate_changes import changes_of_files
from toolevals.cli.gate_files import graded_file
from toolevals.cli.main import main
from toolevals.cli.output import Exit
from toolevals.grading.metrics.comparison import holm, mcnemar
from toolevals.presentation.gate_comment import RunChanges

assert rows


@pytest.fixture
def changed(rows):
    def compare(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> RunChanges:
        return changes_of_files(
            *(graded_file(rows(f"file-{i}", *made)).cases for i, made in enumerate((before, after)))
        )

    return compare


def test_layers_are_compared_and_corrected_and_the_outcome_stands_alone(changed):
    found = changed([*[WRONG] * 9, *[RIGHT] * 16], [*[RIGHT] * 9, WRONG, *[RIGHT] * 15])
    layers = {layer.name: layer for layer in found.layers}
    outcome = layers["outcome"]
    assert (outcome.compared.improved, outcome.compared.worsened, outcome.compared.examples) == (9, 1, 25)
    assert outcome.p_holm == outcome.compared.p_value == mcnemar(1, 9)
    others = [layer for layer in found.layers if layer.name != "outcome"]
    assert [layer.p_holm for layer in others] == holm([layer.compared.p_value for layer in others])
    assert layers["selection"].p_holm > outcome.p_holm
    assert outcome.after.low < 0.96 < outcome.after.high


def test_cells_are_those_of_examples_in_both_files(changed):
    found = changed([WRONG, WRONG, RIGHT, {}, WRONG], [RIGHT, WRONG, WRONG, RIGHT])
    cells = {(cell.expected, cell.actual): (cell.before, cell.after) for cell in found.cells}
    assert cells == {("track", "refund"): (2, 2), ("track", "track"): (1, 1)}


def test_what_examples_take_is_compared_where_both_files_say_it(changed):
    before = [{**RIGHT, "latency_ms": 100}, {**RIGHT, "latency_ms": 300}, RIGHT]
    found = changed(before, [{**RIGHT, "latency_ms": 50}, {**RIGHT, "latency_ms": 90}, {**RIGHT, "latency_ms": 9000}])
    assert found.taken == {"ms": (200, 70)}


def test_a_file_s_comment_has_no_links(rows, tmp_path):
    before, after, comment = rows("before", *[WRONG] * 25), rows("after", *[RIGHT] * 25), tmp_path / "gate.md"
    asked = ["gate", after, "--baseline", before, "--fail-on-regression", "--threshold", "outcome=.9"]
    asked += ["--markdown", str(comment)]
    assert main(asked) == Exit.OK
    text = comment.read_text()
    assert "**Significantly better: outcome 100.0 %, was 0.0 %.**" in text
    assert "| ▲ | 25 → 0 | <code>track</code> as <code>refund</code> |" in text
    assert "](" not in text
    assert main(["gate", after, "--markdown", str(comment)]) == Exit.OK
    assert "No comparison: no baseline run was named." in comment.read_text()
