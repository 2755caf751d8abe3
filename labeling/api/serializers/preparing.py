"""Describe coverage, quotas, lint and drafts of edge cases in JSON."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from labeling.coverage.quotas import SCHEMA
from labeling.models import ProposedExample
from labeling.services.proposals import LONGEST_WORDS, MOST_AT_ONCE
from toolevals.grading.edge_cases import EdgeCase

KINDS = [kind.value for kind in EdgeCase]


class CoverageCellSerializer(serializers.Serializer[Any]):
    """How many examples with gold a tool has of a kind, how many are wanted (null: none are), and how many lack."""

    covers = serializers.CharField(source="cell.covers")
    have = serializers.IntegerField()
    wanted = serializers.IntegerField(allow_null=True)
    lacking = serializers.IntegerField()


class CoverageToolSerializer(serializers.Serializer[Any]):
    """One tool's cells."""

    tool = serializers.CharField()
    cells = CoverageCellSerializer(many=True)


class CoverageShareSerializer(serializers.Serializer[Any]):
    """One class of a stratum; `waiting` examples have no gold yet."""

    stratum = serializers.CharField()
    name = serializers.CharField()
    have = serializers.IntegerField()
    wanted = serializers.IntegerField(allow_null=True)
    waiting = serializers.IntegerField()


class CoverageGapSerializer(serializers.Serializer[Any]):
    """Something to add."""

    lacking = serializers.IntegerField()
    tool = serializers.CharField()
    what = serializers.CharField()
    have = serializers.IntegerField()
    wanted = serializers.IntegerField()
    waiting = serializers.IntegerField()


class CoverageSerializer(serializers.Serializer[Any]):
    """What a dataset covers. Large datasets are counted by a job: `counted_at` says when, null is now."""

    counted_at = serializers.DateTimeField(allow_null=True)
    job = serializers.UUIDField(allow_null=True)
    size = serializers.IntegerField()
    gold = serializers.IntegerField()
    waiting = serializers.IntegerField()
    set_aside = serializers.IntegerField()
    tools = CoverageToolSerializer(many=True)
    strata = CoverageShareSerializer(many=True)
    next = CoverageGapSerializer(many=True)


@extend_schema_field(dict(SCHEMA))
class LintSerializer(serializers.Serializer[Any]):
    """A report: findings, how many of each rule, and what an agent that does nothing passes."""

    created_at = serializers.DateTimeField()
    examples = serializers.IntegerField(source="document.examples")
    gold = serializers.IntegerField(source="document.gold")
    passed_idle = serializers.IntegerField(source="document.passed_idle")
    no_call = serializers.IntegerField(source="document.no_call")
    tools = serializers.IntegerField(source="document.tools")
    counts = serializers.DictField(child=serializers.IntegerField(), source="document.counts")
    findings = serializers.ListField(child=serializers.DictField(), source="document.findings")
    ignored = serializers.DictField(child=serializers.DictField(), source="document.ignored")


class IgnoredSerializer(serializers.Serializer[Any]):
    """Why a finding is let be."""

    reason = serializers.CharField(max_length=300)


class ProposalSerializer(serializers.ModelSerializer[ProposedExample]):
    """A draft of an edge case, made from the example `origin`."""

    origin = serializers.UUIDField(source="origin.example_id")
    input = serializers.JSONField()
    expectation = serializers.JSONField(allow_null=True)

    class Meta:
        model = ProposedExample
        fields = ("id", "origin", "tool", "parameter", "kind", "input", "expectation", "state", "example", "created_at")


class NewProposalsSerializer(serializers.Serializer[Any]):
    """Which drafts to make; null is any."""

    tools = serializers.ListField(child=serializers.CharField(max_length=200), allow_null=True, default=None)
    kinds = serializers.ListField(child=serializers.ChoiceField(KINDS), allow_null=True, default=None)
    limit = serializers.IntegerField(min_value=1, max_value=MOST_AT_ONCE, default=50)


class MadeSerializer(serializers.Serializer[Any]):
    """How many drafts are new."""

    made = serializers.IntegerField()


class AcceptSerializer(serializers.Serializer[Any]):
    """Other last words of the user; null leaves those of the draft."""

    words = serializers.CharField(max_length=LONGEST_WORDS, allow_null=True, default=None)
