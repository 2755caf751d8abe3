"""Hold the core against the vectors of every door."""

from __future__ import annotations

import pytest

from tests.guard_vectors import CASES, POLICY, TOOLS, name_of
from toolevals.grading.guard import Policy, Request, State, compile_policy
from toolevals.grading.values import ToolSpec

GUARD = compile_policy(Policy.from_document(POLICY), map(ToolSpec.from_document, TOOLS))


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_the_core_decides_as_the_vectors_say(case):
    question = case["question"]
    decision = GUARD.check(Request.from_document(question["request"]), State.from_document(question["state"]))
    assert decision.to_document() == case["decision"]


def test_the_vectors_meet_every_rule():
    met = {
        reason["rule"] for case in CASES for kind in ("reasons", "would_refuse") for reason in case["decision"][kind]
    }
    assert met == set(POLICY["rules"])
