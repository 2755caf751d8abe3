"""Try a version of a policy with one call: the same check as at the guard's doors, counted and kept nowhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from toolevals.grading.guard import Decision, Request, State
from toolevals.registry.guard_checks.services import Deadline
from toolevals.registry.models import PolicyVersion
from toolevals.registry.policies.queries import guard_of


@dataclass(frozen=True, slots=True)
class Tried:
    """The decision on a call, or on its result, and the rules that were asked and let it pass."""

    what: str
    decision: Decision
    passed: Sequence[str]


def call_tried(version: PolicyVersion, request: Request, state: State, *, result: str) -> list[Tried]:
    """Return how a version decides on a call and, where it passes and a result is given, on the result."""
    tried = [_tried(version, request, state)]
    if result and tried[0].decision.allowed:
        tried.append(_tried(version, replace(request, result=result), state))
    return tried


def _tried(version: PolicyVersion, request: Request, state: State) -> Tried:
    guard = guard_of(version)
    decision = guard.check(request, replace(state, is_late=Deadline(guard.policy.deadline_ms).is_past))
    told = {each.rule for each in (*decision.reasons, *decision.would_refuse, *decision.unanswered)}
    stage = "result" if request.has_result else "call"
    rules = ((name, each) for name, each in sorted(guard.policy.rules.items()) if name not in told)
    return Tried(stage, decision, [name for name, each in rules if each.mode != "off" and stage in each.rule.stages])
