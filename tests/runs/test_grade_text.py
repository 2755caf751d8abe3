"""The text that is kept of a grade is that of its normal form, whatever was written before it."""

import pytest
from hypothesis import given

from tests.grading.strategies import expectations, transcripts
from toolevals.grading.engine.grading import compile_case, grade
from toolevals.grading.values.canonical import exact
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.grading.values.verdicts import CaseGrade, Verdict
from toolevals.runs.counts import grade_text as module
from toolevals.runs.counts.grade_text import grade_text


@given(expectations, transcripts)
def test_the_text_is_that_of_the_normal_form(expectation, transcript):
    made = grade(compile_case(expectation, ()), transcript)
    assert grade_text(made) == exact(made.to_document())
    assert grade_text(made) == exact(made.to_document())


@pytest.mark.parametrize("names", [VERDICT_NAMES, tuple(reversed(VERDICT_NAMES)), VERDICT_NAMES[:3]])
def test_the_same_verdicts_under_other_names_have_a_text_of_their_own(names):
    shared = Verdict("passed", 1.0, "Said.")
    made = CaseGrade(dict.fromkeys(names, shared))
    assert grade_text(made) == exact(made.to_document())


def test_few_texts_are_kept():
    for number in range(3 * module._MOST_KEPT):
        grade_text(CaseGrade(dict.fromkeys(VERDICT_NAMES, Verdict("passed", 1.0, str(number)))))
    assert len(module._kept) <= module._MOST_KEPT
