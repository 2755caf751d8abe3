"""Serve reports in the REST interface: the same analyses as the pages and the CSV files."""

from __future__ import annotations

from datetime import date

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from reports.analyses.layers import layers_of, noisy_rows
from reports.analyses.modes import failure_modes, tag_counts
from reports.analyses.sentence import sentence
from reports.api.serializers import (
    LayersSerializer,
)
from reports.filters.case_filters import EXAMPLE_STRATA, STATUSES, TEXTS, Effect, Split
from reports.pages.run_header import graded, run_head
from reports.queries.grading import grading_sums, verdict_counts
from reports.queries.label_noise import grading_noise
from toolevals.runs.counts.counted_cases import Unit, View
from toolevals.runs.models import Grading
from toolevals.runs.rereading.results import grading_reread
from toolevals.runs.runs.serializers import noise_document, score_document
from toolevals.workspace.api.base import ProjectView

STRATA = {name: TEXTS[name] for name in ("bucket", "difficulty", *EXAMPLE_STRATA)}
GRADING = OpenApiParameter("grading", int, description="The number of a grading; by default the newest finished one.")
SPLIT = (
    OpenApiParameter(
        "split",
        str,
        enum=[each for each in Split if each],
        description="Divide called classes by the verdict on arguments, classes of both sides by the tools' effect, or "
        "expected classes by the value of `split_argument` in the gold.",
    ),
    OpenApiParameter(
        "split_argument", str, description="With `split=value`: the argument, a JSON pointer or a path with dots."
    ),
)
FILTERS = [
    GRADING,
    OpenApiParameter(
        "view", str, enum=list(View), description="First calls of cases, aligned calls, or sets of tools."
    ),
    OpenApiParameter("unit", str, enum=list(Unit), description="Every trial, or each example by most of its trials."),
    OpenApiParameter(
        "collapse", str, description="Namespaces, or effects that divide, to take together, with commas; * for all."
    ),
    *(OpenApiParameter(name, str, description=f"Only cases of this {words}.") for name, words in STRATA.items()),
    OpenApiParameter("gold", str, description="Only cases whose gold comes from there: agreed, adjudicated, ..."),
    OpenApiParameter("tag", str, description="Only cases with this failure tag."),
    OpenApiParameter("tagged", str, description="Only cases with this tag of the team's."),
    OpenApiParameter("arguments", str, enum=list(STATUSES), description="Only cases with this verdict on arguments."),
    OpenApiParameter("argument", str, description="Only cases that called with this argument, a JSON pointer."),
    OpenApiParameter("value", str, description="With `argument`: only those with this JSON value."),
    OpenApiParameter("tools", str, enum=list(Effect), description="Only cases whose expected tool does this."),
    OpenApiParameter("turn", int, description="Only cases in which the user has written so many messages."),
    OpenApiParameter("trial", int, description="Only this trial, from 1."),
    OpenApiParameter("since", date, description="Only cases answered on this day (UTC) or later."),
    OpenApiParameter("until", date, description="Only cases answered on this day (UTC) or before."),
]


class RunReportView(ProjectView):
    """A report on one grading of one run."""

    def grading(self, number: int) -> Grading:
        return graded(run_head(self.access, number, "run"))


class LayersView(RunReportView):
    """The layers where a run's cases are lost, and how."""

    @extend_schema(parameters=[GRADING], responses=LayersSerializer)
    def get(self, request: Request, number: int) -> Response:
        grading = self.grading(number)
        counts = verdict_counts(grading)
        layers, modes = layers_of(counts, grading_sums(grading)), failure_modes(counts.get("mode", {}))
        tags = tag_counts(counts.get("tag", {}))
        noise = grading_noise(grading)
        document = {
            "layers": noisy_rows(layers, noise),
            "cases": layers.cases,
            "label_noise": noise_document(noise, layers.outcome.rate.value),
            "corrected": score_document(grading_reread(grading)),
            "sentence": sentence(layers, modes),
            "failure_counts": {tag.tag: tag.count for tag in tags},
            "failure_tags": tags,
            "failure_modes": modes,
        }
        return Response(LayersSerializer(document).data)
