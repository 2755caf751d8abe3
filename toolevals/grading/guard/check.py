"""Decides by a policy if a call may be made, and if its result may be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from toolevals.grading.guard.policy import Mode, Policy
from toolevals.grading.guard.request import Decision, Reason, Request, State
from toolevals.grading.guard.rules import RULES
from toolevals.grading.guard.rules.rule import Finding, Late, Look, Stage, Test
from toolevals.grading.values import ToolSpec

# Of one rule.
MOST_REASONS = 10
ALLOWED = Decision(True)
# Of all that names something in a request, together.
LONGEST_NAME = 2_000


class _Asked(NamedTuple):
    """A rule that is asked: its id, its mode, its test, and whether it looks into arguments and results."""

    name: str
    mode: Mode
    test: Test
    reads_values: bool


class Guard:
    """A policy, compiled with the tools that agents are offered. It holds no state: many threads may ask it."""

    def __init__(self, policy: Policy, tools: Iterable[ToolSpec] = ()) -> None:
        self.policy = policy
        offered = {tool.name: tool for tool in tools}
        order = list(RULES)
        asked = sorted(policy.rules.items(), key=lambda item: (order.index(item[1].rule.kind), item[0]))
        self._asked: dict[Stage, list[_Asked]] = {"call": [], "result": []}
        for name, each in asked:
            if each.mode != "off":
                test = each.rule.compiled(offered)
                for stage in each.rule.stages:
                    self._asked[stage].append(_Asked(name, each.mode, test, each.rule.reads_values))

    def check(self, request: Request, state: State = State()) -> Decision:  # noqa: B008 (a frozen value)
        """Return the decision on a request, whatever JSON it holds: the same one for the same request and state.

        Every rule is asked, so that a decision names all that is wrong, until the deadline passes.
        """
        answers = _Answers(refuses_unknown=self.policy.on_error == "refuse")
        look = Look(_with_short_names(request), state)
        for rule in self._asked["result" if request.has_result else "call"]:
            answers.add(rule, _findings(rule, look, self.policy.deadline_ms))
        return answers.decision()


def compile_policy(policy: Policy, tools: Iterable[ToolSpec] = ()) -> Guard:
    """Return the guard of a policy, with the tools that agents are offered."""
    return Guard(policy, tools)


def check(policy: Policy, request: Request, state: State, tools: tuple[ToolSpec, ...] = ()) -> Decision:
    """Return the decision of a policy on a request. A caller with many requests keeps `compile_policy`'s guard."""
    return compile_policy(policy, tools).check(request, state)


def _with_short_names(request: Request) -> Request:
    """Return the request with its names cut where they are longer than any that a policy may hold."""
    names = (request.name, request.key, request.model, request.provider, request.address, request.server)
    if sum(map(len, names)) <= LONGEST_NAME:
        return request
    name, key, model, provider, address, server = (each[:LONGEST_NAME] for each in names)
    return replace(request, name=name, key=key, model=model, provider=provider, address=address, server=server)


def _findings(rule: _Asked, look: Look, deadline_ms: int) -> Iterator[Finding]:
    """Yield what a rule finds; what keeps it from telling is a finding, too."""
    try:
        look.pause()
        if rule.reads_values and look.too_large:
            yield Finding(look.too_large, "It is too large to be looked at.", is_unknown=True)
            return
        yield from islice(rule.test(look), MOST_REASONS)
    except Late:
        yield Finding("", f"The rule was not asked to its end within {deadline_ms:,} ms.", is_unknown=True)
    except Exception as error:  # noqa: BLE001 (a rule that breaks lets no call pass, and stops none of the others)
        yield Finding("", f"The rule could not be asked: {type(error).__name__}.", is_unknown=True)


class _Answers:
    """Collects what rules find."""

    def __init__(self, *, refuses_unknown: bool) -> None:
        self._refuses_unknown = refuses_unknown
        self._reasons: list[Reason] = []
        self._would_refuse: list[Reason] = []
        self._unanswered: list[Reason] = []

    def add(self, rule: _Asked, findings: Iterable[Finding]) -> None:
        """Take what a rule finds, by its mode."""
        for finding in findings:
            reason = Reason(rule.name, finding.pointer, finding.sentence)
            if finding.is_unknown:
                self._unanswered.append(reason)
                if not self._refuses_unknown:
                    continue
            (self._reasons if rule.mode == "enforce" else self._would_refuse).append(reason)

    def decision(self) -> Decision:
        """Return the decision: a call passes without a reason against it."""
        if not (self._reasons or self._would_refuse or self._unanswered):
            return ALLOWED
        return Decision(not self._reasons, tuple(self._reasons), tuple(self._would_refuse), tuple(self._unanswered))
