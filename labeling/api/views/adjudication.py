"""The third person's work: what waits for a decision, deciding it, disputes."""

from __future__ import annotations

from http import HTTPStatus
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from labeling import services
from labeling.api.base import LabelingView
from labeling.api.serializers.gold import (
    ComparisonSerializer,
    DecisionSerializer,
    DisputeSerializer,
    GoldSerializer,
    NewDisputeSerializer,
    ToAdjudicateSerializer,
)
from labeling.blindness import sides_of
from labeling.models import Dispute, Revision


class Adjudications(LabelingView, ListAPIView[Revision]):
    """What waits for one's decision: labels that differ and gold that is disputed, but never what one has labelled."""

    serializer_class = ToAdjudicateSerializer
    queryset = Revision.objects.none()

    def get_queryset(self) -> QuerySet[Revision]:
        return Revision.objects.to_adjudicate(self.project, self.user)


class AdjudicationDetail(LabelingView):
    """The labels of one revision side by side, unnamed; by POST, the decision."""

    @extend_schema(responses=ComparisonSerializer)
    def get(self, request: Request, revision: UUID) -> Response:
        waiting = Revision.objects.to_adjudicate(self.project, self.user)
        found = get_object_or_404(waiting, pk=revision)
        sides = sides_of(found, self.user, self.role)
        disputes = Dispute.objects.filter(revision=found).visible_to(self.user, self.role).open()
        whole = {"revision": found, "sides": sides, "disputes": disputes.select_related("actor")}
        return Response(ComparisonSerializer(whole).data)

    @extend_schema(request=DecisionSerializer, responses={201: GoldSerializer})
    def post(self, request: Request, revision: UUID) -> Response:
        found = get_object_or_404(Revision.objects.in_project(self.project).with_content(), pk=revision)
        asked = DecisionSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        gold = services.adjudication_decide(revision=found, actor=self.user, **asked.validated_data)
        return Response(GoldSerializer(gold).data, status=HTTPStatus.CREATED)


class Disputes(LabelingView, ListAPIView[Dispute]):
    """The disputes about an example, newest first; by POST, one more."""

    serializer_class = DisputeSerializer
    queryset = Dispute.objects.none()

    def get_queryset(self) -> QuerySet[Dispute]:
        example = self.find_example(self.kwargs["example"])
        disputes = Dispute.objects.filter(revision__example=example).visible_to(self.user, self.role)
        return disputes.select_related("actor")

    @extend_schema(request=NewDisputeSerializer, responses={201: DisputeSerializer})
    def post(self, request: Request, example: UUID) -> Response:
        found = self.find_example(example)
        asked = NewDisputeSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        revision = get_object_or_404(Revision.objects.with_content(), pk=found.current_id)
        dispute = services.dispute_open(revision=revision, actor=self.user, **asked.validated_data)
        return Response(DisputeSerializer(dispute).data, status=HTTPStatus.CREATED)


class DisputeSettle(LabelingView):
    """Close a dispute and leave the gold as it is."""

    @extend_schema(request=None, responses=DisputeSerializer)
    def post(self, request: Request, dispute: UUID) -> Response:
        found = get_object_or_404(
            Dispute.objects.filter(revision__example__dataset__project=self.project).visible_to(self.user, self.role),
            pk=dispute,
        )
        settled = services.dispute_settle(dispute=found, actor=self.user)
        return Response(DisputeSerializer(settled).data)
