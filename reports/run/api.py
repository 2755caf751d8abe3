"""Serve the figures of a run in the REST interface: the same as its pages and files have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, Final

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from reports.cases.queries import grading_sums, verdict_counts
from reports.costs.analysis import By
from reports.costs.queries import grading_tool_costs, read_order
from reports.costs.table import TOOL_COSTS
from reports.filters.case_filters import EXAMPLE_STRATA, STATUSES, TEXTS, Effect, Split, text, verdict_column
from reports.judges.queries import judges_of
from reports.judges.table import JUDGES
from reports.matrix.analysis import Order
from reports.matrix.queries import counted_matrix
from reports.matrix.state import read_matrix_state
from reports.recovery.queries import grading_episodes, grading_recovery, read_episode_state
from reports.recovery.table import EPISODES, RECOVERY
from reports.reliability.queries import (
    CAME_OUT,
    OTHER_STRATA,
    OUTCOME,
    grading_compounding,
    grading_reliability,
    read_trial_state,
    trial_counts,
)
from reports.reliability.table import OVERVIEW, TRIALS
from reports.run import table as tables
from reports.run.analysis import failure_modes, layers_of, noisy_rows, sentence, tag_counts
from reports.run.baseline_agents import version_asked, version_baseline_agents
from reports.run.header import graded, run_head
from reports.run.metrics import metrics_of
from reports.run.overreach import grading_overreach
from reports.run.queries import (
    grading_arguments,
    grading_findings,
    grading_noise,
    grading_proxies,
    read_rows,
    run_readings,
)
from reports.run.recorded import recorded_agreement
from reports.run.table import LAYERS, VERDICTS
from reports.run.tools import tools_of
from toolevals.grading.layers.recovery import ERROR_CLASSES, REACTIONS
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.presentation.table import RATE, Table
from toolevals.runs.aggregates.cube import Unit, View
from toolevals.runs.grading.models import EPISODES_WENT
from toolevals.runs.models import Episode, Grading, TrialCount
from toolevals.runs.rereading.results import grading_reread
from toolevals.runs.runs.serializers import (
    CorrectedScoreSerializer,
    LabelNoiseSerializer,
    noise_document,
    score_document,
)
from toolevals.workspace.api.base import NewestFirst, ProjectView
from toolevals.workspace.api.plain import PlainSerializer
from toolevals.workspace.tables import serializer_of

RateSerializer = serializer_of(RATE)


class ModeSerializer(PlainSerializer):
    """The number of cases that failed in one way."""

    mode = serializers.CharField()
    layer = serializers.CharField(allow_blank=True)
    count = serializers.IntegerField()
    meaning = serializers.CharField()


class TagSerializer(PlainSerializer):
    """A failure tag, what it means and what to do; whether its cases are in the scores."""

    tag = serializers.CharField()
    count = serializers.IntegerField()
    scored = serializers.BooleanField(source="words.is_scored")
    meaning = serializers.CharField(source="words.meaning")
    to_do = serializers.CharField(source="words.to_do")


class LayersSerializer(PlainSerializer):
    """The layers where cases are lost. `cases` counts all, scored or not; `failure_counts` cases by failure tag."""

    cases = serializers.IntegerField()
    sentence = serializers.CharField()
    label_noise = LabelNoiseSerializer()
    corrected = CorrectedScoreSerializer(allow_null=True, help_text="By the newest re-reading; null without any.")
    layers = serializer_of(LAYERS)(many=True)
    failure_counts = serializers.DictField(child=serializers.IntegerField())
    failure_tags = TagSerializer(many=True)
    failure_modes = ModeSerializer(many=True)


STRATA = {name: TEXTS[name] for name in ("bucket", "difficulty", *EXAMPLE_STRATA)}
GRADING = OpenApiParameter("grading", int, description="The number of a grading; by default the newest finished one.")
SPLIT = (
    OpenApiParameter(
        "split",
        str,
        enum=[each for each in Split if each],
        description="Divide called classes by the verdict on arguments, classes of both sides by the tools' effect, or "
        "expected classes by the value of `split_argument` in the gold.",
    ),
    OpenApiParameter(
        "split_argument", str, description="With `split=value`: the argument, a JSON pointer or a path with dots."
    ),
)
FILTERS = [
    GRADING,
    OpenApiParameter(
        "view", str, enum=list(View), description="First calls of cases, aligned calls, or sets of tools."
    ),
    OpenApiParameter("unit", str, enum=list(Unit), description="Every trial, or each example by most of its trials."),
    OpenApiParameter(
        "collapse", str, description="Namespaces, or effects that divide, to take together, with commas; * for all."
    ),
    *(OpenApiParameter(name, str, description=f"Only cases of this {words}.") for name, words in STRATA.items()),
    OpenApiParameter("gold", str, description="Only cases whose gold comes from there: agreed, adjudicated, ..."),
    OpenApiParameter("tag", str, description="Only cases with this failure tag."),
    OpenApiParameter("tagged", str, description="Only cases with this tag of the team's."),
    OpenApiParameter("issue", str, description="Only cases with the issue of this id."),
    OpenApiParameter("arguments", str, enum=list(STATUSES), description="Only cases with this verdict on arguments."),
    OpenApiParameter("argument", str, description="Only cases that called with this argument, a JSON pointer."),
    OpenApiParameter("value", str, description="With `argument`: only those with this JSON value."),
    OpenApiParameter("tools", str, enum=list(Effect), description="Only cases whose expected tool does this."),
    OpenApiParameter("turn", int, description="Only cases with this number of user messages."),
    OpenApiParameter("trial", int, description="Only this trial, from 1."),
    OpenApiParameter("since", date, description="Only cases answered on this day (UTC) or later."),
    OpenApiParameter("until", date, description="Only cases answered on this day (UTC) or before."),
]


class RunReportView(ProjectView):
    """A report on one grading of one run."""

    def grading(self, number: int) -> Grading:
        return graded(run_head(self.access, number, "run"))


class LayersView(RunReportView):
    """The layers where a run's cases are lost, and how."""

    @extend_schema(parameters=[GRADING], responses=LayersSerializer)
    def get(self, request: Request, number: int) -> Response:
        grading = self.grading(number)
        counts = verdict_counts(grading)
        layers, modes = layers_of(counts, grading_sums(grading)), failure_modes(counts.get("mode", {}))
        tags = tag_counts(counts.get("tag", {}))
        noise = grading_noise(grading)
        document = {
            "layers": noisy_rows(layers, noise),
            "cases": layers.cases,
            "label_noise": noise_document(noise, layers.outcome.rate.value),
            "corrected": score_document(grading_reread(grading)),
            "sentence": sentence(layers, modes),
            "failure_counts": {tag.tag: tag.count for tag in tags},
            "failure_tags": tags,
            "failure_modes": modes,
        }
        return Response(LayersSerializer(document).data)


