"""Serve the tables of a run in the REST interface, each as its file has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from reports.analyses.matrix import Order
from reports.analyses.tool_costs import By
from reports.api.views import FILTERS, GRADING, SPLIT, RunReportView
from reports.filters.case_filters import text, verdict_column
from reports.matrix.counted import counted_matrix
from reports.matrix.state import read_matrix_state
from reports.pages.tool_costs import grading_tool_costs, read_order
from reports.queries.grading import verdict_counts
from reports.recovery.queries import grading_recovery
from reports.recovery.table import RECOVERY
from reports.run import table as mistakes
from reports.run import table as tables
from reports.run.metrics import metrics_of
from reports.run.overreach import grading_overreach
from reports.run.proxies import grading_proxies
from reports.run.queries import grading_arguments, grading_findings, read_rows, run_readings
from reports.run.recorded import recorded_agreement
from reports.run.tools import tools_of
from reports.tables.spending import TOOL_COSTS
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.presentation.table import Table
from toolevals.runs.models import Grading
from toolevals.workspace.tables import serializer_of

Asked = Mapping[str, str]


def view(
    words: str,
    table: Table,
    read: Callable[[Grading, Asked], Any],
    parameters: tuple[OpenApiParameter, ...] = (),
    *,
    many: bool = False,
) -> type[RunReportView]:
    """Return the view of a table; `read` says what is in it, of a grading and of what the address asks."""
    serializer = serializer_of(table)

    class View(RunReportView):
        @extend_schema(parameters=[GRADING, *parameters], responses=serializer(many=many), description=words)
        def get(self, request: Request, number: int) -> Response:
            return Response(serializer(read(self.grading(number), request.query_params), many=many).data)

    return View


MatrixView = view(
    "The confusion matrix of a run.",
    tables.MATRIX,
    lambda grading, asked: counted_matrix(grading, read_matrix_state(asked)),
    (
        *FILTERS[1:],
        *SPLIT,
        OpenApiParameter("order", str, enum=list(Order), description="Order of the classes."),
        OpenApiParameter("measure", str, enum=["cost"], description="Add up what cases cost, too."),
    ),
)
ToolsView = view(
    "Precision, recall and F1 of each tool of a run.",
    tables.TOOL_TABLE,
    lambda grading, asked: tools_of(counted_matrix(grading, read_matrix_state(asked).undivided)),
    tuple(FILTERS[1:]),
)
ProxiesView = view(
    "The agreement of checks of the calls with the end state; empty where no end state was graded.",
    tables.PROXIES,
    lambda grading, _: grading_proxies(grading),
    many=True,
)
MetricsView = view(
    "The results of each metric of a run.", tables.METRIC_MEANS, lambda grading, _: metrics_of(grading), many=True
)
ReadingsView = view(
    "Return what the file of a run was read as, and what was left out of it or of the agent's answers.",
    tables.RUN_READINGS,
    lambda grading, _: {"rows": list(read_rows(run_readings(grading.run)))},
)
RecordedView = view(
    "A verdict of a run's cases by the rewards that the source of the run recorded.",
    tables.AGREEMENT,
    lambda grading, asked: recorded_agreement(grading, verdict_column(asked, "column")),
    (OpenApiParameter("column", str, enum=list(VERDICT_NAMES), description="By default outcome."),),
)
RecoveryView = view(
    "The reactions of a run's agent to failures of tools.", RECOVERY, lambda grading, _: grading_recovery(grading)
)
ArgumentsView = view(
    "The wrong parameters of each tool, and how they are wrong, most often wrong first.",
    mistakes.ARGUMENTS,
    lambda grading, asked: grading_arguments(grading, text(asked, "tool")),
    (OpenApiParameter("tool", str, description="Only parameters of this tool."),),
    many=True,
)
FindingsView = view(
    "The failures of a run's cases, by tool, and the findings in replies.",
    mistakes.FINDINGS,
    lambda grading, _: grading_findings(grading, verdict_counts(grading)).rows,
    many=True,
)
OverreachView = view(
    "Calls to a tool that does more than the right one, or where none was expected.",
    mistakes.OVERREACH_IN_ALL,
    lambda grading, _: grading_overreach(grading),
)
SpendingView = view(
    "The cost of the calls to each tool of a run.",
    TOOL_COSTS,
    lambda grading, asked: grading_tool_costs(grading, read_order(asked)),
    (OpenApiParameter("order", str, enum=list(By), description="The largest first; by default by cost."),),
)
