"""Serve runs in the REST interface: lists, what programs send to start a run, gradings."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.fields import ChoiceField, IntegerField
from rest_framework.generics import ListAPIView
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.models import DatasetVersion
from labeling.versions.api import VersionNameField
from toolevals.grading.engine.grading import CUT_OFF
from toolevals.presentation.csv import csv_stream
from toolevals.registry.models import RegistryVersion
from toolevals.registry.policies.offered import version_named
from toolevals.runs.aggregates.label_noise import run_noise
from toolevals.runs.aggregates.run_rows import run_rows, stale_reasons
from toolevals.runs.aggregates.sums import verdict_rates
from toolevals.runs.files.failure_export import COLUMNS, failing_lines, failing_rows
from toolevals.runs.grading.services import grading_start
from toolevals.runs.models import Agent, CaseGrade, Experiment, Grading, Run
from toolevals.runs.queries import asked_grading, numbered_run
from toolevals.runs.rereading.results import grading_reread
from toolevals.runs.runs.presets import PRESETS
from toolevals.runs.runs.repeating import errored_ask_again, estimate_of_repeat, run_repeat
from toolevals.runs.runs.requesting import RunRequest, run_request_baseline, run_request_upload
from toolevals.runs.runs.serializers import (
    CaseDetailSerializer,
    CaseSerializer,
    ExperimentSerializer,
    GradingDetailSerializer,
    GradingSerializer,
    GradingStartedSerializer,
    ListedAgentSerializer,
    ListedRunSerializer,
    RunDetailSerializer,
    RunEstimateSerializer,
    RunStartedSerializer,
    noise_document,
    score_document,
)
from toolevals.runs.runs.services import MAX_TRIALS
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.parsers import JSON_LINES, file_parsers
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.idempotency.api import idempotent
from toolevals.workspace.models import Project, within
from toolevals.workspace.trash.api import TrashedSerializer, deleted_answer


class RunRequestSerializer(PlainSerializer):
    """The fields that every run needs. Needs the project in its context."""

    experiment = serializers.CharField(max_length=60, help_text="Its name; a new one is made.")
    dataset = serializers.CharField(
        max_length=130, help_text='Its short name; also with a version, as "core@3" or "core@release-3".'
    )
    version = VersionNameField(required=False, allow_null=True, help_text="By default the newest.")
    trials = serializers.IntegerField(min_value=1, max_value=MAX_TRIALS, default=1)
    registry = serializers.SlugField(
        max_length=60, required=False, help_text="Where the agent's own wording of the tools is kept."
    )
    registry_version = serializers.IntegerField(min_value=1, required=False, help_text="By default the newest.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        project: Project = self.context["project"]
        attrs["dataset_version"] = _version(project, attrs.pop("dataset"), attrs.pop("version", None))
        attrs["tools"] = _tools(project, attrs.pop("registry", ""), attrs.pop("registry_version", None))
        return attrs

    def request(self) -> RunRequest:
        """Return what is asked for; the data is valid."""
        return RunRequest(**self.validated_data)


class AskedRunSerializer(RunRequestSerializer):
    """A run whose agent answers while it lasts, perhaps over a few examples only."""

    failing_of = serializers.IntegerField(
        min_value=1, required=False, help_text="The number of a run: only the examples that failed in it are taken."
    )

    preset = serializers.ChoiceField(
        choices=[(preset.name, preset.words) for preset in PRESETS.values()],
        required=False,
        allow_blank=True,
        default="",
        help_text="A part of the version, chosen and tried as the preset says; `trials` does not count then.",
    )

    def validate_failing_of(self, number: int) -> Run:
        run: Run | None = Run.objects.filter(project=self.context["project"], number=number).first()
        if run is None:
            raise serializers.ValidationError("There is no such run in this project.")
        return run


class BaselineRunSerializer(AskedRunSerializer):
    """A run of the built-in baseline."""

    threshold = serializers.FloatField(min_value=0, max_value=1, required=False)

    def request(self) -> RunRequest:
        data = dict(self.validated_data)
        options = {"threshold": data.pop("threshold")} if "threshold" in data else {}
        return RunRequest(**data, options=options)


class PredictionsSerializer(RunRequestSerializer):
    """A run of uploaded predictions."""

    name = serializers.CharField(max_length=120)
    model = serializers.CharField(max_length=120, required=False, default="", allow_blank=True)
    prompt_version = serializers.CharField(max_length=60, required=False, default="", allow_blank=True)
    commit = serializers.CharField(max_length=64, required=False, default="", allow_blank=True)
    cut_off = serializers.ChoiceField(
        choices=CUT_OFF,
        default="failed",
        help_text="How to grade conversations that stopped early: see `ended` of a prediction.",
    )
    file = serializers.FileField()

    def request(self) -> RunRequest:
        data = dict(self.validated_data)
        del data["file"]
        return RunRequest(**data)


class RegradeSerializer(PlainSerializer):
    """The gold to grade against."""

    version = VersionNameField(
        required=False, allow_null=True, default=None, help_text="Of the run's dataset; by default the newest."
    )
    policy = serializers.SlugField(
        required=False, default="", allow_blank=True, help_text="A policy of the guard: what it would have refused."
    )
    policy_version = serializers.IntegerField(
        required=False, allow_null=True, default=None, min_value=1, help_text="By default the newest."
    )


def _version(project: Project, dataset: str, version: str | None) -> DatasetVersion:
    row = DatasetVersion.objects.named(project, f"{dataset}@{version}" if version else dataset)
    if row is None:
        which = "version" if version and DatasetVersion.objects.named(project, dataset) else "dataset"
        raise serializers.ValidationError({which: "There is no such frozen version of a dataset in this project."})
    return row


def _tools(project: Project, slug: str, number: int | None) -> RegistryVersion | None:
    if not slug:
        return None
    versions = RegistryVersion.objects.filter(within(project, "registry"), registry__slug=slug).order_by("-number")
    version = versions.filter(number=number).first() if number else versions.first()
    if version is None:
        raise serializers.ValidationError({"registry": "There is no such registry version in this project."})
    return version


class Agents(ProjectView, ListAPIView[Agent]):
    """The project's agents, the newest first."""

    serializer_class = ListedAgentSerializer
    queryset = Agent.objects.none()

    def get_queryset(self) -> Any:
        return Agent.objects.in_project(self.project).with_runs()


