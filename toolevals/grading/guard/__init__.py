"""Decide by a policy if a call may be made and its result be read: pure functions on plain values.

Time and counts come in with the `State`; nothing here has a clock, a database or a network.
"""

from toolevals.grading.guard.check import Guard, check, compile_policy
from toolevals.grading.guard.conversation import GuardedConversation
from toolevals.grading.guard.policy import Policy, PolicyRule
from toolevals.grading.guard.request import NO_RESULT, Decision, PastCall, Reason, Request, State

__all__ = [
    "NO_RESULT",
    "Decision",
    "Guard",
    "GuardedConversation",
    "PastCall",
    "Policy",
    "PolicyRule",
    "Reason",
    "Request",
    "State",
    "check",
    "compile_policy",
]
