"""Define the tables of issues; docs/tables.md describes the columns of the files."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import UUID

from reports.issues.models import IssueState
from toolevals.grading.failures import LAYERS
from toolevals.presentation.table import Column, Table, beneath

STATES: Final = tuple(IssueState.values)
_FAILURE: Final = (
    Column("layer", LAYERS),
    *(Column(name) for name in ("mode", "tool", "other", "argument", "error_class", "error_text")),
)
_ISSUE: Final = (
    Column("issue_id", UUID, "issue.pk"),
    Column("name", str, "issue.name"),
    Column("state", STATES, "issue.state"),
    Column("cases", int),
    Column("runs", int),
    Column("traces", int),
    Column("newest_agent_cases", int, "newest"),
    Column("category"),
    Column("kind", str, "issue.kind"),
    *beneath("issue", _FAILURE),
    Column("owner"),
    Column("due_on"),
    Column("fixed_in"),
    Column("fixed_from_run", int, "issue.fixed_from", optional=True),
    Column("first_seen", datetime, "issue.first_seen"),
    Column("last_seen", datetime, "issue.last_seen"),
)
ISSUE: Final = Table(
    "Issue",
    "A named problem: the cases and traces that fail in one way, cases counted in the newest grading of their run.",
    _ISSUE,
)
PAGE: Final = Table(
    "Issues",
    "One page of a project's issues.",
    (*(Column(name, int) for name in ("count", "pages")), Column("results", ISSUE, many="list")),
)
CASE: Final = Table(
    "IssueCase",
    "A case that fails so.",
    (Column("case_id", UUID, "case"), Column("run", int), Column("agent"), Column("external_id", str, "example"),
     Column("at", datetime)),
)  # fmt: skip
TRACE: Final = Table(
    "IssueTrace",
    "A trace of production that fails so.",
    (
        Column("trace_id", UUID, "pk"),
        Column("agent"),
        Column("agent_version"),
        Column("session"),
        Column("user", str, "end_user"),
        Column("request"),
        Column("at", datetime, "created_at"),
    ),
)
_SHARE: Final = (Column("seen", int, "share.seen"), Column("graded", int, "share.cases"))
_BY_AGENT: Final = Table(
    "IssueByAgent",
    "How many of the graded cases of one agent, on the datasets where the issue was seen, fail so.",
    (Column("agent_id", UUID, "agent"), Column("name"), Column("run", int), *_SHARE),
)
_BY_VERSION: Final = Table(
    "IssueByVersion",
    "How many of the traces of one version of an agent fail so.",
    (Column("agent"), Column("version"), Column("seen", int), Column("traces", int)),
)
_EVENT: Final = Table(
    "IssueEvent",
    "One act in the history of an issue; without an actor the application did it.",
    (Column("verb"), Column("actor", str, optional=True), Column("at", datetime), Column("detail", dict)),
)
WHOLE: Final = Table(
    "IssueWhole",
    "An issue with its counts by agent, what can be done about it, its newest cases and traces, and its history.",
    (
        *beneath("row", _ISSUE),
        Column("merged_into", UUID, optional=True),
        Column("immediate_fix"),
        Column("lasting_fix"),
        Column("by_agent", _BY_AGENT, many="list"),
        Column("newest_cases", CASE, many="list"),
        Column("users", int, "touched.users"),
        Column("sessions", int, "touched.sessions"),
        Column("by_version", _BY_VERSION, many="list"),
        Column("newest_traces", TRACE, many="list"),
        Column("history", _EVENT, many="list"),
    ),
)
