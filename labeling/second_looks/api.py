"""Serve second looks at an agent's proposals by REST: list one's own, open one, answer it."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.api.base import LabelingView
from labeling.models import LookAnswer, SecondLook
from labeling.second_looks.pending_second_looks import look_due, looks_due, proposal_or_404
from labeling.second_looks.services import LONGEST_REMARK, second_look_answer, second_look_open
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.idempotency.api import idempotent


class WaitingLookSerializer(PlainSerializer):
    """A second look that waits: of which example."""

    id = serializers.UUIDField(source="proposal.pk")
    dataset = serializers.CharField(source="proposal.plan.dataset.slug")
    example = serializers.UUIDField(source="proposal.revision.example_id")
    revision = serializers.UUIDField(source="proposal.revision_id")


class WaitingLooksSerializer(PlainSerializer):
    """The second looks that wait for oneself."""

    waiting = WaitingLookSerializer(many=True)


class OpenedLookSerializer(WaitingLookSerializer):
    """An opened second look: the example, one's own label, and what an agent proposes."""

    input = serializers.JSONField(source="proposal.revision.input")
    answer = serializers.CharField(source="label.answer", help_text="Of one's own label.")
    expectation = serializers.JSONField(source="label.expectation", allow_null=True, help_text="Of one's own label.")
    proposed = serializers.JSONField(source="proposal.expectation")
    some_are_wrong = serializers.BooleanField(
        source="proposal.plan.planted_share", help_text="Whether some proposals are wrong on purpose."
    )


class NewLookAnswerSerializer(PlainSerializer):
    """An answer after a second look."""

    answer = serializers.ChoiceField(choices=LookAnswer.choices)
    remark = serializers.CharField(max_length=LONGEST_REMARK, allow_blank=True, default="")


class LookAnswerSerializer(serializers.ModelSerializer[SecondLook]):
    """The answer that one gave."""

    id = serializers.UUIDField(source="proposal_id")

    class Meta:
        model = SecondLook
        fields = ("id", "answer", "remark", "answered_at")


class SecondLooks(LabelingView):
    """The second looks that wait for oneself, at most twenty: which examples. Opening one tells what is proposed."""

    @extend_schema(responses=WaitingLooksSerializer)
    def get(self, request: Request) -> Response:
        return Response(WaitingLooksSerializer({"waiting": looks_due(self.project, self.user)}).data)


class SecondLookDetail(LabelingView):
    """Open a second look by POST: one's own label and the proposal next to it. It is noted that they were seen.

    404 where none waits for oneself at this proposal.
    """

    @extend_schema(request=None, responses=OpenedLookSerializer)
    @idempotent
    def post(self, request: Request, look: UUID) -> Response:
        due = look_due(self.project, self.user, proposal_or_404(self.project, look))
        if due is None:
            raise Http404
        second_look_open(due=due, actor=self.user)
        return Response(OpenedLookSerializer(due).data)


class SecondLookAnswer(LabelingView):
    """Answer a second look that was opened. The first answer stands; 409 where the look waits no more."""

    @extend_schema(request=NewLookAnswerSerializer, responses=LookAnswerSerializer)
    @idempotent
    def post(self, request: Request, look: UUID) -> Response:
        opened = get_object_or_404(SecondLook, proposal=proposal_or_404(self.project, look), reviewer=self.user)
        serializer = NewLookAnswerSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        answered = second_look_answer(look=opened, actor=self.user, **serializer.validated_data)
        return Response(LookAnswerSerializer(answered).data)
