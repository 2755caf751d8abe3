"""What reports keep: gates that runs were held against, suspect labels, other tools' verdicts."""

from reports.models.dialects import DialectCase, DialectReading
from reports.models.gates import GateBadge, HeldGate
from reports.models.suspects import Suspect, SuspectCount

__all__ = ["DialectCase", "DialectReading", "GateBadge", "HeldGate", "Suspect", "SuspectCount"]
