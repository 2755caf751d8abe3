"""Makes an online rule of a policy: each recorded call and its result are checked by the same function as in a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from time import monotonic
from typing import Final

from toolevals.grading.guard import Decision, Reason, Request
from toolevals.grading.guard import Policy as Rules
from toolevals.grading.guard.rules.lists import ANY_KEY, KeysRule
from toolevals.grading.guard.transcripts import check_transcript
from toolevals.grading.reading.parsing import transcript_in
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.verdicts import Verdict
from toolevals.registry.models import Policy, PolicyVersion, ToolList
from toolevals.registry.policies.offered import PolicyGuards
from toolevals.registry.policies.queries import tools_of
from toolevals.registry.tool_lists import tools_in
from toolevals.traces.models import SpanVerdict, TracePolicy
from toolevals.traces.reading.calls import UsedTool, span_ids_of_calls
from toolevals.traces.reading.limits import Limits
from toolevals.traces.reading.rules import POLICY_RULE, Rule
from toolevals.traces.reading.traces import TraceReading
from toolevals.workspace.models import Project

# What the checks of one trace may take together, in seconds.
LONGEST: Final = 5
_NO_CONVERSATION: Final = "Not checked: no span tells of a conversation that can be read."
_NOT_TOLD: Final = "Not checked: the conversation does not tell of this call."
_NO_TOOLS: Final = "Not checked: the trace does not say which tools were offered, and the policy has no registry."


def policy_rules(project: Project) -> list[Rule]:
    """Return the rules of the policies that a project's traces are checked by, or were."""
    return [policy_rule(each.policy) for each in TracePolicy.objects.in_project(project)]


def policy_rule(policy: Policy) -> Rule:
    """Return the rule of a policy: by its version in force, by the newest where none is."""
    version = policy.active or policy.versions.order_by("-number").first()
    assert version is not None  # A policy is made with its first version.
    version.policy = policy
    name = f"{POLICY_RULE}{policy.slug}"
    return Rule(name, version.number, f"The policy {policy.name} refuses nothing", "tool", _Check(version))


def kept_rule(verdict: SpanVerdict) -> Rule:
    """Return the rule of a policy's verdict that is kept, with the version that it was made by."""
    name = verdict.rule.removeprefix(POLICY_RULE)
    return Rule(verdict.rule, verdict.version, f"The policy {name} refuses nothing", "tool", _no_verdicts)


def _no_verdicts(*_: object) -> Iterator[tuple[str, Verdict]]:
    yield from ()


class _Check:
    """Checks traces by one version of a policy, which it reads when it is first asked."""

    def __init__(self, version: PolicyVersion) -> None:
        self._version = version

    def __call__(self, trace: TraceReading, used: Sequence[UsedTool], _: Limits) -> Iterator[tuple[str, Verdict]]:
        if (reason := self._unreadable(trace)) is not None:
            root = trace.root
            yield root.span.span_id if root else "", _unscored(reason)
        elif used:
            yield from self._calls(trace, used)

    @cached_property
    def _rules(self) -> Rules:
        """The policy as it is asked of traces: what cannot be told counts for no rule."""
        rules = Rules.from_document(self._version.document)
        return replace(rules, on_error="allow", deadline_ms=1000 * LONGEST)

    @cached_property
    def _without_key(self) -> list[str]:
        """The rules that ask for a key, which a trace does not have."""
        return [
            name
            for name, each in sorted(self._rules.rules.items())
            if each.mode != "off" and isinstance(each.rule, KeysRule) and ANY_KEY not in each.rule.keys
        ]

    @cached_property
    def _guards(self) -> PolicyGuards:
        asked = {name: each for name, each in self._rules.rules.items() if name not in self._without_key}
        return PolicyGuards(self._version, rules=replace(self._rules, rules=asked))

    @cached_property
    def _registered(self) -> Sequence[ToolSpec]:
        tools = tools_of(self._version.policy)
        return tools_in(ToolList.objects.get(pk=tools)) if tools else ()

    def _unreadable(self, trace: TraceReading) -> str | None:
        if trace.entry is None:
            return _NO_CONVERSATION
        if (error := trace.transcript.error) is not None:
            return f"Not checked: {error}"
        asked = [each.rule.kind for each in self._rules.rules.values() if each.mode != "off"]
        if not asked:
            return "Not checked: every rule of this version is off."
        return _NO_TOOLS if "schema" in asked and not (trace.tools or self._registered) else None

    def _calls(self, trace: TraceReading, used: Sequence[UsedTool]) -> Iterator[tuple[str, Verdict]]:
        messages = trace.given.get("messages")
        given = transcript_in(messages if isinstance(messages, list) else []).messages
        models = {each.reading.model for each in trace.spans if each.reading.kind == "model" and each.reading.model}
        asked = Request(model=models.pop()) if len(models) == 1 else Request()
        until = monotonic() + LONGEST
        decisions: dict[int, list[Decision]] = {}
        guard = self._guards.of(trace.tools or self._registered)
        for each in check_transcript(guard, trace.transcript, given, asked, lambda: monotonic() > until):
            decisions.setdefault(each.call, []).append(each.decision)
        spans = span_ids_of_calls(trace)
        for place, (span_id, call) in enumerate(zip(spans, trace.transcript.calls, strict=True)):
            yield span_id, self._verdict(call.name or "", decisions.get(place, ()))
        yield from ((each.span_id, _unscored(_NOT_TOLD)) for each in used if each.span_id and each.span_id not in spans)

    def _verdict(self, tool: str, decisions: Sequence[Decision]) -> Verdict:
        refused = [reason for each in decisions for reason in (*each.reasons, *each.would_refuse)]
        unanswered = [reason for each in decisions for reason in each.unanswered]
        words = [f"{self._place(each)}: {each.sentence}" for each in refused or unanswered]
        if refused:
            return Verdict("failed", 0.0, _joined(tool, words))
        if self._without_key:
            words.append(f"{self._without_key[0]} /key: A trace has no key, and the rule has no lists for any key.")
        return _unscored(_joined(tool, words)) if words else Verdict("passed", 1.0)

    def _place(self, reason: Reason) -> str:
        """Return the rule of a reason, marked where it is in audit, and the pointer."""
        audit = "(audit)" if self._rules.rules[reason.rule].mode == "audit" else ""
        return " ".join(filter(None, (reason.rule, audit, reason.pointer)))


def _joined(tool: str, words: Sequence[str]) -> str:
    """Return reasons as one text: how many there are comes before what may be cut."""
    count = f" ({len(words)} reasons)" if len(words) > 1 else ""
    return f"{tool}{count}: {' '.join(words)}"


def _unscored(reason: str) -> Verdict:
    return Verdict("unscored", None, reason)
