"""Decide who may do what with traces."""

from __future__ import annotations

from toolevals.workspace.access import Audience, Rule
from toolevals.workspace.models import Role

RULES = {
    "traces-intake:traces": Rule(Audience.SENDER),
    "traces:traces": Rule(Role.VIEWER),
    "traces:traces-csv": Rule(Role.VIEWER),
    "traces:promote": Rule(Role.ADJUDICATOR),
    "traces:settings": Rule(Role.OWNER),
    "traces:tools": Rule(Role.VIEWER),
    "traces:tools-csv": Rule(Role.VIEWER),
    "traces:trace": Rule(Role.VIEWER),
    "traces:span": Rule(Role.VIEWER),
    "traces-api:traces": Rule(Role.VIEWER),
    "traces-api:tools": Rule(Role.VIEWER),
    "traces-api:trace": Rule(Role.VIEWER),
}
