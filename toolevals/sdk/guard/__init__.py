"""Ask a project's policy about each call of a tool, in the agent's process and without network.

    from toolevals.sdk.guard import Guard

    guard = Guard("https://toolevals.example.org", "te_...", project="shop", public_key="...")
    client = guard.openai(OpenAI())

    @guard.protect
    def issue_refund(order_id: str, amount: float) -> str: ...

The policy is a signed file that is renewed in a thread. `Guard.check` gives the decision that the server gives.
"""

from importlib.util import find_spec

if find_spec("cryptography") is None:
    raise ImportError("the guard needs cryptography: pip install 'toolevals[sdk]'")

from toolevals.grading.guard import NO_RESULT, Decision, PastCall, Reason, Request, State
from toolevals.sdk.guard.guarding import Conversation, Guard
from toolevals.sdk.guard.policy_file import PolicyFile, PolicyFileError
from toolevals.sdk.guard.refusals import RefusedCall

__all__ = [
    "NO_RESULT",
    "Conversation",
    "Decision",
    "Guard",
    "PastCall",
    "PolicyFile",
    "PolicyFileError",
    "Reason",
    "RefusedCall",
    "Request",
    "State",
]
