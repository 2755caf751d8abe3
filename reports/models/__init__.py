"""Say what reports keep: gates that checked runs, suspect labels, other verdicts, published scores, issues, rates."""

from reports.dialects.models import DialectCase, DialectReading
from reports.gates.models import GateBadge, GatePreview, HeldGate, NamedGate
from reports.guard.models import PolicyRates, PolicyRefusal, RefusalMark
from reports.issues.models import Issue, IssueCase, IssueEvent, IssueGathering, IssueState, IssueTrace
from reports.public_scores.models import PublicScore
from reports.suspects.models import Suspect, SuspectCount

__all__ = [
    "DialectCase",
    "DialectReading",
    "GateBadge",
    "GatePreview",
    "HeldGate",
    "Issue",
    "IssueCase",
    "IssueEvent",
    "IssueGathering",
    "IssueState",
    "IssueTrace",
    "NamedGate",
    "PolicyRates",
    "PolicyRefusal",
    "PublicScore",
    "RefusalMark",
    "Suspect",
    "SuspectCount",
]
