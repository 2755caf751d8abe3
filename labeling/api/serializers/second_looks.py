"""Describe second looks in JSON."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from labeling.models import LookAnswer, SecondLook
from labeling.services.second_looks import LONGEST_REMARK


class WaitingLookSerializer(serializers.Serializer[Any]):
    """A second look that waits: of which example."""

    id = serializers.UUIDField(source="proposal.pk")
    dataset = serializers.CharField(source="proposal.plan.dataset.slug")
    example = serializers.UUIDField(source="proposal.revision.example_id")
    revision = serializers.UUIDField(source="proposal.revision_id")


class WaitingLooksSerializer(serializers.Serializer[Any]):
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


class NewLookAnswerSerializer(serializers.Serializer[Any]):
    """An answer after a second look."""

    answer = serializers.ChoiceField(choices=LookAnswer.choices)
    remark = serializers.CharField(max_length=LONGEST_REMARK, allow_blank=True, default="")


class LookAnswerSerializer(serializers.ModelSerializer[SecondLook]):
    """The answer that one gave."""

    id = serializers.UUIDField(source="proposal_id")

    class Meta:
        model = SecondLook
        fields = ("id", "answer", "remark", "answered_at")
