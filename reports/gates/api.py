"""Serve gates in the REST interface: those that the project keeps, their previews, and checks of runs."""

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

from reports.gates.page import check_counts, preview_runs
from reports.gates.services import GateRequest, gate_hold, gate_preview_start, named_gate_delete, named_gate_save
from reports.models import GatePreview, HeldGate, NamedGate
from reports.run.header import run_of
from toolevals.grading.values.problems import InvalidDocument
from toolevals.workspace.api.base import NewestFirst, ProjectView
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.idempotency.api import idempotent
from toolevals.workspace.jobs.api import JobSerializer

FILTERS = ("experiment", "branch", "status")


class GateRequestSerializer(PlainSerializer):
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


class GateCheckSerializer(PlainSerializer):
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


class GateResultSerializer(PlainSerializer):
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


class GateStartedSerializer(PlainSerializer):
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


_BASELINE = "Another run's number, branch:NAME, or last-passing."


class NamedGateSerializer(serializers.ModelSerializer[NamedGate]):
    """A gate that the project keeps under a name."""

    gate = serializers.JSONField(help_text="A document of gate.v1.json.")

    class Meta:
        model = NamedGate
        fields = ("name", "gate", "baseline", "created_at", "updated_at")


class NamedGateSaveSerializer(PlainSerializer):
    """A gate to keep; another `name` than that of the address renames it."""

    gate = serializers.DictField(help_text="A document of gate.v1.json.")
    baseline = serializers.CharField(max_length=220, required=False, default="", allow_blank=True, help_text=_BASELINE)
    name = serializers.CharField(max_length=60, required=False, default="", allow_blank=True)


class GatePreviewAskedSerializer(PlainSerializer):
    """The gate to apply to the newest runs: a document, or the name of one that the project keeps."""

    gate = serializers.DictField(required=False, allow_null=True, default=None, help_text="A document of gate.v1.json.")
    name = serializers.CharField(max_length=60, required=False, default="", allow_blank=True)
    baseline = serializers.CharField(max_length=220, required=False, default="", allow_blank=True, help_text=_BASELINE)
    experiment = serializers.CharField(
        max_length=100, required=False, default="", allow_blank=True, help_text="The slug of one; else all runs."
    )


class PreviewedRunSerializer(serializers.ModelSerializer[HeldGate]):
    """The gate's result for one run; `status` is empty and `result` null until it is decided."""

    run = serializers.IntegerField(source="run.number")
    grading = serializers.IntegerField(source="grading.number")
    baseline = serializers.IntegerField(source="baseline.run.number", default=None, allow_null=True)
    result = GateResultSerializer(allow_null=True)

    class Meta:
        model = HeldGate
        fields = ("id", "run", "grading", "baseline", "status", "result")


class GatePreviewSerializer(serializers.ModelSerializer[GatePreview]):
    """The results that a gate would have for the newest runs, the newest first."""

    gate = serializers.JSONField()
    job = serializers.UUIDField(source="job_id", allow_null=True)
    runs = serializers.SerializerMethodField()

    class Meta:
        model = GatePreview
        fields = ("id", "name", "gate", "baseline", "job", "created_at", "runs")

    @extend_schema_field(PreviewedRunSerializer(many=True))
    def get_runs(self, preview: GatePreview) -> Any:
        return PreviewedRunSerializer(list(preview_runs(preview)), many=True).data


class GatePreviewBegunSerializer(PlainSerializer):
    """A preview that has begun, and its job."""

    preview = serializers.UUIDField(source="preview.pk")
    job = JobSerializer()


class NamedGatesView(ProjectView, ListAPIView[NamedGate]):
    """The gates that the project keeps, the newest first."""

    serializer_class = NamedGateSerializer
    pagination_class = NewestFirst
    queryset = NamedGate.objects.none()

    def get_queryset(self) -> QuerySet[NamedGate]:
        return NamedGate.objects.in_project(self.project).order_by("-pk")


class NamedGateView(ProjectView):
    """One kept gate; PUT keeps it or changes it, DELETE deletes it. What runs were checked by stays."""

    @extend_schema(responses=NamedGateSerializer)
    def get(self, request: Request, name: str) -> Response:
        return Response(NamedGateSerializer(self._kept(name)).data)

    @extend_schema(request=NamedGateSaveSerializer, responses={200: NamedGateSerializer, 201: NamedGateSerializer})
    def put(self, request: Request, name: str) -> Response:
        serializer = NamedGateSaveSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        data = serializer.validated_data
        is_new = not NamedGate.objects.in_project(self.project).filter(name=name).exists()
        saved = named_gate_save(
            project=self.project,
            actor=self.user,
            name=data["name"] or name,
            gate=data["gate"],
            baseline=data["baseline"],
            was=name,
        )
        return Response(NamedGateSerializer(saved).data, HTTPStatus.CREATED if is_new else HTTPStatus.OK)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, name: str) -> Response:
        named_gate_delete(gate=self._kept(name), actor=self.user)
        return Response(status=HTTPStatus.NO_CONTENT)

    def _kept(self, name: str) -> NamedGate:
        gate: NamedGate = get_object_or_404(NamedGate.objects.in_project(self.project), name=name)
        return gate


class GatePreviewsView(ProjectView):
    """By POST, ask what a gate would have said of the ten newest graded runs; a job says it."""

    @extend_schema(request=GatePreviewAskedSerializer, responses={202: GatePreviewBegunSerializer})
    @idempotent
    def post(self, request: Request) -> Response:
        serializer = GatePreviewAskedSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        data = dict(serializer.validated_data)
        if data["gate"] is None:
            kept = NamedGate.objects.in_project(self.project).filter(name=data["name"]).first()
            if kept is None:
                raise InvalidDocument.at("/name", "is the name of no gate of this project, and no gate is given")
            data |= {"gate": kept.gate, "baseline": data["baseline"] or kept.baseline}
        gate_preview = gate_preview_start(project=self.project, actor=self.user, **data)
        return Response(
            GatePreviewBegunSerializer({"preview": gate_preview, "job": gate_preview.job}).data,
            status=HTTPStatus.ACCEPTED,
        )


class GatePreviewView(ProjectView):
    """One preview with what is decided so far; it is kept for seven days."""

    @extend_schema(responses=GatePreviewSerializer)
    def get(self, request: Request, preview: UUID) -> Response:
        row = get_object_or_404(GatePreview.objects.select_related("project"), project=self.project, pk=preview)
        return Response(GatePreviewSerializer(row).data)
