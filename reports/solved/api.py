"""Show which agents solve which examples, in the REST interface."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reports.solved.analysis import SORTS, Show
from reports.solved.table import AGENTS, SOLVED, SolvedFilters, matrix_of, solved_rows
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.tables import serializer_of


class SolvedSerializer(PlainSerializer):
    """A page of examples: `count` examples in all; `left_out` are runs that have no column."""

    count = serializers.IntegerField()
    runs = serializers.ListField(child=serializers.IntegerField())
    left_out = serializers.ListField(child=serializers.IntegerField())
    cells = serializer_of(SOLVED)(many=True)
    agents = serializer_of(AGENTS)(many=True)


class SolvedView(ProjectView):
    """The agents that solve each example, over any number of runs of one dataset, 50 examples a page."""

    @extend_schema(
        parameters=[
            OpenApiParameter("runs", str, description="Numbers of runs, separated by commas; else the newest."),
            OpenApiParameter("dataset", str, description="Runs of this dataset."),
            OpenApiParameter("experiment", str, description="Runs of this experiment."),
            OpenApiParameter("layer", str, enum=list(VERDICT_NAMES), description="The verdict that says solved."),
            OpenApiParameter("by", str, enum=["run"], description="A row for each run instead of each agent."),
            OpenApiParameter("sort", str, description=f"Order: {', '.join(SORTS)}, or agent- and an agent's id."),
            OpenApiParameter(
                "show", str, enum=list(Show), description="Only examples that this number of agents solve."
            ),
            OpenApiParameter("page", int, description="Which page, from 1."),
        ],
        responses=SolvedSerializer,
    )
    def get(self, request: Request) -> Response:
        filters = SolvedFilters.of(request.query_params)
        runs, matrix = matrix_of(self.project, filters)
        document = {
            "count": len(matrix.places(filters.show)),
            "runs": [run.number for run in runs.runs],
            "left_out": runs.left_out,
            "cells": list(solved_rows(matrix, filters, filters.page)),
            "agents": matrix.agents,
        }
        return Response(SolvedSerializer(document).data)
