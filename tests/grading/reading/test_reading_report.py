"""Test what a job's report says of the file that it read: one shape, also for reports from before it had one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolevals.grading.reading.parsing import Loss
from toolevals.grading.reading.predictions import Prediction
from toolevals.grading.reading.reading_report import MOST_WARNINGS, Readings, report_in_one_shape
from toolevals.grading.values import Transcript

LOSS = {"what": "reasoning", "where": "/messages/*", "count": 2, "first": "/messages/0", "known": True}
WARNING = {"line": 3, "pointer": "/a", "message": "is odd"}
FORMAT = {"name": "anthropic", "why": "it has blocks", "count": 4}


@pytest.mark.parametrize(
    ("old", "formats", "losses", "warnings"),
    [
        ({"read": {"formats": [FORMAT], "losses": [LOSS]}}, [FORMAT], [LOSS], []),
        (
            {"read_as": "Read as promptfoo results: has config: yes.", "warnings": [WARNING], "warning_count": 1},
            [{"name": "promptfoo results", "why": "has config: yes", "count": 0}],
            [],
            [WARNING],
        ),
        (
            {
                "read": {"formats": [FORMAT], "losses": [LOSS]},
                "read_as": "Read as X: y.",
                "warnings": [WARNING],
                "warning_count": 7,
            },
            [FORMAT],
            [LOSS],
            [WARNING],
        ),
        ({"warnings": [], "warning_count": 0}, [], [], []),
        ({}, [], [], []),
    ],
)
def test_older_reports_are_read_into_the_one_shape(
    old: dict[str, Any], formats: Any, losses: Any, warnings: Any
) -> None:
    found = report_in_one_shape({"added": 2, **old})
    assert found["added"] == 2
    assert not {"read_as", "warnings", "warning_count"} & found.keys()
    if not (formats or losses or warnings):
        assert "read" not in found
        return
    read = found["read"]
    assert (read["formats"], read["losses"], read["warnings"]) == (formats, losses, warnings)
    assert read["warning_count"] == old.get("warning_count", 0)
    # What is in one shape stays as it is.
    assert report_in_one_shape(found) == found


def test_only_the_first_warnings_are_kept_and_all_are_counted() -> None:
    readings = Readings()
    for line in range(MOST_WARNINGS + 5):
        readings.warn(line, "", "is odd")
    assert (len(readings.warnings), readings.warning_count, bool(readings)) == (MOST_WARNINGS, MOST_WARNINGS + 5, True)


losses_drawn = st.builds(
    Loss, st.sampled_from("ab"), st.sampled_from(["/x", "/y"]), st.integers(1, 5), st.just("/x"), st.booleans()
)
predictions = st.builds(
    lambda name, losses: Prediction("a", 0, Transcript(), name, "because", tuple(losses)),
    st.sampled_from(["", "mcp", "native"]),
    st.lists(losses_drawn, max_size=3),
)


@given(st.lists(predictions, max_size=5), st.lists(st.integers(1, 9), max_size=3))
def test_documents_come_back(drawn: list[Prediction], lines: list[int]) -> None:
    readings = Readings()
    for each in drawn:
        readings.add(each)
    for line in lines:
        readings.warn(line, "/a", "is odd")
    assert Readings.from_document(readings.to_document()).to_document() == readings.to_document()
    assert bool(Readings.of_report({"read": readings.to_document()})) is bool(readings)
