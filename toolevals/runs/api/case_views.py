"""Serve graded cases in the REST interface."""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from toolevals.runs.api.serializers import CaseDetailSerializer, CaseSerializer
from toolevals.runs.api.views import RunView
from toolevals.runs.models import CaseGrade, Grading
from toolevals.runs.scope.requested_grading import asked_grading

GRADING = OpenApiParameter("grading", int, description="The number of a finished grading; by default the newest.")
FILTERS = ("expected", "actual", "mode", "outcome")


class CaseView(RunView):
    """The base of the views of cases."""

    def grading(self, number: int) -> Grading:
        """Return the finished grading that is asked for. Raises `Http404`."""
        shown_grading = asked_grading(self.find(number), self.request.query_params.get("grading", ""))
        if shown_grading is None:
            raise Http404
        return shown_grading


@extend_schema_view(get=extend_schema(parameters=[GRADING, *(OpenApiParameter(name, str) for name in FILTERS)]))
class Cases(CaseView, ListAPIView[CaseGrade]):
    """The cases of a grading, in pages."""

    serializer_class = CaseSerializer
    queryset = CaseGrade.objects.none()

    def get_queryset(self) -> QuerySet[CaseGrade]:
        wanted = {name: self.request.query_params.get(name, "") for name in FILTERS}
        return CaseGrade.objects.filter(grading=self.grading(self.kwargs["number"])).matching(**wanted).with_example()


class CaseDetail(CaseView):
    """One case in full."""

    @extend_schema(responses=CaseDetailSerializer)
    def get(self, request: Request, number: int, case: UUID) -> Response:
        cases = CaseGrade.objects.select_related(
            "transcript__entry__revision__example",
            "transcript__entry__revision__tools",
            "grading__run__agent__tools__tools",
        )
        row = get_object_or_404(cases, pk=case, grading__run=self.find(number))
        return Response(CaseDetailSerializer(row).data)
