"""Try a version of a policy with one call: the same check as at the guard's doors, counted and kept nowhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from toolevals.grading.guard import Decision, Reason, Request, State
from toolevals.registry.models import PolicyVersion
from toolevals.registry.policies.queries import guard_of


@dataclass(frozen=True, slots=True)
class Tried:
    """The decision on a call or on its result, what rules cannot tell of it, and the rules that let it pass."""

    what: str
    decision: Decision
    unanswered: Sequence[Reason]
    passed: Sequence[str]


def call_tried(version: PolicyVersion, request: Request, state: State, *, result: str) -> list[Tried]:
    """Return how a version decides on a call and, where it passes and a result is given, on the result.

    There is no deadline: no one waits for the call.
    """
    tried = [_tried(version, request, state)]
    if result and tried[0].decision.allowed:
        tried.append(_tried(version, replace(request, result=result), state))
    return tried


def _tried(version: PolicyVersion, request: Request, state: State) -> Tried:
    guard = guard_of(version)
    decision = guard.check(request, state)
    refusing = (*decision.reasons, *decision.would_refuse)
    told = {each.rule for each in (*refusing, *decision.unanswered)}
    stage = "result" if request.has_result else "call"
    rules = ((name, each) for name, each in sorted(guard.policy.rules.items()) if name not in told)
    passed = [name for name, each in rules if each.mode != "off" and stage in each.rule.stages]
    return Tried(stage, decision, [each for each in decision.unanswered if each not in refusing], passed)
