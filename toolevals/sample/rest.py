"""Make the rest of the sample in the background: recorded runs, later runs, a week of traces, and a gate with history.

Each part is made in the transaction that ends its batch: a worker that is killed leaves nothing of it, and the next one
makes it whole. Runs, gates and traces are dated back, to before the project itself; pages say so of whatever is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from labeling.datasets.services import dataset_create
from labeling.models import Dataset
from reports.gates.services import LAST_PASSING, GateRequest, gate_hold, named_gate_save
from reports.models import HeldGate
from toolevals.registry.models import RegistryVersion
from toolevals.registry.services import registry_publish
from toolevals.runs.agents.services import agent_ensure
from toolevals.runs.models import Connector, Run
from toolevals.runs.runs.recorded import RecordedRequest, recorded_import
from toolevals.runs.runs.services import RunParts, run_start
from toolevals.sample import content
from toolevals.sample.production import THRESHOLD, exported, recorded_conversations, shop_conversations
from toolevals.traces.intake.services import spans_store
from toolevals.traces.intake.sorting import sorted_spans
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.leases import BatchPreempted, BatchRefused, Lease
from toolevals.workspace.jobs.services import BatchPlan, job_create
from toolevals.workspace.models import Job, Project, Queue, User

SLUG: Final = "shop-support"
KIND: Final = "sample"
EXPERIMENT: Final = "descriptions"
# Days before the sample is made on which its runs with the shop's messages are said to have been, in their order.
DAYS: Final = (35, 28, 21, 14, 12, 3)
RECORDED_DAYS: Final = 25
# What the kept gate asks; from its second run on it also compares with the last run that passed it.
GATE_NAME: Final = "release"
GATE: Final = {"bounds": [{"metric": "selection", "min": 0.2}]}
LATER_GATE: Final = {**GATE, "regressions": [{"rule": "paired", "metrics": ["selection"]}]}


@dataclass(frozen=True, slots=True)
class _Recorded:
    """A file of recorded runs: the agent's name and model, and the dataset that its tasks are in."""

    name: str
    model: str
    dataset: str
    title: str


_TASKS: Final = ("airline-tasks", "Airline tasks")
RECORDED: Final = {
    "gpt-4.1": _Recorded("airline desk", "gpt-4.1", *_TASKS),
    "gpt-4.1-tuned": _Recorded("airline desk", "gpt-4.1, fine-tuned", *_TASKS),
    "gpt-4o_trials": _Recorded("airline desk", "gpt-4o", "airline-trials", "Airline, four trials"),
}
# Those with times and tokens: they are production, too.
TRACED: Final = {name: RECORDED[name].model for name in ("gpt-4.1", "gpt-4.1-tuned")}


def rest_start(project: Project, actor: User, parts: Iterable[str] | None = None) -> Job:
    """Begin to make the rest of the sample, or some of its parts. The runs and gates that it waits for come first."""
    stages = enumerate(_PARTS if parts is None else parts)
    return job_create(
        project=project,
        actor=actor,
        kind=KIND,
        title="The rest of the sample",
        priority=-1,
        batches=[BatchPlan("sample.make", {"part": part}, stage=at, queue=Queue.GRADE) for at, part in stages],
    )


def rest_make(lease: Lease) -> None:
    """Make the part of the sample that a batch stands for."""
    job = Job.objects.select_related("project", "actor").get(pk=lease.batch.job_id)
    if job.actor is None:
        raise BatchRefused("The person in whose name the sample is made is gone.")
    _PARTS[lease.payload["part"]](job.project, job.actor, lease.finish)


Finish = Callable[[], AbstractContextManager[None]]


def run_date_back(run: Run, days: float) -> None:
    """Let a run have been started so many days ago; before its project, which tells its pages that it is dated back."""
    Run.objects.filter(pk=run.pk).update(created_at=database_now() - timedelta(days=days))


def _recorded(name: str) -> Callable[[Project, User, Finish], None]:
    def make(project: Project, actor: User, finish: Finish) -> None:
        said = RECORDED[name]
        packed = content.recorded(name)
        with finish():
            dataset = Dataset.objects.filter(project=project, slug=said.dataset).first() or dataset_create(
                project=project,
                actor=actor,
                slug=said.dataset,
                name=said.title,
                description="Published runs of other people's agents with a simulated airline, as recorded (tau-bench "
                "and tau2-bench, MIT licence). What the benchmark rewarded stands on the runs' page Recorded.",
            )
            request = RecordedRequest(
                dataset=dataset, experiment=said.title, name=said.name, model=said.model, decided_by="dataset"
            )
            made = recorded_import(actor=actor, request=request, content=packed, file_name=f"airline {name}")
            run_date_back(made.run, RECORDED_DAYS)

    return make