Query = Mapping[str, str]


def view(
    words: str,
    table: Table,
    read: Callable[[Grading, Query], Any],
    parameters: tuple[OpenApiParameter, ...] = (),
    *,
    many: bool = False,
) -> type[RunReportView]:
    """Return the view of a table; `read` says what is in it, of a grading and of what the address asks."""
    serializer = serializer_of(table)

    class View(RunReportView):
        @extend_schema(parameters=[GRADING, *parameters], responses=serializer(many=many), description=words)
        def get(self, request: Request, number: int) -> Response:
            return Response(serializer(read(self.grading(number), request.query_params), many=many).data)

    return View


# Tables of a run, each at an address of its own name.
RUN_TABLES: Final = {
    "matrix": view(
        "The confusion matrix of a run.",
        tables.MATRIX,
        lambda grading, query: counted_matrix(grading, read_matrix_state(query)),
        (
            *FILTERS[1:],
            *SPLIT,
            OpenApiParameter("order", str, enum=list(Order), description="Order of the classes."),
            OpenApiParameter("measure", str, enum=["cost"], description="Add up what cases cost, too."),
        ),
    ),
    "tools": view(
        "Precision, recall and F1 of each tool of a run.",
        tables.TOOL_TABLE,
        lambda grading, query: tools_of(counted_matrix(grading, read_matrix_state(query).undivided)),
        tuple(FILTERS[1:]),
    ),
    "proxies": view(
        "The agreement of checks of the calls with the end state; empty where no end state was graded.",
        tables.PROXIES,
        lambda grading, _: grading_proxies(grading),
        many=True,
    ),
    "metrics": view(
        "The results of each metric of a run.", tables.METRIC_MEANS, lambda grading, _: metrics_of(grading), many=True
    ),
    "readings": view(
        "Return what the file of a run was read as, and what was left out of it or of the agent's answers.",
        tables.RUN_READINGS,
        lambda grading, _: {"rows": list(read_rows(run_readings(grading.run)))},
    ),
    "recorded": view(
        "A verdict of a run's cases by the rewards that the source of the run recorded.",
        tables.AGREEMENT,
        lambda grading, query: recorded_agreement(grading, verdict_column(query, "column")),
        (OpenApiParameter("column", str, enum=list(VERDICT_NAMES), description="By default outcome."),),
    ),
    "recovery": view(
        "The reactions of a run's agent to failures of tools.", RECOVERY, lambda grading, _: grading_recovery(grading)
    ),
    "arguments": view(
        "The wrong parameters of each tool, and how they are wrong, most often wrong first.",
        tables.ARGUMENTS,
        lambda grading, query: grading_arguments(grading, text(query, "tool")),
        (OpenApiParameter("tool", str, description="Only parameters of this tool."),),
        many=True,
    ),
    "findings": view(
        "The failures of a run's cases, by tool, and the findings in replies.",
        tables.FINDINGS,
        lambda grading, _: grading_findings(grading, verdict_counts(grading)).rows,
        many=True,
    ),
    "overreach": view(
        "Calls to a tool that does more than the right one, or where none was expected.",
        tables.OVERREACH_IN_ALL,
        lambda grading, _: grading_overreach(grading),
    ),
    "judges": view(
        "The results of each judge of a run, and how far it can be trusted.",
        JUDGES,
        lambda grading, _: judges_of(grading),
        many=True,
    ),
    "spending": view(
        "The cost of the calls to each tool of a run.",
        TOOL_COSTS,
        lambda grading, query: grading_tool_costs(grading, read_order(query)),
        (OpenApiParameter("order", str, enum=list(By), description="The largest first; by default by cost."),),
    ),
}


