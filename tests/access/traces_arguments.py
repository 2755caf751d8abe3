"""Arguments of the addresses of traces: one that is summed up, made once, serves all of them."""

from __future__ import annotations

from uuid import UUID

from labeling.models import Dataset
from tests.access import labeling_arguments
from tests.access.world import Argument, World
from tests.agents.judges import MODEL
from tests.traces.sending import conversation, export
from toolevals.runs.judging.services import JudgeRequest, judge_add, rubric_use
from toolevals.traces.intake.services import spans_store
from toolevals.traces.intake.sorting import sorted_spans
from toolevals.traces.judges.services import TraceJudgeRequest, trace_judge_set
from toolevals.traces.models import Period, Promotion, PromotionSchedule, PromotionState, Trace, TraceJudge, Turns
from toolevals.traces.promotion.schedules import ScheduleRequest, schedule_add
from toolevals.traces.reading.services import trace_settle
from toolevals.workspace.models import User


def a_trace(world: World, person: User) -> UUID:
    """Return the id of the project's first trace; the first call makes it."""
    trace = Trace.objects.filter(project=world.project).order_by("pk").first()
    if trace is None:
        spans_store(project=world.project, traces=sorted_spans(export(*conversation())).traces)
        trace = Trace.objects.get(project=world.project)
        trace_settle(trace=trace)
    return UUID(str(trace.pk))


def a_promotion(world: World, person: User) -> UUID:
    """Return the id of the project's first sample of traces, drawn and not made; the first call draws it."""
    found = Promotion.objects.filter(project=world.project).order_by("pk").first()
    if found is None:
        trace = a_trace(world, person)
        found = Promotion.objects.create(
            project=world.project,
            dataset=a_dataset_of(world),
            actor=world.owner,
            state=PromotionState.DRAWN,
            shows_first=True,
            drawn=1,
            plan={"new": [{"trace": str(trace), "turn": 1, "alike": []}], "known": []},
        )
    return UUID(str(found.pk))


def a_schedule(world: World, person: User) -> UUID:
    """Return the id of the project's first schedule; the first call makes it."""
    found = PromotionSchedule.objects.filter(project=world.project).first() or schedule_add(
        request=ScheduleRequest(
            dataset=a_dataset_of(world),
            wanted={},
            period=Period.DAILY,
            count=1,
            most_waiting=1,
            turns=Turns.EVERY,
            strata=("calls",),
        ),
        actor=world.owner,
    )
    return UUID(str(found.pk))


def a_trace_judge(world: World, person: User) -> UUID:
    """Return the id of the first judge that is asked about the project's traces; the first call binds it."""
    found = TraceJudge.objects.filter(project=world.project).first()
    if found is None:
        judge = judge_add(
            project=world.project,
            actor=world.owner,
            rubric=rubric_use(project=world.project, actor=world.owner, name="task_completion"),
            request=JudgeRequest("Judge of traces", MODEL, {"base_url": "https://judges.example.org/v1"}),
        )
        request = TraceJudgeRequest(share=0.5)
        found = trace_judge_set(project=world.project, actor=world.owner, judge=judge, request=request)
    return UUID(str(found.judge_id))


def a_dataset_of(world: World) -> Dataset:
    """Return a dataset of the project."""
    slug = str(labeling_arguments.ARGUMENTS["dataset"](world, world.owner))
    return Dataset.objects.get(project=world.project, slug=slug)


ARGUMENTS: dict[str, Argument] = {
    "trace": a_trace,
    "span": lambda *_: f"{3:016x}",
    "promotion": a_promotion,
    "schedule": a_schedule,
    "trace_judge": a_trace_judge,
}
