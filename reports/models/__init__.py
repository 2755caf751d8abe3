"""What reports keep: gates that runs were held against, and suspect labels."""

from reports.models.gates import GateBadge, HeldGate
from reports.models.suspects import Suspect, SuspectCount

__all__ = ["GateBadge", "HeldGate", "Suspect", "SuspectCount"]