class InOrder(NewestFirst):
    """Pages in the order of the dataset version."""

    ordering = "id"


class ReliabilityView(RunReportView):
    """The reliability of a run by its trials."""

    @extend_schema(
        parameters=[
            GRADING,
            OpenApiParameter("k", int, description="The k of groups; by default all trials."),
            OpenApiParameter("of", str, enum=list(VERDICT_NAMES), description="What a trial passes by: the outcome."),
            OpenApiParameter(
                "stratum", str, enum=list(OTHER_STRATA), description="Groups by it, not by bucket and difficulty."
            ),
        ],
        responses=serializer_of(OVERVIEW),
    )
    def get(self, request: Request, number: int) -> Response:
        head = run_head(self.access, number, "reliability")
        grading = graded(head)
        state = read_trial_state(request.query_params)
        trials = grading_reliability(grading, head.run.trials, state.k, state.of, state.stratum)
        return Response(serializer_of(OVERVIEW)({"trials": trials, "steps": grading_compounding(grading)}).data)


@extend_schema_view(
    get=extend_schema(
        parameters=[
            GRADING,
            OpenApiParameter("how", str, enum=list(CAME_OUT), description="How the scored trials came out."),
            OpenApiParameter("tool", str, description="The first call that is expected."),
        ]
    )
)
class TrialsView(RunReportView, ListAPIView[TrialCount]):
    """Every example of a run of several trials, in pages."""

    serializer_class = serializer_of(TRIALS, TrialCount)
    pagination_class = InOrder
    queryset = TrialCount.objects.none()

    def get_queryset(self) -> QuerySet[TrialCount]:
        state = read_trial_state(self.request.query_params)
        if state.of != OUTCOME:
            raise serializers.ValidationError(
                {"of": "Trials are listed by their outcome here; trials.csv takes others."}
            )
        counts = trial_counts(self.grading(self.kwargs["number"]), state.how, state.tool)
        return counts.select_related("entry__revision__example").defer("entry__revision__input")


@extend_schema_view(
    get=extend_schema(
        parameters=[
            GRADING,
            OpenApiParameter("tool", str, description="The tool that failed."),
            OpenApiParameter("error_class", str, enum=list(ERROR_CLASSES), description="How it failed at first."),
            OpenApiParameter("reaction", str, enum=list(REACTIONS), description="What followed."),
            OpenApiParameter("how", str, enum=list(EPISODES_WENT), description="How it went."),
        ]
    )
)
class EpisodesView(RunReportView, ListAPIView[Episode]):
    """Every failure of a tool in a run, in pages."""

    serializer_class = serializer_of(EPISODES, Episode)
    pagination_class = InOrder
    queryset = Episode.objects.none()

    def get_queryset(self) -> QuerySet[Episode]:
        episodes = grading_episodes(self.grading(self.kwargs["number"]), read_episode_state(self.request.query_params))
        return episodes.select_related("case__transcript__entry__revision__example").defer(
            "case__detail", "case__transcript__document", "case__transcript__entry__revision__input"
        )


class BaselineAgentSerializer(PlainSerializer):
    """Holds what one baseline agent scores; `layers` is null until its run is graded."""

    kind = serializers.CharField()
    name = serializers.CharField()
    run = serializers.IntegerField()
    layers = serializer_of(VERDICTS)(source="layers.rows", many=True, allow_null=True, default=None)


class BaselineAgentsSerializer(PlainSerializer):
    """The baseline agents of a dataset version."""

    baseline_agents = BaselineAgentSerializer(many=True)


class BaselineAgentsView(ProjectView):
    """Show what baseline agents score on a dataset version."""

    @extend_schema(responses=BaselineAgentsSerializer)
    def get(self, request: Request, dataset: str, version: str) -> Response:
        version_row = version_asked(self.access, dataset, version)
        return Response(BaselineAgentsSerializer({"baseline_agents": version_baseline_agents(version_row)}).data)
