"""Show what runs, gradings and cases look like in JSON, and what a re-reading says of their scores."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from labeling.models import DatasetVersion
from toolevals.grading.metrics.label_noise import LabelNoise
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.presentation.numbers import score_words
from toolevals.runs.aggregates.sums import verdict_rates
from toolevals.runs.judging.blindness import shown_detail
from toolevals.runs.models import Agent, AlignedPair, CaseGrade, Experiment, Grading, Run
from toolevals.runs.queries import schema_reasons
from toolevals.runs.rereading.results import RereadResults
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.api.serializers import IntervalSerializer
from toolevals.workspace.jobs.api import JobSerializer
from toolevals.workspace.models import JobState


class RereadShareSerializer(PlainSerializer):
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


class CorrectedScoreSerializer(PlainSerializer):
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


class ToolsSerializer(PlainSerializer):
    """A registry version."""

    registry = serializers.SlugField(source="registry.slug")
    version = serializers.IntegerField(source="number")


class AgentSerializer(serializers.ModelSerializer[Agent]):
    """An agent in one exact state. Without `tools` it is given what the examples offer."""

    tools = ToolsSerializer(allow_null=True)
    options = serializers.JSONField()

    class Meta:
        model = Agent
        fields: tuple[str, ...] = (
            "id",
            "name",
            "connector",
            "model",
            "prompt_version",
            "commit",
            "tools",
            "options",
            "created_at",
        )


class ListedAgentSerializer(AgentSerializer):
    """An agent with how many runs it has, and the number of the newest."""

    runs = serializers.IntegerField(source="run_count")
    last_run = serializers.IntegerField(allow_null=True)

    class Meta(AgentSerializer.Meta):
        fields = (*AgentSerializer.Meta.fields, "runs", "last_run")


class ExperimentSerializer(serializers.ModelSerializer[Experiment]):
    """A named line of runs: how many, the number of the newest, and when that was started."""

    runs = serializers.IntegerField(source="run_count")
    last_run = serializers.IntegerField(allow_null=True)
    last_run_at = serializers.DateTimeField(allow_null=True)

    class Meta:
        model = Experiment
        fields = ("id", "slug", "name", "runs", "last_run", "last_run_at", "created_at")


class RunVersionSerializer(serializers.ModelSerializer[DatasetVersion]):
    """A frozen version of a dataset."""

    dataset = serializers.SlugField(source="dataset.slug")
    version = serializers.IntegerField(source="number")

    class Meta:
        model = DatasetVersion
        fields = ("dataset", "version", "size")


class RunSerializer(serializers.ModelSerializer[Run]):
    """A run. `grading` is the number of the grading that is shown; null until one is finished."""

    experiment = serializers.SlugField(source="experiment.slug")
    agent = AgentSerializer()
    dataset_version = RunVersionSerializer()
    grading = serializers.IntegerField(source="grading.number", default=None, allow_null=True)
    job = serializers.UUIDField(source="job_id", allow_null=True)
    examples = serializers.IntegerField(source="size", help_text="How many of the version's examples it takes.")

    class Meta:
        model = Run
        fields: tuple[str, ...] = (
            "id",
            "number",
            "experiment",
            "agent",
            "dataset_version",
            "trials",
            "examples",
            "preset",
            "grading",
            "job",
            "created_at",
        )


class VerdictRateSerializer(PlainSerializer):
    """The share of scored cases that passed, over how many examples, with its 95 % interval, clustered by example."""

    passed = serializers.IntegerField()
    total = serializers.IntegerField()
    examples = serializers.IntegerField()
    value = serializers.FloatField()
    interval = IntervalSerializer()


class GoldCountsSerializer(PlainSerializer):
    """The number of examples with gold of one label, of labels that agree, of a decision, and of an import."""

    single = serializers.IntegerField()
    agreed = serializers.IntegerField()
    decided = serializers.IntegerField()
    imported = serializers.IntegerField()


class LabelNoiseSerializer(PlainSerializer):
    """The share of wrong gold, a lower limit, and where its upper end `high` could put the rate of cases passed.

    Null where it is unknown, and `reason` says why. `differing` of `pairs` pairs of first labels differ.
    """

    share = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    bounds = IntervalSerializer(allow_null=True)
    pairs = serializers.IntegerField()
    differing = serializers.IntegerField()
    gold = GoldCountsSerializer()
    reason = serializers.CharField(allow_blank=True)
    words = serializers.CharField(allow_blank=True)


def noise_document(noise: LabelNoise, score: float | None) -> dict[str, Any]:
    """Return what LabelNoiseSerializer shows of the noise next to a score of 0..1."""
    return asdict(noise) | {"bounds": noise.bounds(score), "words": score_words(noise, score)}


class ListedRunSerializer(RunSerializer):
    """A run as lists have it. `stale` is why its shown grading is not on today's gold, empty where it is."""

    grading_id = serializers.UUIDField(allow_null=True)
    state = serializers.ChoiceField(choices=JobState.choices, source="row.state")
    reason = serializers.CharField(source="row.reason", help_text="Why its newest work failed; empty where it did not.")
    outcome = VerdictRateSerializer(source="row.rate", allow_null=True)
    decided_by = serializers.SerializerMethodField(help_text="What decides its cases, the most frequent first.")
    label_noise = serializers.SerializerMethodField(help_text="Null until a case is scored.")
    stale = serializers.CharField(source="row.stale", allow_blank=True)
    cost_of_case = serializers.FloatField(
        source="row.took.cost_of_case", allow_null=True, help_text="Money, by prices."
    )
    tokens_of_case = serializers.FloatField(
        source="row.took.tokens_of_case", allow_null=True, help_text="The mean of tokens in and out."
    )
    latency_p95 = serializers.FloatField(
        source="row.took.latency_p95", allow_null=True, help_text="Milliseconds of a conversation."
    )

    class Meta(RunSerializer.Meta):
        took = ("cost_of_case", "tokens_of_case", "latency_p95")
        own = ("grading_id", "state", "reason", "outcome", "label_noise", *took, "decided_by", "stale")
        fields = (*RunSerializer.Meta.fields, *own)

    def get_decided_by(self, run: Any) -> list[str]:
        return run.row.decided.names if run.row.rate else []

    @extend_schema_field(LabelNoiseSerializer(allow_null=True))
    def get_label_noise(self, run: Any) -> Any:
        noise, rate = run.row.noise, run.row.rate
        return LabelNoiseSerializer(noise_document(noise, rate.value)).data if noise and rate else None


