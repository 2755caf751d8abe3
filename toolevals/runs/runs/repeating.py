"""Ask again where the agent could not be reached, and re-run what failed."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from toolevals.agents.connectors import CONNECTORS
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.models import RegistryVersion
from toolevals.runs.agents.services import agent_ensure
from toolevals.runs.grading.kept_grades import UNGRADED, may_be_kept
from toolevals.runs.grading.services import grading_make
from toolevals.runs.live.estimate import Estimate, estimate_of
from toolevals.runs.live.settings import LiveSettings
from toolevals.runs.models import Agent, Connector, Grading, Run, Transcript
from toolevals.runs.runs.presets import PRESETS
from toolevals.runs.runs.services import RunParts, failing_positions, run_converse, run_start
from toolevals.runs.runs.slices import converse_plans, grade_plans
from toolevals.workspace.addresses import address
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.services import job_create
from toolevals.workspace.models import User


@transaction.atomic
def errored_ask_again(*, run: Run, actor: User | None) -> Grading:
    """Ask again for what is errored in a run: the agent where it could not be reached, then a grade of each case.

    All other transcripts stay, and count against the budget as before; grades that are not errored are taken over
    where graders, judges and simulator are the same. Earlier gradings keep what is errored; the new one is against the
    same gold as the one that is shown. Raises InvalidDocument.
    """
    locked = Run.objects.select_for_update(no_key=True, of=("self",)).select_related("grading").get(pk=run.pk)
    if locked.grading is None or locked.gradings.filter(finished_at=None).exists():
        raise InvalidDocument.at("", "The last job of this run has not succeeded. Wait for it, or retry it.")
    errored = Transcript.objects.of_run(run).errored()
    if run.agent.connector not in CONNECTORS:
        errored = errored.none()
    positions = list(errored.order_by("entry__position").values_list("entry__position", flat=True).distinct())
    ungraded = locked.grading.cases.filter(UNGRADED).count()
    if not positions and not ungraded:
        raise InvalidDocument.at("", "The run has no errored case that can be re-run.")
    before = locked.grading
    replaced = Transcript.objects.filter(pk__in=errored.order_by().values("pk")).update(replaced_at=database_now())
    grading = grading_make(
        run=run, dataset_version=locked.grading.dataset_version, actor=actor, policy=locked.grading.policy
    )
    again = replaced + ungraded
    grading.job = job_create(
        project=run.project,
        actor=actor,
        kind="run" if replaced else "grading",
        title=f"Run {run.number}: {again} errored case{'s' if again > 1 else ''} again",
        batches=[
            *(converse_plans(run, stage=0, positions=positions) if positions else ()),
            *grade_plans(grading, stage=1, keep=before if may_be_kept(grading, before) else None),
        ],
        result_path=address("reports:run", run.project.slug, run.number),
    )
    grading.save(update_fields=["job"])
    detail = {"run": run.number, "grading": grading.number, "conversations": replaced, "ungraded": ungraded}
    audit_record(project=run.project, actor=actor, verb="errored_ask_again", target=run, detail=detail)
    return grading


@transaction.atomic
def run_repeat(
    *,
    run: Run,
    actor: User | None,
    tools: RegistryVersion | None = None,
    only_failing: bool = False,
    positions: Sequence[int] | None = None,
) -> Run:
    """Start a run like this one: same experiment, examples, trials and settings. Raises InvalidDocument.

    With `tools` its agent gets those in place of its own; with `positions` it takes the examples at those of the
    version.
    """
    require_repeatable(run)
    same = not only_failing and positions is None
    kept = run.only if same else positions
    parts = RunParts(
        project=run.project,
        actor=actor,
        experiment=run.experiment,
        agent=run.agent if tools is None else _agent_with(run.agent, tools, actor),
        dataset_version=run.dataset_version,
        trials=run.trials,
        failing_of=run if only_failing else run.failing_of if same else None,
        preset=PRESETS.get(run.preset) if same else None,
        only=None if kept is None else tuple(kept),
    )
    if run.agent.connector == Connector.BASELINE:
        return run_start(parts)
    return run_converse(parts, settings=LiveSettings.from_document(run.settings))


def require_repeatable(run: Run) -> None:
    """Refuse a run whose agent can't be asked. Raises InvalidDocument."""
    if run.agent.connector != Connector.BASELINE and run.agent.connector not in CONNECTORS:
        raise InvalidDocument.at("", "The predictions were uploaded: export the failing cases and upload new ones.")


def _agent_with(agent: Agent, tools: RegistryVersion, actor: User | None) -> Agent:
    return agent_ensure(
        project=agent.project,
        actor=actor,
        name=agent.name,
        connector=agent.connector,
        model=agent.model,
        prompt_version=agent.prompt_version,
        commit=agent.commit,
        tools=tools,
        options=agent.options,
    )


def estimate_of_repeat(run: Run, *, only_failing: bool = False) -> Estimate:
    """Return what a run like this one takes at least. Raises InvalidDocument."""
    require_repeatable(run)
    conversations = run.trials * (len(failing_positions(run)) if only_failing else run.size)
    if run.agent.connector == Connector.BASELINE:
        return Estimate(conversations, None, None)
    prices = LiveSettings.from_document(run.settings).prices
    return estimate_of(run.dataset_version, conversations, CONNECTORS[run.agent.connector], prices)
