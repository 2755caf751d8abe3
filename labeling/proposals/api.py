"""Answer about proposed examples over REST."""

from __future__ import annotations

from http import HTTPStatus
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.api.base import LabelingView
from labeling.examples.api import ExampleSerializer
from labeling.models import ProposedExample
from labeling.proposals.services import LONGEST_WORDS, MOST_AT_ONCE, proposal_accept, proposals_drop, proposals_make
from toolevals.grading.edge_cases import EdgeCase
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.models import within

KINDS = [kind.value for kind in EdgeCase]


class ProposalSerializer(serializers.ModelSerializer[ProposedExample]):
    """A draft of an edge case, made from the example `origin`."""

    origin = serializers.UUIDField(source="origin.example_id")
    input = serializers.JSONField()
    expectation = serializers.JSONField(allow_null=True)

    class Meta:
        model = ProposedExample
        fields = ("id", "origin", "tool", "parameter", "kind", "input", "expectation", "state", "example", "created_at")


class NewProposalsSerializer(PlainSerializer):
    """Says which drafts to make; null is any."""

    tools = serializers.ListField(child=serializers.CharField(max_length=200), allow_null=True, default=None)
    kinds = serializers.ListField(child=serializers.ChoiceField(KINDS), allow_null=True, default=None)
    limit = serializers.IntegerField(min_value=1, max_value=MOST_AT_ONCE, default=50)


class MadeSerializer(PlainSerializer):
    """Counts the drafts that are new."""

    made = serializers.IntegerField()


class AcceptSerializer(PlainSerializer):
    """Other last words of the user; null leaves those of the draft."""

    words = serializers.CharField(max_length=LONGEST_WORDS, allow_null=True, default=None)


class Proposals(LabelingView, ListAPIView[ProposedExample]):
    """The drafts of edge cases that no one has decided, newest first; by POST, more of them."""

    serializer_class = ProposalSerializer
    queryset = ProposedExample.objects.none()

    def get_queryset(self) -> QuerySet[ProposedExample]:
        query = self.request.query_params
        rows = ProposedExample.objects.of_dataset(self.find_dataset(self.kwargs["dataset"])).open()
        about = rows.about(tool=query.get("tool", ""), kind=query.get("kind", ""))
        return about.select_related("origin")

    @extend_schema(parameters=[OpenApiParameter("tool", str), OpenApiParameter("kind", str, enum=KINDS)])
    def get(self, request: Request, *args: object, **kwargs: object) -> Response:
        return self.list(request, *args, **kwargs)

    @extend_schema(request=NewProposalsSerializer, responses={201: MadeSerializer})
    def post(self, request: Request, dataset: str) -> Response:
        serializer = NewProposalsSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        made = proposals_make(dataset=self.find_dataset(dataset), actor=self.user, **serializer.validated_data)
        return Response({"made": made}, status=HTTPStatus.CREATED)


class ProposalAccept(LabelingView):
    """Make an example to be labelled of a draft."""

    @extend_schema(request=AcceptSerializer, responses={201: ExampleSerializer})
    def post(self, request: Request, proposal: UUID) -> Response:
        proposal_row, asked = _proposal(self, proposal), AcceptSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        example = proposal_accept(proposal=proposal_row, actor=self.user, words=asked.validated_data["words"])
        return Response(
            ExampleSerializer(self.find_example(example.pk), context={"role": self.role}).data,
            status=HTTPStatus.CREATED,
        )


class ProposalDrop(LabelingView):
    """Drop a draft; it is not made again from the same example."""

    @extend_schema(request=None, responses={204: None})
    def post(self, request: Request, proposal: UUID) -> Response:
        proposal_row = _proposal(self, proposal)
        proposals_drop(dataset=proposal_row.dataset, actor=self.user, proposals=[proposal_row.pk])
        return Response(status=HTTPStatus.NO_CONTENT)


def _proposal(view: LabelingView, pk: UUID) -> ProposedExample:
    rows = ProposedExample.objects.filter(within(view.project, "dataset")).select_related("dataset__project")
    return get_object_or_404(rows, pk=pk)
