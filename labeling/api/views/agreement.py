"""Show how far the reviewers of a dataset agree, and the cases behind the figures."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from labeling import services
from labeling.agreement.cache import agreement_counted
from labeling.agreement.cases import Asked, case_page, names_of
from labeling.agreement.filling import labels_read
from labeling.agreement.filters import Filters
from labeling.agreement.report import Agreement as Figures
from labeling.api.base import LabelingView
from labeling.api.serializers.agreement import (
    AgreementCasesSerializer,
    AgreementFiltersSerializer,
    AgreementReportSerializer,
    AskedCasesSerializer,
)
from labeling.views.agreement_rows import askable, people_told
from toolevals.workspace.models import Role


class Agreement(LabelingView):
    """How far the labels of a dataset's resolved examples agree, and each person against decisions."""

    @extend_schema(parameters=[AgreementFiltersSerializer], responses=AgreementReportSerializer)
    def get(self, request: Request, dataset: str) -> Response:
        dataset_row = self.find_dataset(dataset)
        services.settle_due(project=self.project)
        filters = Filters.asked(request.query_params.dict(), names=self.role == Role.OWNER)
        counted = agreement_counted(dataset_row, filters, actor=self.user)
        answer = {
            "counted_at": counted.counted_at,
            "job": counted.job.pk if counted.job else None,
            "figures": self._figures(counted.agreement) if counted.agreement else None,
        }
        return Response(AgreementReportSerializer(answer).data)

    def _figures(self, figures: Figures) -> dict[str, Any]:
        told = people_told(figures, self.user, self.role)
        return {
            "labels": figures.labels,
            "units": figures.units,
            "alone": figures.alone,
            "tool": figures.tool,
            "whole_label": figures.whole,
            "arguments": figures.arguments,
            "each_argument": figures.each_argument,
            "matrix": [
                {"one": one, "other": other, "units": count} for (one, other), count in sorted(figures.cells.items())
            ],
            "periods": figures.periods,
            "all_pairs": figures.pairs,
            "reviewers": [row for row in figures.reviewers if row.reviewer in told],
        }


class AgreementCases(LabelingView):
    """The units behind a figure, newest examples first, with what each label says."""

    @extend_schema(parameters=[AskedCasesSerializer], responses=AgreementCasesSerializer)
    def get(self, request: Request, dataset: str) -> Response:
        dataset_row = self.find_dataset(dataset)
        labels_read(dataset_row)
        query = request.query_params.dict()
        filters = Filters.asked(query, names=self.role == Role.OWNER)
        asked = Asked.read(query, of=askable(self.user, self.role, query.get("of", "")))
        page = case_page(dataset_row, filters, asked, query.get("before", ""))
        more = urlencode({**filters.parameters, **asked.parameters, "before": page.older})
        names = names_of(page.units)
        rows = [
            {"unit": unit, "example": example, "external_id": name}
            for unit in page.units
            for example, name in [names[unit.revision]]
        ]
        answer = {"next": request.build_absolute_uri(f"?{more}") if page.older else None, "results": rows}
        return Response(AgreementCasesSerializer(answer).data)
