"""Define the tables of error recovery; docs/tables.md describes their columns."""

from __future__ import annotations

from typing import Final

from reports.cases.table import whose
from toolevals.grading.layers.recovery import ERROR_CLASSES, REACTIONS
from toolevals.presentation.table import RATE, Column, Table, beneath, in_file

TALLY: Final = Table(
    "Tally",
    "Failures of some kind: `rate` of those dealt with rightly, `recovery` of those answered well in the end.",
    (
        Column("rate", RATE, only="answer"),
        Column("recovery", RATE, only="answer"),
        Column("episodes", int, only="file"),
        Column("unscored", int),
        Column("right", int, only="file"),
        Column("rate", RATE, only="file"),
        Column("recovered", int, only="file"),
        Column("bad_answers", int),
        Column("errors", int, only="file"),
        Column("error_answers", int, "errors", only="answer"),
        Column("identical_retries", int),
    ),
)
FAILURES: Final = Table(
    "ErrorClass",
    "The failures of one tool with errors of one class.",
    (
        Column("tool", only="file"),
        Column("error_class", only="file"),
        *beneath("tally", TALLY.columns),
        Column("error_class", tuple(ERROR_CLASSES), only="answer"),
        Column("tool_answers", int, "answers", only="file"),
    ),
)
FAILING_TOOLS: Final = Table(
    "FailingTool",
    "One tool that failed: the rate of errors among its answers, and its failures by class.",
    (
        Column("tool"),
        Column("error_rate", RATE),
        Column("whole", TALLY),
        Column("error_classes", FAILURES, "failures", many="list", read_only=True),
    ),
)
FOLLOWED: Final = Table(
    "Reaction",
    "The reaction to a failure, and how many it followed.",
    (
        Column("reaction", tuple(REACTIONS)),
        Column("sentence"),
        Column("whole", TALLY, "tally", only="answer"),
        *in_file(beneath("tally", TALLY.columns)),
    ),
)
EPISODES: Final = Table(
    "Episode",
    "One failure of a tool and what followed; `score` is 1, 0.5 or 0, null where no rule can tell.",
    (
        *whose("case_id", "case."),
        Column("number", int),
        *(Column(name, None) for name in ("tool", "error_class", "reaction")),
        Column("score", float, optional=True),
        Column("recovered", bool),
        Column("bad_answers", int, "failures"),
        Column("errors", int, only="file"),
        Column("error_answers", int, "errors", only="answer"),
        Column("identical_retries", int),
    ),
)
RECOVERY: Final = Table(
    "Recovery",
    "The reactions of the agent to failures of tools.",
    (
        Column("cases_with_errors", int),
        Column("error_rate", RATE),
        Column("whole", TALLY),
        Column("tools", FAILING_TOOLS, many="list"),
        Column("reactions", FOLLOWED, many="list"),
    ),
)
