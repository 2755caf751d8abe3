"""Say what reports keep: gates that runs were checked by, suspect labels, other tools' verdicts, published scores."""

from reports.models.dialects import DialectCase, DialectReading
from reports.models.gates import GateBadge, GatePreview, HeldGate, NamedGate
from reports.models.public_scores import PublicScore
from reports.models.suspects import Suspect, SuspectCount

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
