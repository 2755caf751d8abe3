"""Re-grade a run: on corrected gold, or with newer graders. Earlier gradings stay."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.db import transaction
from django.db.models import Max

from labeling.models import DatasetVersion, VersionEntry
from toolevals.grading.engine.grader_catalog import GRADERS, SCORES
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonObject
from toolevals.registry.policies.models import PolicyVersion
from toolevals.runs.judging.judge_snapshots import JudgeSnapshot, seats_of
from toolevals.runs.judging.unscored import answers_unscored, unjudged_cases
from toolevals.runs.models import Grading, Judge, Run, Simulator, Transcript
from toolevals.runs.runs.slices import grade_plans
from toolevals.workspace.addresses import address
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.jobs.services import job_create
from toolevals.workspace.models import User

# So many examples are named where gold may not judge an agent.
MOST_NAMED = 10


@transaction.atomic
def grading_start(
    *,
    run: Run,
    actor: User | None,
    dataset_version: DatasetVersion | None = None,
    policy: PolicyVersion | None = None,
) -> Grading:
    """Grade the run's transcripts against `dataset_version`, by default the newest of the run's dataset.

    With a `policy` it is also counted what that would have refused. The run shows the new grading once it is finished.
    Raises InvalidDocument where the version is another dataset's, the policy another project's, and where the run has
    no transcripts to grade yet.
    """
    dataset = run.dataset_version.dataset
    version = dataset_version or dataset.versions.order_by("-number").first() or run.dataset_version
    if version.dataset_id != dataset.pk:
        raise InvalidDocument.at("/dataset_version", "is a version of another dataset")
    if not run.gradings.filter(finished_at__isnull=False).exists():
        raise InvalidDocument.at("", "The run has not been graded yet. Wait for it, or retry it.")
    if Transcript.objects.of_run(run).count() < run.size * run.trials:
        raise InvalidDocument.at("", "Some conversations are being re-run: wait for them, or retry them.")
    if policy is not None and policy.policy.project_id != run.project_id:
        raise InvalidDocument.at("/policy", "is not a policy of this project")
    grading = grading_make(run=run, dataset_version=version, actor=actor, policy=policy)
    grading.job = job_create(
        project=run.project,
        actor=actor,
        kind="grading",
        title=f"Run {run.number}: grading {grading.number} on {dataset.name} v{version.number}",
        batches=grade_plans(grading, stage=0),
        result_path=address("reports:run", run.project.slug, run.number),
    )
    grading.save(update_fields=["job"])
    detail: JsonObject = {"run": run.number, "number": grading.number, "dataset_version": version.number}
    if policy is not None:
        detail |= {"policy": str(policy)}
    audit_record(project=run.project, actor=actor, verb="grading_start", target=grading, detail=detail)
    return grading


@transaction.atomic
def unscored_ask(*, run: Run, actor: User | None, judge: Judge) -> Grading:
    """Ask a judge what rules leave unscored in the run's shown grading, and nothing else.

    The new grading takes all grades over as they are, with what other judges said; the judge's verdicts are added.
    Raises InvalidDocument.
    """
    locked = Run.objects.select_for_update(no_key=True, of=("self",)).select_related("grading").get(pk=run.pk)
    before = locked.grading
    if before is None or locked.gradings.filter(finished_at=None).exists():
        raise InvalidDocument.at("", "The last work on the run has not come to a good end: wait for it, or retry it.")
    others = [seat for seat in seats_of(before) if seat.rubric != judge.rubric.name]
    seated = next((seat for seat in seats_of(before) if seat.rubric == judge.rubric.name), None)
    if run.baseline_agent or judge.project_id != run.project_id or not answers_unscored(judge.rubric):
        raise InvalidDocument.at("/judge", "does not answer what rules leave unscored in this run")
    if seated and seated.judge != str(judge.pk):
        raise InvalidDocument.at("/judge", f"must be {seated.name}, who has judged this run by that rubric")
    questions = unjudged_cases(before, judge.rubric).count()
    if not questions:
        raise InvalidDocument.at("/judge", "has no question left: rules and this judge have scored every case")
    seat = replace(JudgeSnapshot.of(judge), share=seated.share if seated else 0.0, unscored=True)
    grading = grading_make(
        run=run,
        dataset_version=before.dataset_version,
        actor=actor,
        graders=before.graders,
        judges=[each.to_document() for each in (*others, seat)],
        simulator=before.simulator,
        policy=before.policy,
    )
    grading.job = job_create(
        project=run.project,
        actor=actor,
        kind="grading",
        title=f"Run {run.number}: {judge.name} on {questions:,} unscored case{'s' if questions > 1 else ''}",
        batches=grade_plans(grading, stage=0, keep=before, ask=seat.rubric),
        result_path=address("reports:run", run.project.slug, run.number),
    )
    grading.save(update_fields=["job"])
    detail = {"run": run.number, "grading": grading.number, "judge": judge.name, "cases": questions}
    audit_record(project=run.project, actor=actor, verb="unscored_ask", target=grading, detail=detail)
    return grading


def grading_make(*, run: Run, dataset_version: DatasetVersion, actor: User | None, **taken: Any) -> Grading:
    """Return the run's next grading, still without a job. Within the caller's transaction.

    `taken` are columns that are not those of now. Raises InvalidDocument where gold rests on proposals of the run's own
    agent.
    """
    _require_unproposed(run, dataset_version)
    Run.objects.select_for_update(no_key=True).get(pk=run.pk)
    last = run.gradings.aggregate(last=Max("number"))["last"] or 0
    graders = [{"name": grader.name, "version": grader.version} for grader in (*GRADERS.values(), *SCORES.values())]
    # A baseline agent is there to be read beside scores: no one pays for an opinion on it.
    on = Judge.objects.none() if run.baseline_agent else Judge.objects.filter(project=run.project_id)
    judges = [JudgeSnapshot.of(judge).to_document() for judge in on.switched_on()]
    columns = {
        "graders": graders,
        "judges": judges,
        "simulator": run.simulator or Simulator.objects.of_dataset(dataset_version.dataset),
        **taken,
    }
    return Grading.objects.create(run=run, number=last + 1, dataset_version=dataset_version, actor=actor, **columns)


def _require_unproposed(run: Run, version: DatasetVersion) -> None:
    """Raise InvalidDocument where gold of a run's examples rests on second looks at its own agent's proposals."""
    entries = VersionEntry.objects.filter(version=version).exclude(gold__after_agents="").order_by("position")
    rows = entries.values_list("position", "revision__example__external_id", "gold__after_agents")
    taken = set(run.only) if run.only is not None and version.pk == run.dataset_version_id else None
    own = [
        name
        for position, name, agents in rows
        if run.agent.name in agents.splitlines() and (taken is None or position in taken)
    ]
    if own:
        named = ", ".join(own[:MOST_NAMED]) + (f" and {len(own) - MOST_NAMED:,} more" if len(own) > MOST_NAMED else "")
        raise InvalidDocument.at(
            "/dataset_version",
            f"contains gold that came from second looks at proposals of {run.agent.name}, so it cannot be used "
            f"to grade that agent: {named}. Freeze a version without such gold.",
        )
