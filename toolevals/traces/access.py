"""Decide who may do what with traces."""

from __future__ import annotations

from toolevals.workspace.access import Audience, Rule
from toolevals.workspace.models import Role

RULES = {
    "traces-intake:traces": Rule(Audience.SENDER),
    "traces-intake:logs": Rule(Audience.SENDER),
    "traces:traces": Rule(Role.VIEWER),
    "traces:traces-csv": Rule(Role.VIEWER),
    **dict.fromkeys(
        (
            "traces:promote",
            "traces:promotions",
            "traces:today",
            "traces-api:today",
            "traces:promotion",
            "traces:promotion-make",
            "traces:promotion-drop",
            "traces:promotion-undo",
            "traces:schedule-new",
            "traces:schedule",
            "traces-api:promotions",
            "traces-api:promotion",
            "traces-api:promotion-make",
            "traces-api:promotion-drop",
            "traces-api:promotion-undo",
            "traces-api:schedules",
            "traces-api:schedule",
        ),
        Rule(Role.ADJUDICATOR),
    ),
    **dict.fromkeys(
        (
            "traces:settings",
            "traces:judges",
            "traces:judges-csv",
            "traces:judge",
            "traces:scores",
            "traces-api:scores",
            "traces-api:judges",
            "traces-api:judge",
        ),
        Rule(Role.OWNER),
    ),
    "traces:tools": Rule(Role.VIEWER),
    "traces:tools-csv": Rule(Role.VIEWER),
    "traces:tool-changes-csv": Rule(Role.VIEWER),
    "traces-api:tool-changes": Rule(Role.VIEWER),
    "traces:costs": Rule(Role.VIEWER),
    "traces:costs-csv": Rule(Role.VIEWER),
    "traces-api:costs": Rule(Role.VIEWER),
    "traces:rules": Rule(Role.VIEWER),
    "traces:rules-csv": Rule(Role.VIEWER),
    "traces-api:rules": Rule(Role.VIEWER),
    "traces:verdicts-csv": Rule(Role.VIEWER),
    "traces:verdicts-jsonl": Rule(Role.VIEWER),
    "traces-api:verdicts": Rule(Role.VIEWER),
    "traces:trace": Rule(Role.VIEWER),
    "traces:span": Rule(Role.VIEWER),
    "traces-api:traces": Rule(Role.VIEWER),
    "traces-api:tools": Rule(Role.VIEWER),
    "traces-api:trace": Rule(Role.VIEWER),
}
