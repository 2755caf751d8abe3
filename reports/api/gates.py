"""Serve gates in the REST interface: check a run by one, and read the result."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from reports.gates.page import check_counts
from reports.models import HeldGate
from reports.pages.run_header import run_of
from reports.services import GateRequest, gate_hold
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.idempotency.api import idempotent
from toolevals.workspace.jobs.api import JobSerializer

FILTERS = ("experiment", "branch", "status")


class GateRequestSerializer(serializers.Serializer[Any]):
    """The gate to apply to a run: a document, or the name of one that the project keeps. See docs/gates.md."""

    gate = serializers.DictField(required=False, allow_null=True, default=None, help_text="A document of gate.v1.json.")
    name = serializers.CharField(
        max_length=60, required=False, default="", allow_blank=True, help_text="Of a kept gate, in place of gate."
    )
    baseline = serializers.CharField(
        max_length=220,
        required=False,
        default="",
        allow_blank=True,
        help_text="Another run's number, branch:NAME, or last-passing.",
    )
    consistency = serializers.IntegerField(
        required=False, allow_null=True, default=None, min_value=0, max_value=2**31 - 1, help_text="A run's number."
    )
    release_candidate = serializers.BooleanField(required=False, default=False)
    branch = serializers.CharField(max_length=200, required=False, default="", allow_blank=True)
    commit = serializers.CharField(max_length=64, required=False, default="", allow_blank=True)

    def request(self) -> GateRequest:
        return GateRequest(**self.validated_data)


class HeldGateSerializer(serializers.ModelSerializer[HeldGate]):
    """A gate that a run was checked by. `status` is empty until its job is done."""

    run = serializers.IntegerField(source="run.number")
    grading = serializers.IntegerField(source="grading.number")
    experiment = serializers.SlugField(source="run.experiment.slug")
    agent = serializers.CharField(source="run.agent.name")
    dataset = serializers.CharField(source="grading.dataset_version", help_text="As core@3.")
    baseline = serializers.IntegerField(source="baseline.run.number", default=None, allow_null=True)
    consistency = serializers.IntegerField(source="consistency.run.number", default=None, allow_null=True)
    job = serializers.UUIDField(source="job_id", allow_null=True)
    check_counts = serializers.SerializerMethodField(help_text="How many checks have each status that occurs.")

    @extend_schema_field(serializers.DictField(child=serializers.IntegerField()))
    def get_check_counts(self, held: HeldGate) -> dict[str, int]:
        return check_counts(held)

    class Meta:
        model = HeldGate
        fields: tuple[str, ...] = (
            "id",
            "name",
            "run",
            "grading",
            "experiment",
            "agent",
            "dataset",
            "status",
            "baseline",
            "baseline_asked",
            "is_release_candidate",
            "consistency",
            "branch",
            "commit",
            "job",
            "check_counts",
            "created_at",
        )


class GateCheckSerializer(serializers.Serializer[Any]):
    """One condition and how it came out."""

    name = serializers.CharField()
    status = serializers.ChoiceField(choices=["passed", "failed", "warned", "unanswered", "skipped"])
    observed = serializers.FloatField(allow_null=True)
    count = serializers.IntegerField()
    interval = serializers.ListField(child=serializers.FloatField(), allow_null=True, help_text="95 %, low and high.")
    bound = serializers.CharField()
    reason = serializers.CharField()
    metric = serializers.CharField()
    examples = serializers.ListField(
        child=serializers.CharField(), help_text="What kept it from passing, 1,000 at most."
    )
    example_count = serializers.IntegerField()
    note = serializers.CharField(help_text="A remark on it; it decides nothing.")


class GateResultSerializer(serializers.Serializer[Any]):
    """The result of a gate."""

    status = serializers.ChoiceField(choices=["passed", "warned", "failed", "unanswered"])
    stopped = serializers.BooleanField()
    checks = GateCheckSerializer(many=True)


class HeldGateDetailSerializer(HeldGateSerializer):
    """A held gate with what was asked and how each check came out; `result` is null until its job is done."""

    gate = serializers.JSONField()
    result = GateResultSerializer(allow_null=True)

    class Meta(HeldGateSerializer.Meta):
        fields = (*HeldGateSerializer.Meta.fields, "gate", "result")


class GateStartedSerializer(serializers.Serializer[Any]):
    """A gate that has begun to be decided, and its job."""

    gate = HeldGateSerializer()
    job = JobSerializer()


@extend_schema_view(get=extend_schema(parameters=[OpenApiParameter(name, str) for name in FILTERS]))
class HeldGates(ProjectView, ListAPIView[HeldGate]):
    """The project's held gates, the newest first."""

    serializer_class = HeldGateSerializer
    queryset = HeldGate.objects.none()

    def get_queryset(self) -> QuerySet[HeldGate]:
        wanted = {name: self.request.query_params.get(name, "") for name in FILTERS}
        return HeldGate.objects.in_project(self.project).select_related("consistency__run").matching(**wanted)


class RunGates(HeldGates):
    """The gates that a run was checked by, the newest first; by POST, one more."""

    def get_queryset(self) -> QuerySet[HeldGate]:
        return super().get_queryset().filter(run=run_of(self.access, self.kwargs["number"]))

    @extend_schema(request=GateRequestSerializer, responses={202: GateStartedSerializer})
    @idempotent
    def post(self, request: Request, number: int) -> Response:
        run, asked = run_of(self.access, number), GateRequestSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        held = gate_hold(run=run, actor=self.user, request=asked.request())
        return Response(GateStartedSerializer({"gate": held, "job": held.job}).data, status=HTTPStatus.ACCEPTED)


class HeldGateDetail(ProjectView):
    """One held gate with its checks."""

    @extend_schema(responses=HeldGateDetailSerializer)
    def get(self, request: Request, gate: UUID) -> Response:
        gates = HeldGate.objects.in_project(self.project).select_related("consistency__run").defer(None)
        return Response(HeldGateDetailSerializer(get_object_or_404(gates, pk=gate)).data)
