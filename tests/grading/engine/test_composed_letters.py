"""Composed and decomposed letters are equal, and that is said; spaces that no one sees are not."""

import pytest

from tests.grading.graded import graded
from toolevals.grading.values import CallExpectation, Expectation, ToolCall, ToolSpec, Trajectory
from toolevals.grading.values.matchers import Exact, Fields, Items, Matcher

SEEK = [ToolSpec("seek")]
CAFE, DECOMPOSED = "Caf\u00e9", "Cafe\u0301"
SAID = "Composed and decomposed letters count as equal (Unicode NFC): city is written so."


def expecting(matcher: Matcher, *others: CallExpectation) -> Expectation:
    return Expectation("calls", alternatives=(Trajectory((CallExpectation("seek", {"city": matcher}), *others)),))


@pytest.mark.parametrize(
    ("matcher", "given"),
    [
        (Exact(CAFE), DECOMPOSED),
        (Exact(DECOMPOSED), CAFE),
        (Exact({"names": [CAFE]}), {"names": [DECOMPOSED]}),
        (Fields({"name": Exact(CAFE)}), {"name": DECOMPOSED}),
        (Items((Exact(CAFE),)), [f" {DECOMPOSED}"]),
    ],
)
def test_a_passing_reason_names_the_argument_whose_letters_are_composed_otherwise(matcher, given):
    for others, more in (
        ((), ()),
        ((CallExpectation("seek", {"city": Exact("Oslo")}),), (ToolCall("seek", {"city": "Oslo"}),)),
    ):
        result = graded(expecting(matcher, *others), ToolCall("seek", {"city": given}), *more, tools=SEEK)
        for name in ("outcome", "arguments", "equivalence"):
            assert result.verdicts[name].status == "passed"
            assert result.verdicts[name].reason.endswith(SAID)


def test_alike_cases_do_not_share_the_reason():
    for given, is_said in ((CAFE, False), (DECOMPOSED, True), (CAFE, False)):
        result = graded(expecting(Exact(CAFE)), ToolCall("seek", {"city": given}), tools=SEEK)
        assert (SAID in result.verdicts["outcome"].reason) is is_said


@pytest.mark.parametrize(("given", "named"), [("New\u00a0York", "U+00A0 NO-BREAK SPACE"), ("New\u200b York", "U+200B")])
def test_unseen_characters_are_other_text_and_are_named(given, named):
    result = graded(expecting(Exact("New York")), ToolCall("seek", {"city": given}), tools=SEEK)
    assert result.outcome.status == "failed"
    assert named in result.outcome.reason
