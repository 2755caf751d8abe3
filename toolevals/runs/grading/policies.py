"""Work out what the policy of a grading would have refused of a conversation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toolevals.grading.guard.transcripts import check_transcript
from toolevals.grading.reading.parsing import transcript_in
from toolevals.grading.values import Refusal, ToolSpec, Transcript
from toolevals.json_types import JsonMapping
from toolevals.registry.policies.offered import PolicyGuards
from toolevals.runs.models import Grading


def guards_of(grading: Grading) -> PolicyGuards | None:
    """Return the policy that a grading was asked for with, compiled; None without one."""
    if grading.policy is None:
        return None
    agent = grading.run.agent
    return PolicyGuards(grading.policy, model=agent.model, provider=agent.connector)


def with_policy(did: Transcript, guards: PolicyGuards, tools: Sequence[ToolSpec], example: JsonMapping) -> Transcript:
    """Return a transcript with what a policy would have refused of its calls and results, after what was refused."""
    before = transcript_in(example["messages"]).messages
    wanted = [(place, call) for place, message in enumerate(did.messages) for call in message.calls]
    found = []
    for each in check_transcript(guards.of(tools), did, before, guards.asked):
        if not each.decision.allowed:
            place, call = wanted[each.call]
            reasons = tuple(reason.to_document() for reason in each.decision.reasons)
            found.append(Refusal(call, place, reasons, was_made=True))
    return replace(did, refusals=(*(did.refusals or ()), *found))
