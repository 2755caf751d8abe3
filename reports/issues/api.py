"""Serve issues in the REST interface."""

from __future__ import annotations

from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from reports.issues.figures import by_agent, touched_by, versions_of
from reports.issues.models import IssueState
from reports.issues.queries import (
    CASES_A_PAGE,
    CHANGES,
    SORTS,
    IssueFilter,
    case_row,
    issue_cases,
    issue_or_404,
    issue_page,
    issue_traces,
    row_of,
)
from reports.issues.table import PAGE, WHOLE
from toolevals.grading.failures import LAYERS, fixes_of
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.tables import serializer_of


class IssuesView(ProjectView):
    """The project's issues, those that came back first."""

    @extend_schema(
        operation_id="projects_issues_list",
        parameters=[
            OpenApiParameter("state", str, enum=IssueState.values),
            OpenApiParameter("layer", str, enum=list(LAYERS)),
            OpenApiParameter("tool", str),
            OpenApiParameter("agent", str, description="The name of an agent in whose runs they are."),
            OpenApiParameter("q", str, description="A part of the name or of the error's text."),
            OpenApiParameter("run", int, description="The number of a run that they are in."),
            OpenApiParameter("change", str, enum=list(CHANGES), description="What they are in that run."),
            OpenApiParameter("sort", str, enum=list(SORTS)),
            OpenApiParameter("page", int, description="From 1; of 25."),
        ],
        responses=serializer_of(PAGE),
    )
    def get(self, request: Request) -> Response:
        page = issue_page(self.project, IssueFilter.of_address(request.query_params.dict()))
        document = {"count": page.count, "pages": page.pages, "results": page.rows}
        return Response(serializer_of(PAGE)(document).data)


class IssueView(ProjectView):
    """One issue with its figures, its newest cases and traces, and its history."""

    @extend_schema(responses=serializer_of(WHOLE))
    def get(self, _request: Request, issue: UUID) -> Response:
        found = issue_or_404(self.project, issue)
        fixes = fixes_of(found.failure)
        document = {
            "row": row_of(found),
            "merged_into": found.merged_into_id,
            "immediate_fix": fixes.immediate,
            "lasting_fix": fixes.lasting,
            "by_agent": by_agent(found),
            "newest_cases": [case_row(each) for each in issue_cases(found)[:CASES_A_PAGE]],
            "touched": touched_by(found),
            "by_version": [
                {"agent": agent, "version": version, "seen": share.seen, "traces": share.cases}
                for (agent, version), share in versions_of(found).items()
            ],
            "newest_traces": issue_traces(found, self.role)[:CASES_A_PAGE],
            "history": [
                {
                    "verb": event.verb,
                    "actor": event.actor.name if event.actor else None,
                    "at": event.at,
                    "detail": event.detail,
                }
                for event in found.events.select_related("actor").order_by("at", "pk")
            ],
        }
        return Response(serializer_of(WHOLE)(document).data)