def _runs(project: Project, actor: User, finish: Finish) -> None:
    """Start four more runs: the descriptions are cut and worse, repaired, and the baseline calls less readily."""
    with finish():
        first = Run.objects.filter(project=project, experiment__slug=EXPERIMENT).order_by("number").first()
        if first is None or first.agent.tools is None:
            raise BatchRefused("The sample's first runs are gone.")
        registry = first.agent.tools.registry
        after = registry.versions.get(number=2)
        cut = registry_publish(
            registry=registry,
            actor=actor,
            document=content.shortened_tools(repaired=False),
            note="Descriptions cut to their first clause, to save tokens",
        )
        repaired = registry_publish(
            registry=registry,
            actor=actor,
            document=content.shortened_tools(repaired=True),
            note="What triggers a tool is whole again; what it is not for stays out",
        )
        later: tuple[tuple[str, RegistryVersion, float], ...] = (
            ("baseline, threshold 0.04", after, THRESHOLD),
            ("baseline, descriptions cut", cut, THRESHOLD),
            ("baseline, descriptions repaired", repaired, THRESHOLD),
            ("baseline, threshold 0.05", repaired, 0.05),
        )
        for days, (name, tools, threshold) in zip(DAYS[2:], later, strict=True):
            agent = agent_ensure(
                project=project,
                actor=actor,
                name=name,
                connector=Connector.BASELINE,
                tools=tools,
                options={"threshold": threshold},
            )
            parts = RunParts(
                project=project,
                actor=actor,
                experiment=first.experiment,
                agent=agent,
                dataset_version=first.dataset_version,
            )
            run_date_back(run_start(parts), days)


def _traces(project: Project, actor: User, finish: Finish) -> None:
    """Keep a week of traces, as agents send them."""
    now = database_now()
    made = [*shop_conversations(now), *recorded_conversations(now, TRACED)]
    came = {each.trace_id: each.start + timedelta(milliseconds=each.passed) for each in made}
    traces = sorted_spans(exported(made)).traces
    with finish():
        spans_store(project=project, traces=traces, came=came)


def _gate(place: int) -> Callable[[Project, User, Finish], None]:
    def make(project: Project, actor: User, finish: Finish) -> None:
        """Check a run of the shop's by the kept gate, once it is graded and the run before is checked."""
        shop = Run.objects.filter(project=project, experiment__slug=EXPERIMENT, created_at__lt=project.created_at)
        run = next(iter(shop.select_related("project", "grading", "job").order_by("number")[place:]), None)
        if run is None:
            return
        if run.grading is None and run.job is not None and run.job.is_open:
            raise BatchPreempted
        if HeldGate.objects.filter(project=project, status="", job__in=Job.objects.open()).exists():
            raise BatchPreempted
        with finish():
            if place < 2:
                gate, baseline = (LATER_GATE, LAST_PASSING) if place else (GATE, "")
                named_gate_save(
                    project=project, actor=actor, name=GATE_NAME, gate=gate, baseline=baseline, was=GATE_NAME
                )
            held = gate_hold(run=run, actor=actor, request=GateRequest(name=GATE_NAME, branch="main"))
            HeldGate.objects.filter(pk=held.pk).update(created_at=run.created_at + timedelta(minutes=1))

    return make


_PARTS: Final[Mapping[str, Callable[[Project, User, Finish], None]]] = {
    **{f"recorded {name}": _recorded(name) for name in RECORDED},
    "runs": _runs,
    "traces": _traces,
    **{f"gate {place}": _gate(place) for place in range(len(DAYS))},
}


@dataclass(frozen=True, slots=True)
class StillMade:
    """The job that still makes the rest of the sample; None where there is none, or it is done."""

    job: Job | None

    @property
    def at_work(self) -> bool:
        return self.job is not None


def still_made(project: Project) -> StillMade:
    """Return whether the rest of the sample project is still being made; another project is not asked for it."""
    if project.slug != SLUG:
        return StillMade(None)
    return StillMade(Job.objects.open().filter(project=project, kind=KIND).first())
