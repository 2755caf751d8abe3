"""Show what came of a re-reading, as the REST interface shows it of re-readings and next to the scores of runs."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from toolevals.runs.rereading.results import RereadResults


class RereadShareSerializer(serializers.Serializer[Any]):
    """The cases of one verdict: how many people judged how, and the share judged right with its 95 % interval."""

    verdict = serializers.CharField()
    drawn = serializers.IntegerField()
    right = serializers.IntegerField()
    wrong = serializers.IntegerField()
    cannot_say = serializers.IntegerField()
    tied = serializers.IntegerField()
    unread = serializers.IntegerField()
    share = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)


class CorrectedScoreSerializer(serializers.Serializer[Any]):
    """The score that a re-reading speaks for, with its 95 % interval; null where `reason` says why it is unknown.

    `unscored` cases were read, and are in no figure: no one could say, or people were tied.
    """

    rereading = serializers.UUIDField()
    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    reason = serializers.CharField(allow_blank=True)
    unscored = serializers.IntegerField()
    verdicts = RereadShareSerializer(many=True)
    words = serializers.CharField()


def score_document(results: RereadResults | None) -> dict[str, Any] | None:
    """Return what CorrectedScoreSerializer shows; None where no re-reading came to an end."""
    if results is None:
        return None
    score = results.score
    verdicts = [
        {"verdict": row.verdict, "drawn": row.drawn, **row.counts}
        | {"share": row.share.value, "low": row.share.low, "high": row.share.high}
        for row in results.verdicts
    ]
    document = {
        "rereading": results.rereading.pk,
        "value": score.value,
        "low": score.low,
        "high": score.high,
        "reason": score.reason,
        "unscored": results.unscored,
        "verdicts": verdicts,
        "words": results.words,
    }
    return dict(CorrectedScoreSerializer(document).data)
