"""Serve examples and the history of their gold by REST."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import BooleanField, ExpressionWrapper, F, Q, QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.adjudicate.api import GoldHistorySerializer, GoldSerializer
from labeling.api.base import LabelingView
from labeling.datasets.api import DecidedByField
from labeling.datasets.services import example_decide_by
from labeling.examples.shown_strata import hidden_strata, strata_shown, tells_what_decides
from labeling.models import Example, Gold, Resolution
from toolevals.registry.tool_lists import tools_in
from toolevals.workspace.api.plain import PlainSerializer

OBJECT = {"type": "object"}


FILTERS = [
    OpenApiParameter("q", str, description="A part of the external id."),
    OpenApiParameter("status", str, enum=Resolution.values),
    *(OpenApiParameter(name, str) for name in Example.STRATA),
]


class DecidedBySerializer(PlainSerializer):
    """The parts that decide an example; empty for its dataset's default."""

    decided_by = DecidedByField(allow_blank=True)


class ExampleSerializer(serializers.ModelSerializer[Example]):
    """An example in a list. `status`: "open" or "resolved"; adjudicators are told "agreed" and "disagreed" too."""

    strata = serializers.SerializerMethodField()
    status = serializers.CharField()
    gold_source = serializers.CharField(source="current.gold.source", default=None, allow_null=True)

    class Meta:
        model = Example
        fields = ("id", "external_id", "strata", "status", "gold_source", "created_at")

    @extend_schema_field({"type": "object", "additionalProperties": {"type": "string"}})
    def get_strata(self, example: Example) -> dict[str, str]:
        return strata_shown(example, self.context["role"])


class ExampleDetailSerializer(ExampleSerializer):
    """An example with its input, the tools offered, and its gold.

    `decided_by` is what decides it; empty where its dataset's default does, and until it is resolved for reviewers.
    """

    dataset = serializers.CharField(source="dataset.slug")
    revision = serializers.UUIDField(source="current_id")
    revision_number = serializers.IntegerField(source="current.number")
    input = serializers.JSONField(source="current.input")
    tools = serializers.SerializerMethodField()
    gold = GoldSerializer(source="current.gold", allow_null=True)
    decided_by = serializers.SerializerMethodField()

    class Meta(ExampleSerializer.Meta):
        fields = (  # type: ignore[assignment]
            *ExampleSerializer.Meta.fields,
            "dataset",
            "revision",
            "revision_number",
            "input",
            "tools",
            "gold",
            "decided_by",
        )

    def get_decided_by(self, example: Example) -> str:
        return example.decided_by if tells_what_decides(example, self.context["role"]) else ""

    @extend_schema_field({"type": "array", "items": OBJECT})
    def get_tools(self, example: Example) -> list[dict[str, Any]]:
        return [spec.to_document() for spec in tools_in(example.current.tools)] if example.current else []


@extend_schema_view(get=extend_schema(parameters=FILTERS))
class Examples(LabelingView, ListAPIView[Example]):
    """A dataset's examples, the newest first."""

    serializer_class = ExampleSerializer
    queryset = Example.objects.none()

    def get_serializer_context(self) -> dict[str, Any]:
        return {**super().get_serializer_context(), "role": self.role}

    def get_queryset(self) -> QuerySet[Example]:
        asked, dataset = self.request.query_params, self.find_dataset(self.kwargs["dataset"])
        return (
            Example.objects.of_dataset(dataset)
            .select_related("current__gold", "dataset")
            .defer("current__input", "current__gold__expectation")
            .seen_by(self.user, self.role)
            .in_status(asked.get("status", ""), self.role)
            .named_like(asked.get("q", ""))
            .in_strata(asked.dict(), hidden=hidden_strata(dataset, self.role))
        )


class ExampleDetail(LabelingView):
    """One example: what it shows now, and its gold; by PUT, by adjudicators, what decides it."""

    @extend_schema(responses=ExampleDetailSerializer)
    def get(self, request: Request, example: UUID) -> Response:
        return self._show(self.find_example(example))

    @extend_schema(request=DecidedBySerializer, responses=ExampleDetailSerializer)
    def put(self, request: Request, example: UUID) -> Response:
        example_row = self.find_example(example)
        serializer = DecidedBySerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        example_decide_by(example=example_row, actor=self.user, **serializer.validated_data)
        return self._show(self.find_example(example))

    def _show(self, example: Example) -> Response:
        return Response(ExampleDetailSerializer(example, context={"role": self.role}).data)


class Golds(LabelingView, ListAPIView[Gold]):
    """Every gold that any revision of an example ever had, the newest first."""

    serializer_class = GoldHistorySerializer
    queryset = Gold.objects.none()

    def get_queryset(self) -> QuerySet[Gold]:
        example = self.find_example(self.kwargs["example"])
        in_force = Q(revision__gold=F("pk"), revision=example.current_id)
        return (
            Gold.objects.in_project(self.project)
            .visible_to(self.user, self.role)
            .filter(revision__example=example)
            .select_related("actor")
            .annotate(in_force=ExpressionWrapper(in_force, output_field=BooleanField()))
        )