class Experiments(ProjectView, ListAPIView[Experiment]):
    """The project's experiments, the newest first."""

    serializer_class = ExperimentSerializer
    queryset = Experiment.objects.none()

    def get_queryset(self) -> Any:
        return Experiment.objects.in_project(self.project).with_runs()


@extend_schema_view(get=extend_schema(parameters=[OpenApiParameter("experiment", str, description="The slug of one.")]))
class Runs(ProjectView, ListAPIView[Run]):
    """The project's runs, the newest first; by POST, a run of the baseline."""

    serializer_class = ListedRunSerializer
    queryset = Run.objects.none()

    def get_queryset(self) -> Any:
        runs = Run.objects.in_project(self.project).of_people()
        return runs.of_experiment(self.request.query_params.get("experiment", "")).with_newest()

    def paginate_queryset(self, queryset: Any) -> Any:
        """Return a page of runs, each with its `row`."""
        page = super().paginate_queryset(queryset)
        for row in run_rows(page or ()):
            vars(row.run)["row"] = row
        return page

    @extend_schema(request=BaselineRunSerializer, responses={202: RunStartedSerializer})
    @idempotent
    def post(self, request: Request) -> Response:
        serializer = BaselineRunSerializer(data=request.data, context={"project": self.project})
        serializer.is_valid(raise_exception=True)
        run = run_request_baseline(project=self.project, actor=self.user, request=serializer.request())
        return started(run)


# What a form says beside its file, where the body is the file.
IN_QUERY = [
    OpenApiParameter(
        name,
        int if isinstance(field, IntegerField) else str,
        enum=list(field.choices) if isinstance(field, ChoiceField) else None,
        description=f"Where the body is the file. {field.help_text or ''}".strip(),
    )
    for name, field in PredictionsSerializer().get_fields().items()
    if name != "file"
]


