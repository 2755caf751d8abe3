"""Serves traces in the REST interface: the list, and one trace."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from toolevals.grading.json_schema.conformance import why_unused
from toolevals.grading.values.problems import Problem
from toolevals.json_types import JsonMapping
from toolevals.traces.blindness import CLOSED
from toolevals.traces.intake.models import shown
from toolevals.traces.judges.models import VerdictStatus
from toolevals.traces.judges.rules import open_questions
from toolevals.traces.models import Trace
from toolevals.traces.promotion.examples_of_trace import ExampleOfTrace, LaterCase, examples_of_trace
from toolevals.traces.reading.calls import UsedTool, used_tools
from toolevals.traces.reading.chunks import read_chunks, registered_tools
from toolevals.traces.reading.filters import NAMES, SAID_ONCE, VERDICTS, TraceFilter
from toolevals.traces.reading.page import judged_of, kept_verdicts, whole_conversation
from toolevals.traces.reading.rules import Rule
from toolevals.traces.reading.traces import ReadSpan, TraceReading, trace_read
from toolevals.workspace.api.base import ProjectView
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.api.problems import Problems


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


class EventSerializer(PlainSerializer):
    """An event of a span, or a log record that was made in it."""

    name = serializers.CharField(allow_blank=True)
    time_unix_nano = serializers.IntegerField(source="time")
    attributes = serializers.DictField(help_text="The body of a log record is `event.body`.")


class LoneRecordSerializer(PlainSerializer):
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
    is_folded = serializers.BooleanField(help_text="Whether the example came from another turn with the same request.")
    status = serializers.CharField()
    gold = serializers.DictField(source="gold_document", allow_null=True)
    rationale = serializers.CharField(allow_blank=True)
    set_aside = serializers.CharField(allow_blank=True)
    cases = LaterCaseSerializer(many=True)


class JudgedSerializer(PlainSerializer):
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


class PolicyVerdictSerializer(PlainSerializer):
    """Holds what a policy said of a call, or of a trace that it cannot read."""

    rule = serializers.CharField(source="rule.name")
    version = serializers.IntegerField(source="rule.version", help_text="The version of the policy.")
    span_id = serializers.CharField(source="verdict.span_id", allow_blank=True)
    status = serializers.ChoiceField(source="verdict.status", choices=VerdictStatus.choices)
    reason = serializers.CharField(source="verdict.reason", allow_blank=True)


class NotJudgedSerializer(PlainSerializer):
    """A question to a judge without an answer: it waits, or it is not asked."""

    rule = serializers.CharField(source="rule.name")
    judge = serializers.CharField(source="rule.judge")
    span_id = serializers.CharField(allow_blank=True, help_text="Empty where it is about no single span.")
    is_waiting = serializers.BooleanField()
    reason = serializers.CharField(allow_blank=True)


class DamageSerializer(PlainSerializer):
    """Names what of a span came cut, dropped by its sender, or changed."""

    span_id = serializers.CharField()
    pointer = serializers.CharField(allow_blank=True)
    message = serializers.CharField()


class TraceDetailSerializer(PlainSerializer):
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
    policies = PolicyVerdictSerializer(many=True)
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


_SAID = {
    "q": "Beginnings of words in names, errors, and the first 2,000 characters of request and answer.",
    "error": "A class of errors of one call, or `any`.",
    "arguments": "`bad`: a call's arguments do not fit the schema that was offered.",
    "min_call_ms": "Milliseconds that one call took at least.",
    "rule": "An online rule that said something of a span, or `judge:` and a rubric; `verdict` tells what it said.",
    "judge": "The id of a judge; `verdict` tells what it said.",
    "verdict": "What a rule or a judge said. `not_judged` and `waiting` are those to which a judge gave no answer.",
    "asked": "A day on which the judge, or any, was asked about the trace.",
    "without": "What the traces do not say.",
    "since": "A time or a day on or after which the trace came.",
    "until": "A time before which it came, or the last day.",
}
_ENUMS = {"verdict": [*VERDICTS], "without": [*SAID_ONCE]}
FILTERS = [
    *(OpenApiParameter(name, str, description=_SAID.get(name, ""), enum=_ENUMS.get(name)) for name in NAMES),
    OpenApiParameter("broke", str, description="The older name of `rule` with the verdict `failed`.", deprecated=True),
]


def filter_of(parameters: JsonMapping) -> TraceFilter:
    """Return the filter of an address. Raises `Problems` where a value of it is wrong."""
    return checked(TraceFilter.of(parameters))


def checked(trace_filter: TraceFilter) -> TraceFilter:
    """Return a filter that can be read. Raises `Problems`."""
    if trace_filter.problems:
        problems = [Problem(f"/{name}", words) for name, words in trace_filter.problems.items()]
        raise Problems(HTTPStatus.UNPROCESSABLE_ENTITY, "The filter is not valid.", problems)
    return trace_filter


@extend_schema_view(get=extend_schema(parameters=FILTERS))
class Traces(ProjectView, ListAPIView[Trace]):
    """The project's traces, the newest first, by the filters of the page."""

    serializer_class = TraceSerializer
    queryset = Trace.objects.none()

    def get_queryset(self) -> Any:
        return filter_of(self.request.query_params).traces(self.project, self.role)

    def paginate_queryset(self, queryset: Any) -> Any:
        found = super().paginate_queryset(queryset)
        return found if found is None else shown(found)


class TraceDetail(ProjectView):
    """One trace, read again from what its sender sent."""

    @extend_schema(responses=TraceDetailSerializer)
    def get(self, request: Request, trace: UUID) -> Response:
        found = get_object_or_404(Trace.objects.in_project(self.project).with_closed(self.project, self.role), pk=trace)
        if vars(found)["is_closed"]:
            raise PermissionDenied(CLOSED)
        chunks = read_chunks(found)
        reading = trace_read(chunks.spans)
        document = {
            "trace": found,
            "reading": reading,
            "used": used_tools(reading, registered_tools(self.project)),
            "examples": examples_of_trace(found, self.user, self.role),
            "lone_records": chunks.lone,
            "judged": judged_of(found),
            "not_judged": open_questions(found, reading),
            "policies": [each for each in kept_verdicts(found) if isinstance(each.rule, Rule) and each.rule.policy],
            "damage": [
                {"span_id": span_id, "pointer": each.pointer, "message": each.message}
                for span_id, each in reading.damage
            ],
        }
        return Response(TraceDetailSerializer(document).data)
