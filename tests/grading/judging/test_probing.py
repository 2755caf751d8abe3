"""Test what a set of probes asks: worked out once for a rubric, and never that of another set or rubric."""

from __future__ import annotations

from typing import Any

import pytest

from toolevals.grading.engine import grading as engine
from toolevals.grading.judging import SHIPPED, probing
from toolevals.grading.judging import probing as graded_here
from toolevals.grading.judging.probing import ProbeSet

# It takes long: `./dev check` leaves it out.
pytestmark = pytest.mark.thorough

RUBRIC = SHIPPED["task_completion"]


@pytest.fixture
def graded(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is graded meanwhile; no questions are kept before."""
    found: list[Any] = []
    grade = engine.grade

    def note(*args: Any) -> Any:
        found.append(args)
        return grade(*args)

    monkeypatch.setattr(graded_here, "grade", note)
    probing._questions.cache_clear()
    probing._probe_set.cache_clear()
    return found


def test_questions_are_worked_out_once(graded: list[Any]):
    shipped = ProbeSet.shipped()
    first = shipped.questions(RUBRIC)
    assert len(graded) == len(shipped.probes) + len(shipped.transcripts)
    first.clear()
    assert ProbeSet.from_document(shipped.to_document()).questions(RUBRIC).keys() == shipped.questions(RUBRIC).keys()
    assert shipped.questions(RUBRIC)
    assert len(graded) == len(shipped.probes) + len(shipped.transcripts)


def test_each_set_and_each_rubric_has_questions_of_its_own(graded: list[Any]):
    shipped = ProbeSet.shipped()
    fewer = ProbeSet(shipped.probes[1:], shipped.transcripts)
    assert shipped.questions(RUBRIC).keys() - fewer.questions(RUBRIC).keys() == {shipped.probes[0].id}
    for rubric in SHIPPED.values():
        asked = shipped.questions(rubric)
        assert all(request.rubric == rubric for request in asked.values())
        assert asked == shipped._asked(rubric)