class Predictions(ProjectView):
    """A run of uploaded predictions: a form with the file, or the bare JSON Lines with all else in the query."""

    parser_classes = (MultiPartParser, *file_parsers(dict.fromkeys(JSON_LINES, "predictions.jsonl")))

    @extend_schema(
        request={"multipart/form-data": PredictionsSerializer, "application/octet-stream": OpenApiTypes.BINARY},
        responses={202: RunStartedSerializer},
        parameters=IN_QUERY,
    )
    @idempotent
    def post(self, request: Request) -> Response:
        body: Any = request.data
        fields = {**request.query_params.dict(), **dict(body.items())}
        serializer = PredictionsSerializer(data=fields, context={"project": self.project})
        serializer.is_valid(raise_exception=True)
        file = serializer.validated_data["file"]
        run = run_request_upload(
            project=self.project, actor=self.user, request=serializer.request(), file=file, file_name=file.name
        )
        return started(run)


class RunView(ProjectView):
    """The base of the views of one run."""

    def find(self, number: int) -> Run:
        """Return the project's run. Raises `Http404`."""
        run = numbered_run(self.project, number)
        if run is None:
            raise Http404
        return run


class RunDetail(RunView):
    """One run with its counts; by DELETE, by owners, to the trash. Baseline agents go with their dataset alone."""

    @extend_schema(responses=RunDetailSerializer)
    def get(self, request: Request, number: int) -> Response:
        run: Any = self.find(number)
        run.stale = stale_reasons([run]).get(run.pk, "")
        run.label_noise = outcome_noise(run)
        run.corrected = score_document(grading_reread(run.grading)) if run.grading else None
        return Response(RunDetailSerializer(run).data)

    @extend_schema(responses={200: TrashedSerializer})
    @idempotent
    def delete(self, request: Request, number: int) -> Response:
        runs = Run.objects.in_project(self.project).of_people()
        return deleted_answer(get_object_or_404(runs, number=number), self.user)


class Gradings(RunView, ListAPIView[Grading]):
    """A run's gradings, the newest first; by POST, one more."""

    serializer_class = GradingSerializer
    queryset = Grading.objects.none()

    def get_queryset(self) -> QuerySet[Grading]:
        return self.find(self.kwargs["number"]).gradings.select_related("dataset_version")

    @extend_schema(request=RegradeSerializer, responses={202: GradingStartedSerializer})
    @idempotent
    def post(self, request: Request, number: int) -> Response:
        serializer = RegradeSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        run, version = self.find(number), serializer.validated_data["version"]
        chosen = run.dataset_version.dataset.versions.called(version) if version else None
        if version and chosen is None:
            raise Http404
        slug, number_of_policy = (serializer.validated_data[name] for name in ("policy", "policy_version"))
        policy = version_named(self.project, slug, number_of_policy) if slug else None
        grading = grading_start(run=run, actor=self.user, dataset_version=chosen, policy=policy)
        return Response(
            GradingStartedSerializer({"grading": grading, "job": grading.job}).data, status=HTTPStatus.ACCEPTED
        )


class GradingDetail(RunView):
    """One grading with its counts."""

    @extend_schema(responses=GradingDetailSerializer)
    def get(self, request: Request, number: int, grading: int) -> Response:
        row = get_object_or_404(self.find(number).gradings.select_related("dataset_version"), number=grading)
        return Response(GradingDetailSerializer(row).data)


def outcome_noise(run: Any) -> dict[str, Any] | None:
    """Return what wrong gold could do to the rate of cases passed of a run's shown grading; None without a rate."""
    rate = verdict_rates([run.grading_id], "outcome").get(run.grading_id, {}).get("outcome") if run.grading_id else None
    return noise_document(run_noise(run, run.grading.dataset_version), rate.value) if rate else None


def started(run: Run) -> Response:
    """Return the answer to the person who started a run."""
    return Response(RunStartedSerializer({"run": run, "job": run.job}).data, status=HTTPStatus.ACCEPTED)


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


