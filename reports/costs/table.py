"""Define the table of what calls took; docs/tables.md describes its columns."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from toolevals.presentation.table import Column, Table

_STATS: Final = ("p50", "p95", "p99", "most")
_CASE_VALUE: Final = Table(
    "CaseValue",
    "A value, and the case that has it; of a percentile between two calls, the case of the upper one.",
    (Column("value", float), Column("case", UUID)),
)
_TIMING: Final = Table(
    "CallTiming",
    "Percentiles in milliseconds over the `known` times that were recorded; null without any.",
    (Column("known", int), *(Column(stat, _CASE_VALUE, optional=True) for stat in _STATS)),
    (
        ("_recorded", "known"),
        *(
            (f"_{stat}_{what}", f"{stat}.{part}")
            for stat in _STATS
            for what, part in (("ms", "value"), ("case", "case"))
        ),
    ),
)
_AMOUNT: Final = Table(
    "CallAmount",
    "The sum of the shares of the `known` calls whose step recorded it, null without any, and the largest share.",
    (Column("known", int), Column("total", float, optional=True), Column("most", _CASE_VALUE, optional=True)),
    (("_recorded", "known"), ("", "total"), ("_most", "most.value"), ("_most_case", "most.case")),
)
SPENDING: Final = Table(
    "ToolSpent",
    "The cost of calls to one tool: `execution_ms` of the tool, `step_ms` of the model's steps that called it.",
    (
        Column("tool"),
        Column("calls", int),
        Column("steps", int, words="Turns of the model in which it was called."),
        *(Column(name, _TIMING, f"{name}_ms", only="file") for name in ("execution", "step")),
        *(Column(name, _TIMING, only="answer") for name in ("execution_ms", "step_ms")),
        *(Column(name, _AMOUNT) for name in ("tokens_in", "tokens_out", "cost")),
    ),
)
TOOL_COSTS: Final = Table(
    "ToolCosts",
    "Every tool that was called, and the sums over all of them.",
    (
        Column("calls", int),
        *(Column(name, float, optional=True) for name in ("tokens_in", "tokens_out", "cost")),
        Column("tools", SPENDING, "rows", many="list"),
    ),
)
