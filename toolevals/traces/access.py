"""Who may do what with traces."""

from __future__ import annotations

from toolevals.workspace.access import Audience, Rule

RULES = {
    "traces-intake:traces": Rule(Audience.SENDER),
}