class GradingSerializer(serializers.ModelSerializer[Grading]):
    """A run graded by one set of graders on one dataset version."""

    dataset_version = serializers.IntegerField(source="dataset_version.number")
    graders = serializers.JSONField()
    job = serializers.UUIDField(source="job_id", allow_null=True)

    class Meta:
        model = Grading
        fields: tuple[str, ...] = ("id", "number", "dataset_version", "graders", "job", "created_at", "finished_at")


class GradingDetailSerializer(GradingSerializer):
    """A grading with its counts: verdicts, tags and modes by column and value, and what its conversations took."""

    spending = serializers.JSONField(allow_null=True)
    counts = serializers.SerializerMethodField()
    rates = serializers.SerializerMethodField()

    class Meta(GradingSerializer.Meta):
        fields = (*GradingSerializer.Meta.fields, "spending", "counts", "rates")

    @extend_schema_field({"type": "object", "additionalProperties": {"type": "object"}})
    def get_counts(self, grading: Grading) -> dict[str, dict[str, int]]:
        counts: dict[str, dict[str, int]] = {}
        for column, value, count in grading.verdict_counts.values_list("column", "value", "count"):
            counts.setdefault(column, {})[value] = count
        return counts

    @extend_schema_field(serializers.DictField(child=VerdictRateSerializer()))
    def get_rates(self, grading: Grading) -> dict[str, Any]:
        rates = verdict_rates([grading.pk]).get(grading.pk, {})
        return {name: VerdictRateSerializer(each).data for name, each in rates.items()}


class RunDetailSerializer(RunSerializer):
    """A run with the grading that is shown, and why that is not on today's gold, if it is not."""

    shown = GradingDetailSerializer(source="grading", allow_null=True)
    label_noise = LabelNoiseSerializer(allow_null=True, help_text="Next to the outcome; null until a case is scored.")
    corrected = CorrectedScoreSerializer(allow_null=True, help_text="By the newest re-reading; null without any.")
    stale = serializers.CharField()

    class Meta(RunSerializer.Meta):
        fields = (*RunSerializer.Meta.fields, "shown", "label_noise", "corrected", "stale")


class RunEstimateSerializer(PlainSerializer):
    """The least that a run takes."""

    conversations = serializers.IntegerField()
    input_tokens = serializers.IntegerField(allow_null=True)
    cost = serializers.FloatField(allow_null=True)


class RunStartedSerializer(PlainSerializer):
    """A run that has begun, and the job that shows how far it is."""

    run = RunSerializer()
    job = JobSerializer()


class GradingStartedSerializer(PlainSerializer):
    """A grading that has begun, and its job."""

    grading = GradingSerializer()
    job = JobSerializer()


class CaseSerializer(serializers.ModelSerializer[CaseGrade]):
    """One graded transcript in short."""

    transcript = serializers.UUIDField(source="transcript_id")
    trial = serializers.IntegerField(source="transcript.trial")
    example = serializers.CharField(source="transcript.entry.revision.example.external_id")

    class Meta:
        model = CaseGrade
        fields: tuple[str, ...] = (
            "id",
            "example",
            "trial",
            "transcript",
            *VERDICT_NAMES,
            "decided_by",
            "tag",
            "mode",
            "expected",
            "actual",
            "injection",
        )


class PairSerializer(serializers.ModelSerializer[AlignedPair]):
    """An expected call next to the actual one."""

    class Meta:
        model = AlignedPair
        fields = ("number", "expected", "actual", "arguments")


class SchemaReasonSerializer(PlainSerializer):
    """The reason why a call broke its tool's schema: the nearest rule, and what each alternative of a choice lacks."""

    call = serializers.IntegerField()
    pointer = serializers.CharField()
    rule = serializers.CharField()
    message = serializers.CharField()
    alternatives = serializers.ListField(child=serializers.CharField())


class CaseDetailSerializer(CaseSerializer):
    """One graded transcript in full: every verdict with its reason, what was expected and what was done."""

    pairs = PairSerializer(many=True)
    detail = serializers.SerializerMethodField()
    input = serializers.JSONField(source="transcript.entry.revision.input")
    prediction = serializers.JSONField(source="transcript.document", allow_null=True)
    schema_reasons = serializers.SerializerMethodField()

    class Meta(CaseSerializer.Meta):
        fields = (*CaseSerializer.Meta.fields, "pairs", "detail", "input", "prediction", "schema_reasons")

    @extend_schema_field(serializers.JSONField())
    def get_detail(self, case: CaseGrade) -> Any:
        return shown_detail(case)

    @extend_schema_field(SchemaReasonSerializer(many=True))
    def get_schema_reasons(self, case: CaseGrade) -> Any:
        return [{"call": place, **reason.to_document()} for place, reason in schema_reasons(case)]
