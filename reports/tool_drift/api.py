"""Serve a registry's source, what changed there and what that means, in the REST interface."""

from __future__ import annotations

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from reports.tool_drift.queries import SourceView, source_of, source_view
from reports.tool_drift.services import drift_publish, look_ask
from reports.tool_drift.table import CHANGES, MISFITS, PAIRS
from toolevals.registry.models import Registry, ToolSource
from toolevals.registry.sources.models import SourceKind, SourceSchedule
from toolevals.registry.sources.services import source_forget, source_set
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.idempotency.api import idempotent
from toolevals.workspace.tables import serializer_of


class NewToolSourceSerializer(PlainSerializer):
    """The place where a registry's tools come from: an MCP server, or the address of an OpenAPI document."""

    kind = serializers.ChoiceField(choices=SourceKind.choices)
    url = serializers.CharField(max_length=500, required=False)
    command = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="Of an MCP server: one that the operator allows."
    )
    secret = serializers.CharField(required=False, help_text="The project's secret that is sent as a bearer token.")
    timeout = serializers.FloatField(required=False, help_text="Seconds of each answer; 30 unless said.")
    tags = serializers.ListField(
        child=serializers.CharField(), default=list, help_text="Of an OpenAPI document: only operations with these."
    )
    schedule = serializers.ChoiceField(choices=SourceSchedule.choices, default=SourceSchedule.OFF)


class DriftCountsSerializer(PlainSerializer):
    """The number of changes of each kind. Unknown is breaking or unknown: no rule tells which."""

    breaking = serializers.IntegerField()
    unknown = serializers.IntegerField()
    widening = serializers.IntegerField()
    wording = serializers.IntegerField()


class ToolSourceSerializer(PlainSerializer):
    """A source, the last looks, and what differs between the last good one and the newest version.

    `gold` is how many gold labels no longer validate; null where the next look counts them.
    """

    kind = serializers.ChoiceField(SourceKind.choices, source="source.kind")
    address = serializers.CharField(source="source.address", help_text="Without a query.")
    secret = serializers.CharField(source="source.place.secret", help_text="Its name; empty where none is needed.")
    tags = serializers.ListField(child=serializers.CharField(), source="source.tags")
    schedule = serializers.ChoiceField(SourceSchedule.choices, source="source.schedule")
    looked_at = serializers.DateTimeField(source="source.looked_at", allow_null=True)
    error = serializers.CharField(source="source.error", help_text="Of the last look; empty where it was good.")
    seen_at = serializers.DateTimeField(source="source.seen_at", allow_null=True, help_text="The last good look.")
    is_waiting = serializers.BooleanField(help_text="Whether a look is under way, or waits for a worker.")
    look = serializers.CharField(help_text="The name by content of the tools that it saw; what publishing takes.")
    newest_version = serializers.IntegerField(source="newest.number", allow_null=True, default=None)
    counts = DriftCountsSerializer()
    changes = serializer_of(CHANGES)(many=True)
    gold = serializers.IntegerField(allow_null=True)
    is_whole = serializers.BooleanField(help_text="Whether all gold was read that could be touched.")
    misfits = serializer_of(MISFITS)(many=True)
    pairs = serializer_of(PAIRS)(many=True)


class PublishLookSerializer(PlainSerializer):
    """The look to publish, and whether the newest run is repeated with the new version."""

    look = serializers.CharField(max_length=64)
    note = serializers.CharField(max_length=300, allow_blank=True, default="")
    run = serializers.BooleanField(default=False)


class PublishedLookSerializer(PlainSerializer):
    """The version that was made (the newest where it holds the same), and the run with it; null without one."""

    version = serializers.CharField()
    run = serializers.IntegerField(allow_null=True)


class _SourceView(ProjectView):
    """The base of the views of a registry's source."""

    def registry(self, slug: str) -> Registry:
        return get_object_or_404(Registry.objects.in_project(self.project), slug=slug)

    def source(self, slug: str) -> ToolSource:
        found = source_of(self.registry(slug))
        if found is None:
            raise NotFound("This registry has no source.")
        return found

    def shown(self, slug: str) -> SourceView:
        return source_view(self.source(slug))


class ToolSourceView(_SourceView):
    """A registry's source with what changed there; by PUT, keep one; by DELETE, forget it."""

    @extend_schema(responses=ToolSourceSerializer)
    def get(self, request: Request, registry: str) -> Response:
        return Response(ToolSourceSerializer(self.shown(registry)).data)

    @extend_schema(request=NewToolSourceSerializer, responses=ToolSourceSerializer)
    def put(self, request: Request, registry: str) -> Response:
        found = self.registry(registry)
        asked = NewToolSourceSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        said = dict(asked.validated_data)
        parts = {name: said.pop(name) for name in ("kind", "schedule", "tags")}
        kept = source_set(registry=found, actor=self.user, options=said, **parts)
        look_ask(source=kept)
        return Response(ToolSourceSerializer(self.shown(registry)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, registry: str) -> Response:
        source_forget(source=self.source(registry), actor=self.user)
        return Response(status=204)


class ToolSourceLookView(_SourceView):
    """Have a source looked at now: its `is_waiting` is true until a worker has done so."""

    @extend_schema(request=None, responses={202: ToolSourceSerializer})
    def post(self, request: Request, registry: str) -> Response:
        look_ask(source=self.source(registry))
        return Response(ToolSourceSerializer(self.shown(registry)).data, status=202)


class ToolSourcePublishView(_SourceView):
    """Publish the tools that the last good look saw and, where it is asked for, repeat the newest run with them."""

    @extend_schema(request=PublishLookSerializer, responses={201: PublishedLookSerializer})
    @idempotent
    def post(self, request: Request, registry: str) -> Response:
        source = self.source(registry)
        asked = PublishLookSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        said = asked.validated_data
        version, run = drift_publish(
            source=source, actor=self.user, look=said["look"], note=said["note"], with_run=said["run"]
        )
        made = {"version": str(version), "run": run.number if run else None}
        return Response(PublishedLookSerializer(made).data, status=201)
