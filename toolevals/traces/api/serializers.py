"""Shows traces as the REST interface has them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from toolevals.grading.json_schema.conformance import why_unused
from toolevals.traces.judges.models import VerdictStatus
from toolevals.traces.models import Trace
from toolevals.traces.page import whole_conversation
from toolevals.traces.promotion.examples_of_trace import ExampleOfTrace, LaterCase
from toolevals.traces.reading.calls import UsedTool
from toolevals.traces.reading.traces import ReadSpan, TraceReading
from toolevals.traces.tool_changes import MEASURES
from toolevals.workspace.api.serializers import IntervalSerializer


class TraceSerializer(serializers.ModelSerializer[Trace]):
    """A trace in a list."""

    otel_trace_id = serializers.CharField(source="trace_id.hex", help_text="As its sender gave it.")
    user = serializers.CharField(source="end_user", help_text="Who spoke with the agent, as the sender says.")
    tools = serializers.ListField(child=serializers.CharField())
    error_classes = serializers.ListField(child=serializers.CharField())
    is_whole = serializers.BooleanField(help_text="Whether its root has ended and nothing new waits to be read.")
    is_cut = serializers.BooleanField(help_text="Whether part of it came cut: no calls do not mean that none was made.")

    class Meta:
        model = Trace
        fields = (
            *("id", "otel_trace_id", "name", "started_at", "received_at", "duration_ms", "is_whole", "is_cut", "spans"),
            *("agent", "agent_version", "model", "session", "user", "calls", "failed_calls", "tools"),
            *("error_classes", "input_tokens", "output_tokens", "cost", "error", "request"),
        )


class EventSerializer(serializers.Serializer[Any]):
    """An event of a span, or a log record that was made in it."""

    name = serializers.CharField(allow_blank=True)
    time_unix_nano = serializers.IntegerField(source="time")
    attributes = serializers.DictField(help_text="The body of a log record is `event.body`.")


class LoneRecordSerializer(serializers.Serializer[Any]):
    """A log record of a span that has not come."""

    span_id = serializers.CharField()
    name = serializers.CharField(source="event.name", allow_blank=True)
    time_unix_nano = serializers.IntegerField(source="event.time")
    attributes = serializers.DictField(source="event.attributes")


class SpanSerializer(serializers.Serializer[ReadSpan]):
    """A span: what it says, and its attributes."""

    span_id = serializers.CharField(source="span.span_id")
    parent_id = serializers.CharField(source="span.parent_id", allow_blank=True)
    name = serializers.CharField(source="span.name", allow_blank=True)
    kind = serializers.ChoiceField(source="reading.kind", choices=["model", "tool", "agent", "other"])
    step = serializers.CharField(
        source="reading.step", allow_blank=True, help_text="The kind of step in the sender's word, where it has one."
    )
    convention = serializers.CharField(source="reading.convention")
    start_unix_nano = serializers.IntegerField(source="span.start")
    duration_ms = serializers.FloatField()
    error = serializers.CharField(source="reading.error", allow_null=True)
    attributes = serializers.DictField(source="span.attributes")
    events = EventSerializer(source="span.events", many=True)
    unread = serializers.ListField(
        source="reading.unread", child=serializers.CharField(), help_text="Attributes that no reader knows."
    )


class CallSerializer(serializers.Serializer[UsedTool]):
    """A call of a tool."""

    tool = serializers.CharField()
    arguments = serializers.JSONField(allow_null=True)
    span_id = serializers.CharField(allow_blank=True)
    duration_ms = serializers.FloatField(allow_null=True)
    error_class = serializers.CharField(allow_blank=True)
    arguments_fit = serializers.BooleanField(allow_null=True)
    problem = serializers.CharField(allow_blank=True)


class ToolFiguresSerializer(serializers.Serializer[Any]):
    """The calls of a tool, or of a part of them."""

    tool = serializers.CharField()
    part = serializers.CharField(allow_blank=True, help_text="The version, agent or day where the table is split.")
    calls = serializers.IntegerField()
    failed = serializers.IntegerField()
    error_rate = serializers.FloatField()
    error_interval = IntervalSerializer(source="errors_known.interval", help_text="Clustered by trace.")
    traces = serializers.IntegerField(source="errors_known.examples", help_text="Traces in which it was called.")
    errors_by_class = serializers.DictField(
        source="errors", child=serializers.IntegerField(), help_text="Calls by class of error."
    )
    checked = serializers.IntegerField(help_text="Calls whose tool was offered with a schema.")
    misfits = serializers.IntegerField(help_text="Those of them whose arguments do not fit it.")
    misfit_rate = serializers.FloatField(allow_null=True)
    misfit_interval = IntervalSerializer(source="misfits_known.interval", allow_null=True)
    percentiles_ms = serializers.ListField(
        source="percentiles",
        child=serializers.FloatField(allow_null=True),
        help_text="Durations that 50, 95 and 99 % did not exceed, to within 1 %.",
    )


class CostFiguresSerializer(serializers.Serializer[Any]):
    """Shows what the traces of one part took together; `costed` are those whose cost is known."""

    part = serializers.CharField(allow_blank=True, help_text="The version, agent, model or day; empty where not split.")
    traces = serializers.IntegerField()
    input_tokens = serializers.IntegerField()
    output_tokens = serializers.IntegerField()
    costed = serializers.IntegerField()
    cost = serializers.FloatField(allow_null=True, help_text="In the currency in which costs came.")
    cost_of_each = serializers.FloatField(allow_null=True)
    looped = serializers.IntegerField(help_text="Traces in which the rule on loops failed.")


class ToolChangeSerializer(serializers.Serializer[Any]):
    """A rate of a tool that surely changed, as the page marks it."""

    change_id = serializers.UUIDField(help_text="The same in every export of the same table.")
    tool = serializers.CharField()
    part = serializers.CharField(allow_blank=True, help_text="The version where the table is split by it.")
    measure = serializers.ChoiceField(choices=MEASURES)
    against = serializers.CharField(help_text="The version or the days that it is compared with.")
    before = serializers.FloatField(help_text="From 0 to 1.")
    after = serializers.FloatField(help_text="From 0 to 1.")
    p_value = serializers.FloatField(help_text="Two-sided, adjusted for all rates of the table.")


class RuleDaySerializer(serializers.Serializer[Any]):
    """Verdicts of an online rule, or of a judge, on the traces that came on one day."""

    rule = serializers.CharField(source="rule.name")
    judge = serializers.CharField(source="rule.judge", allow_blank=True, help_text="Empty where no judge is asked.")
    judge_model = serializers.CharField(source="rule.model", allow_blank=True)
    span_kind = serializers.CharField(
        source="rule.kind", allow_blank=True, help_text="The spans that it is about; empty for the trace as a whole."
    )
    not_judged = serializers.IntegerField(help_text="Questions in a judge's share that it was not asked.")
    day = serializers.DateField()
    passed = serializers.IntegerField()
    failed = serializers.IntegerField()
    unscored = serializers.IntegerField()
    errored = serializers.IntegerField()
    traces = serializers.IntegerField(source="rate.examples", help_text="Traces with a verdict that passed or failed.")
    rate = serializers.FloatField(source="rate.value", allow_null=True)
    interval = IntervalSerializer(source="rate.interval", allow_null=True, help_text="Clustered by trace.")


class LaterCaseSerializer(serializers.Serializer[LaterCase]):
    """Shows what a run did on an example."""

    run = serializers.IntegerField()
    agent = serializers.CharField()
    case = serializers.UUIDField()
    outcome = serializers.CharField()
    mode = serializers.CharField(allow_blank=True)


class ExampleOfTraceSerializer(serializers.Serializer[ExampleOfTrace]):
    """An example that a turn asks; with its gold once it is resolved, and what the newest runs did on it."""

    turn = serializers.IntegerField()
    example = serializers.UUIDField()
    external_id = serializers.CharField()
    dataset = serializers.CharField()
    is_folded = serializers.BooleanField(help_text="Whether the example was made of another turn that asks the same.")
    status = serializers.CharField()
    gold = serializers.DictField(source="gold_document", allow_null=True)
    rationale = serializers.CharField(allow_blank=True)
    set_aside = serializers.CharField(allow_blank=True)
    cases = LaterCaseSerializer(many=True)


class JudgedSerializer(serializers.Serializer[Any]):
    """Holds what a judge said of a trace, or of a span of it."""

    rule = serializers.CharField(source="rule.name")
    judge = serializers.CharField(source="rule.judge")
    judge_model = serializers.CharField(source="snapshot", help_text="The snapshot that answered.")
    span_kind = serializers.CharField(
        source="rule.kind", allow_blank=True, help_text="The kind of the span; empty where the whole trace is judged."
    )
    span_id = serializers.CharField(source="verdict.span_id", allow_blank=True)
    status = serializers.ChoiceField(source="verdict.status", choices=VerdictStatus.choices)
    value = serializers.FloatField(source="verdict.value", allow_null=True)
    reason = serializers.CharField(source="verdict.reason", allow_blank=True)
    cost = serializers.FloatField(allow_null=True, help_text="In the currency of the judge's prices.")


class NotJudgedSerializer(serializers.Serializer[Any]):
    """A question to a judge without an answer: it waits, or it is not asked."""

    rule = serializers.CharField(source="rule.name")
    judge = serializers.CharField(source="rule.judge")
    span_id = serializers.CharField(allow_blank=True, help_text="Empty where it is about no single span.")
    is_waiting = serializers.BooleanField()
    reason = serializers.CharField(allow_blank=True)


class DamageSerializer(serializers.Serializer[Any]):
    """Names what of a span came cut, dropped by its sender, or changed."""

    span_id = serializers.CharField()
    pointer = serializers.CharField(allow_blank=True)
    message = serializers.CharField()


class TraceDetailSerializer(serializers.Serializer[Any]):
    """A trace with its conversation, what was offered, its calls and its spans."""

    trace = TraceSerializer()
    input = serializers.DictField(source="reading.given")
    conversation = serializers.SerializerMethodField()
    tools = serializers.SerializerMethodField()
    unused_schemas = serializers.SerializerMethodField()
    used = CallSerializer(many=True)
    spans = SpanSerializer(source="reading.spans", many=True)
    examples = ExampleOfTraceSerializer(many=True)
    lone_records = LoneRecordSerializer(many=True)
    judged = JudgedSerializer(many=True)
    not_judged = NotJudgedSerializer(many=True)
    damage = DamageSerializer(many=True)
    is_partial = serializers.SerializerMethodField(
        help_text="Whether part of what the agent did is lost: then no call here does not mean that none was made."
    )

    def get_is_partial(self, found: dict[str, Any]) -> bool:
        """Tell whether part of what the agent did is lost."""
        return any(each.reading.is_partial for each in _reading(found).spans)

    def get_conversation(self, found: dict[str, Any]) -> dict[str, Any]:
        """Return what was given and what was done, as one conversation."""
        return whole_conversation(_reading(found))

    def get_tools(self, found: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the tools that were offered, in the native form."""
        return [tool.to_document() for tool in _reading(found).tools]

    def get_unused_schemas(self, found: dict[str, Any]) -> list[str]:
        """Return the sentences that say of which tools the schema is kept and not used, and why."""
        return list(filter(None, map(why_unused, _reading(found).tools)))


def _reading(found: dict[str, Any]) -> TraceReading:
    reading: TraceReading = found["reading"]
    return reading
