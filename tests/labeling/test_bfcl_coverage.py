"""Coverage and lint of the public benchmark: as many as its own files say, counted here from their lines."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from labeling.coverage.counting import coverage_count, is_tool
from labeling.coverage.index_gold_tools import gold_read
from labeling.lint.services import lint
from labeling.models import Dataset
from tests.labeling.test_bfcl_import import load, pytestmark, rows
from toolevals.workspace.models import Project

__all__ = ["pytestmark"]
CHOSEN = ("simple_python", "multiple", "irrelevance")
SIZES = {"simple_python": 400, "multiple": 200, "irrelevance": 240}


@pytest.fixture
def dataset(project: Project, run_jobs) -> Dataset:
    """Three categories in one dataset: one tool offered, several, and none that is right."""
    text = b"".join(json.dumps(row).encode() + b"\n" for category in CHOSEN for row in rows(category))
    load(project, "bfcl", text, "bfcl")
    run_jobs()
    return project.datasets.get(slug="bfcl")


def test_coverage_and_lint_say_what_the_files_hold(dataset: Dataset):
    gold_read(dataset)
    counts = coverage_count(dataset)
    assert (counts.size, counts.gold, counts.waiting, counts.unread) == (sum(SIZES.values()),) * 2 + (0, 0)

    called = Counter(
        name
        for category in ("simple_python", "multiple")
        for row in rows(category)
        for name in {name for call in row["answer_row"]["ground_truth"] for name in call}
    )
    idle = Counter(tool["name"] for row in rows("irrelevance") for tool in row["question_row"]["function"])
    assert {name: tool.expected for name, tool in counts.tools.items() if is_tool(name) and tool.expected} == called
    # A question of the third is a negative of the one tool that it is offered where both share words.
    negatives = {name: tool.negative for name, tool in counts.tools.items() if tool.negative}
    assert all(count <= idle[name] for name, count in negatives.items())
    assert all(tool.estimated == tool.negative for tool in counts.tools.values())
    # Read off the files by eye: 228 asks for the current time, 226 for a time zone; 6 and 7 ask for areas.
    assert (negatives["get_local_time"], idle["get_local_time"], negatives.get("draw_circle")) == (1, 2, None)
    # Read off the files by eye: three questions of the first and one of the second ask for gcd.
    assert (called["math.gcd"], idle["draw_circle"]) == (4, 2)

    report = lint(dataset)
    assert (report.examples, report.gold, report.no_call) == (840, 840, 240)
    # Whoever does nothing is right where no call is, and nowhere else.
    assert report.passed_idle == 240
    # Read off the files by eye: 307 accepts `true` as the venue, which is a string; 789 names of tools have a
    # description without a word that says when.
    (broken,) = (finding for finding in report.findings if finding["rule"] == "breaks_schema")
    assert broken["sentence"].startswith("simple_python_307: /alternatives/0/ordered/0/arguments/venue/exact")
    assert report.counts == {
        "breaks_schema": 1,
        "breaks_schema_in_part": 28,
        "near_duplicate_input": 99,
        "no_trigger": 789,
        "same_description": 1,
        "shared_opening": 30,
        "confusable": 36,
    }
