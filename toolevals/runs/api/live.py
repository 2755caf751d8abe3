"""Runs of a model in the REST interface: what one takes at least, and starting it."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from toolevals.runs.api.requests import RunRequestSerializer
from toolevals.runs.api.serializers import RunStartedSerializer
from toolevals.runs.api.views import started
from toolevals.runs.live.estimate import estimate_of
from toolevals.runs.services import RunRequest, live_request_read, run_request_live
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.idempotency import idempotent


class LiveRunSerializer(RunRequestSerializer):
    """A run of a model behind the chat-completions protocol: see docs/runs.md for options and settings."""

    name = serializers.CharField(max_length=120)
    model = serializers.CharField(max_length=120)
    prompt_version = serializers.CharField(max_length=60, required=False, default="", allow_blank=True)
    commit = serializers.CharField(max_length=64, required=False, default="", allow_blank=True)
    options = serializers.DictField(help_text="base_url, secret, temperature, seed, max_tokens, system, tools, …")
    settings = serializers.DictField(
        required=False, default=dict, help_text="concurrency, requests_per_minute, max_steps, prices, budget, user, …"
    )

    def request(self) -> RunRequest:
        return RunRequest(**self.validated_data)


class EstimateSerializer(serializers.Serializer[Any]):
    """The least that a run takes."""

    conversations = serializers.IntegerField()
    input_tokens = serializers.IntegerField()
    cost = serializers.FloatField(allow_null=True)


class LiveRuns(ProjectView):
    """Start a run of a model."""

    @extend_schema(request=LiveRunSerializer, responses={202: RunStartedSerializer})
    @idempotent
    def post(self, request: Request) -> Response:
        asked = LiveRunSerializer(data=request.data, context={"project": self.project})
        asked.is_valid(raise_exception=True)
        return started(run_request_live(project=self.project, actor=self.user, request=asked.request()))


class LiveEstimate(ProjectView):
    """What a run of a model takes at least."""

    @extend_schema(request=LiveRunSerializer, responses=EstimateSerializer)
    def post(self, request: Request) -> Response:
        asked = LiveRunSerializer(data=request.data, context={"project": self.project})
        asked.is_valid(raise_exception=True)
        wanted = asked.request()
        _, settings = live_request_read(wanted)
        return Response(EstimateSerializer(estimate_of(wanted.dataset_version, wanted.trials, settings.prices)).data)
