"""Ask again where the agent could not be reached, and re-run what failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from django.db import transaction

from toolevals.agents.connectors import CONNECTORS
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.grading.kept_grades import UNGRADED, may_be_kept
from toolevals.runs.grading.services import grading_make
from toolevals.runs.live.settings import LiveSettings
from toolevals.runs.models import Connector, Grading, Run, Transcript
from toolevals.runs.runs.services import RunParts, run_converse, run_start
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
        raise InvalidDocument.at("", "The last work on the run has not come to a good end: wait for it, or retry it.")
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
def failing_run_again(*, run: Run, actor: User | None) -> Run:
    """Start a run like this one over the examples that failed in it. Raises InvalidDocument."""
    return _again(replace(_parts(run, actor), failing_of=run), run)


@transaction.atomic
def examples_run_again(*, run: Run, actor: User | None, positions: Sequence[int]) -> Run:
    """Start a run like this one over the examples at some positions of its version. Raises InvalidDocument."""
    return _again(replace(_parts(run, actor), only=tuple(positions)), run)


def _parts(run: Run, actor: User | None) -> RunParts:
    return RunParts(
        project=run.project,
        actor=actor,
        experiment=run.experiment,
        agent=run.agent,
        dataset_version=run.dataset_version,
        trials=run.trials,
    )


def _again(parts: RunParts, run: Run) -> Run:
    if run.agent.connector == Connector.BASELINE:
        return run_start(parts)
    if run.agent.connector in CONNECTORS:
        return run_converse(parts, settings=LiveSettings.from_document(run.settings))
    raise InvalidDocument.at("", "The predictions were uploaded: export the failing cases and upload new ones.")