class Errored(RunView):
    """Ask the agent again in the trials in which it could not be reached; the answers are graded again."""

    @extend_schema(request=None, responses={202: GradingStartedSerializer})
    @idempotent
    def post(self, request: Request, number: int) -> Response:
        grading = errored_ask_again(run=self.find(number), actor=self.user)
        shown = GradingStartedSerializer({"grading": grading, "job": grading.job}).data
        return Response(shown, status=HTTPStatus.ACCEPTED)


class Failing(RunView):
    """Start a run like this one over the examples that failed in it."""

    @extend_schema(request=None, responses={202: RunStartedSerializer})
    @idempotent
    def post(self, request: Request, number: int) -> Response:
        return started(run_repeat(run=self.find(number), actor=self.user, only_failing=True))


class RepetitionSerializer(PlainSerializer):
    """The differences from the run that is repeated."""

    registry_version = serializers.IntegerField(
        min_value=1,
        required=False,
        allow_null=True,
        default=None,
        help_text="Of the agent's registry, or of the dataset's where the agent has none of its own: what it is given."
        " Null: as in that run.",
    )
    only_failing = serializers.BooleanField(default=False, help_text="Only the examples that failed in that run.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        number = attrs.pop("registry_version")
        return {**attrs, "tools": _version_for(self.context["run"], number) if number else None}


def _version_for(run: Run, number: int) -> RegistryVersion:
    registry = run.agent.tools.registry_id if run.agent.tools else None
    of_project = RegistryVersion.objects.filter(within(run.project, "registry"), number=number)
    found = list(of_project.filter(registry=registry) if registry else of_project[:2])
    if len(found) == 1:
        return found[0]
    words = "The run's agent has no registry, and the project has several: start a run that names it."
    words = words if found else "There is no such version of the agent's registry."
    raise serializers.ValidationError({"registry_version": words})


class RepeatView(RunView):
    """The base of the views that repeat a run."""

    def asked(self, request: Request, number: int) -> tuple[Run, dict[str, Any]]:
        """Return the run, and what is to be other. Raises Http404 and a problem."""
        run = self.find(number)
        serializer = RepetitionSerializer(data=request.data, context={"run": run})
        serializer.is_valid(raise_exception=True)
        return run, serializer.validated_data


class Repeat(RepeatView):
    """Start a run like this one, perhaps with another version of the agent's tools."""

    @extend_schema(request=RepetitionSerializer, responses={202: RunStartedSerializer})
    @idempotent
    def post(self, request: Request, number: int) -> Response:
        run, other = self.asked(request, number)
        return started(run_repeat(run=run, actor=self.user, **other))


class RepeatEstimate(RepeatView):
    """Estimates what a run like this one takes at least. Nothing is started."""

    @extend_schema(request=RepetitionSerializer, responses=RunEstimateSerializer)
    def post(self, request: Request, number: int) -> Response:
        run, other = self.asked(request, number)
        estimate = estimate_of_repeat(run, only_failing=other["only_failing"])
        return Response(RunEstimateSerializer(estimate).data)


class FailingView(RunView):
    """The base of the views of failing cases."""

    def grading(self, number: int) -> Grading | None:
        """Return the grading that is asked for. Raises `Http404`."""
        return asked_grading(self.find(number), self.request.query_params.get("grading", ""))


class FailingLines(FailingView):
    """The failing cases of a grading as JSON Lines: input, what was done, verdicts, and why."""

    @extend_schema(parameters=[GRADING], responses={(200, "application/jsonl"): OpenApiTypes.BINARY})
    def get(self, request: Request, number: int) -> StreamingHttpResponse:
        return StreamingHttpResponse(failing_lines(self.grading(number)), content_type="application/jsonl")


class FailingTable(FailingView):
    """The failing cases of a grading as CSV."""

    @extend_schema(parameters=[GRADING], responses={(200, "text/csv"): OpenApiTypes.BINARY})
    def get(self, request: Request, number: int) -> StreamingHttpResponse:
        rows = csv_stream(COLUMNS, failing_rows(self.grading(number)))
        return StreamingHttpResponse(rows, content_type="text/csv; charset=utf-8")
