"""Say what reports keep: gates that runs were checked by, suspect labels, other tools' verdicts, published scores."""

from reports.dialects.models import DialectCase, DialectReading
from reports.gates.models import GateBadge, GatePreview, HeldGate, NamedGate
from reports.public_scores.models import PublicScore
from reports.suspects.models import Suspect, SuspectCount

__all__ = [
    "DialectCase",
    "DialectReading",
    "GateBadge",
    "GatePreview",
    "HeldGate",
    "NamedGate",
    "PublicScore",
    "Suspect",
    "SuspectCount",
]
