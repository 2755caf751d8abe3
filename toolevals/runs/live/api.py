"""Serve runs of agents that are asked, in the REST interface: what one takes at least, and starting it."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from toolevals.agents.connectors import CONNECTORS, DEFAULT
from toolevals.runs.live.estimate import estimate_of
from toolevals.runs.runs.api import AskedRunSerializer, started
from toolevals.runs.runs.requesting import RunRequest, live_request_read, run_request_live
from toolevals.runs.runs.serializers import RunEstimateSerializer, RunStartedSerializer
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.idempotency.api import idempotent


class LiveRunSerializer(AskedRunSerializer):
    """A run of an agent that is asked: see docs/runs.md for connectors, options and settings."""

    name = serializers.CharField(max_length=120)
    connector = serializers.ChoiceField(
        choices=[(name, connector.title) for name, connector in CONNECTORS.items()],
        default=DEFAULT,
        help_text="How it is reached.",
    )
    model = serializers.CharField(
        max_length=120, required=False, default="", allow_blank=True, help_text="Models need it."
    )
    prompt_version = serializers.CharField(max_length=60, required=False, default="", allow_blank=True)
    commit = serializers.CharField(max_length=64, required=False, default="", allow_blank=True)
    options = serializers.DictField(help_text="base_url, secret, temperature, seed, max_tokens, system, tools, …")
    settings = serializers.DictField(
        required=False, default=dict, help_text="concurrency, requests_per_minute, max_steps, prices, budget, user, …"
    )

    def request(self) -> RunRequest:
        return RunRequest(**self.validated_data)


class LiveRuns(ProjectView):
    """Start a run of an agent that is asked."""

    @extend_schema(request=LiveRunSerializer, responses={202: RunStartedSerializer})
    @idempotent
    def post(self, request: Request) -> Response:
        serializer = LiveRunSerializer(data=request.data, context={"project": self.project})
        serializer.is_valid(raise_exception=True)
        return started(run_request_live(project=self.project, actor=self.user, request=serializer.request()))


class LiveEstimate(ProjectView):
    """Estimates what a run of an agent that is asked takes at least."""

    @extend_schema(request=LiveRunSerializer, responses=RunEstimateSerializer)
    def post(self, request: Request) -> Response:
        serializer = LiveRunSerializer(data=request.data, context={"project": self.project})
        serializer.is_valid(raise_exception=True)
        begin_request = serializer.request()
        _, settings = live_request_read(begin_request)
        connector = CONNECTORS[begin_request.connector]
        estimate = estimate_of(begin_request.dataset_version, begin_request.conversations, connector, settings.prices)
        return Response(RunEstimateSerializer(estimate).data)
