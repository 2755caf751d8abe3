"""Serve simulators in the REST interface: keep them, choose them for datasets, and list tools that need one."""

from __future__ import annotations

from http import HTTPStatus
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.models import Dataset
from toolevals.runs.models import Simulator, SimulatorKind
from toolevals.runs.simulators.needs import needs_of
from toolevals.runs.simulators.services import simulator_begin, simulator_choose
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.jobs.api import JobSerializer
from toolevals.workspace.models import Job


class SimulatorSerializer(serializers.ModelSerializer[Simulator]):
    """A simulator in one exact state. `tools` is null where only asking it tells which it answers."""

    version = serializers.IntegerField(source="number")
    tools = serializers.ListField(child=serializers.CharField(), allow_null=True)

    class Meta:
        model = Simulator
        fields: tuple[str, ...] = ("id", "name", "version", "kind", "tools", "digest", "created_at")


class SimulatorDetailSerializer(SimulatorSerializer):
    """A simulator with what it is made of."""

    content = serializers.JSONField()

    class Meta(SimulatorSerializer.Meta):
        fields = (*SimulatorSerializer.Meta.fields, "content")


class NewSimulatorSerializer(PlainSerializer):
    """A simulator to keep: see docs/runs.md for the content of each kind."""

    name = serializers.CharField(max_length=120)
    kind = serializers.ChoiceField(choices=SimulatorKind.choices)
    content = serializers.DictField()


class ChosenSerializer(PlainSerializer):
    """The id of the simulator behind a dataset's tools; null for none."""

    simulator = serializers.UUIDField(allow_null=True)


class ToolNeedSerializer(PlainSerializer):
    """A tool: examples whose gold calls it, its calls in runs; `simulated` is null where only asking tells."""

    tool = serializers.CharField()
    expected = serializers.IntegerField()
    called = serializers.IntegerField()
    simulated = serializers.BooleanField(source="is_simulated", allow_null=True)


class NeedsSerializer(PlainSerializer):
    """A dataset's tools, those with the most calls first; `answered` of `expected` calls of gold are simulated."""

    simulator = SimulatorSerializer(allow_null=True)
    expected = serializers.IntegerField()
    answered = serializers.IntegerField()
    runs = serializers.ListField(child=serializers.IntegerField())
    tools = ToolNeedSerializer(many=True)


class Simulators(ProjectView, ListAPIView[Simulator]):
    """The project's simulators, the newest first; by POST, one more.

    Code and an MCP server are asked which tools they answer, by a job: 202, and its report names the simulator. Where
    nothing has to be asked, or the simulator is there already, it is answered at once: 201.
    """

    serializer_class = SimulatorSerializer
    queryset = Simulator.objects.none()

    def get_queryset(self) -> QuerySet[Simulator]:
        return Simulator.objects.in_project(self.project)

    @extend_schema(request=NewSimulatorSerializer, responses={201: SimulatorSerializer, 202: JobSerializer})
    def post(self, request: Request) -> Response:
        serializer = NewSimulatorSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        simulator = simulator_begin(project=self.project, actor=self.user, **serializer.validated_data)
        if isinstance(simulator, Job):
            shown = Job.objects.with_progress().get(pk=simulator.pk)
            return Response(JobSerializer(shown).data, status=HTTPStatus.ACCEPTED)
        return Response(SimulatorSerializer(simulator).data, status=HTTPStatus.CREATED)


class SimulatorDetail(ProjectView):
    """One simulator with its content."""

    @extend_schema(responses=SimulatorDetailSerializer)
    def get(self, request: Request, simulator: UUID) -> Response:
        row = get_object_or_404(Simulator, project=self.project, pk=simulator)
        return Response(SimulatorDetailSerializer(row).data)


class DatasetView(ProjectView):
    """The base of the views of one dataset."""

    def find(self, slug: str) -> Dataset:
        """Return the project's dataset. Raises `Http404`."""
        return get_object_or_404(Dataset.objects.in_project(self.project).select_related("project"), slug=slug)


class DatasetSimulator(DatasetView):
    """The simulator behind a dataset's tools; by PUT, another one or none, for runs from then on."""

    @extend_schema(responses=ChosenSerializer)
    def get(self, request: Request, dataset: str) -> Response:
        return self._answer(self.find(dataset))

    @extend_schema(request=ChosenSerializer, responses=ChosenSerializer)
    def put(self, request: Request, dataset: str) -> Response:
        row = self.find(dataset)
        serializer = ChosenSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        pk = serializer.validated_data["simulator"]
        chosen = get_object_or_404(Simulator, project=self.project, pk=pk) if pk else None
        simulator_choose(dataset=row, actor=self.user, simulator=chosen)
        return self._answer(row)

    def _answer(self, dataset: Dataset) -> Response:
        current = Simulator.objects.of_dataset(dataset)
        return Response(ChosenSerializer({"simulator": current.pk if current else None}).data)


class DatasetTools(DatasetView):
    """The tools of a dataset that are called most, and those that its simulator answers."""

    @extend_schema(responses=NeedsSerializer)
    def get(self, request: Request, dataset: str) -> Response:
        return Response(NeedsSerializer(needs_of(self.find(dataset), actor=self.user)).data)
