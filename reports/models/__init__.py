"""What reports keep: gates that runs were held against, suspect labels, other tools' verdicts, published scores."""

from reports.models.dialects import DialectCase, DialectReading
from reports.models.gates import GateBadge, HeldGate
from reports.models.public_scores import PublicScore
from reports.models.suspects import Suspect, SuspectCount

__all__ = ["DialectCase", "DialectReading", "GateBadge", "HeldGate", "PublicScore", "Suspect", "SuspectCount"]
