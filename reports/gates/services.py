"""Check runs by gates, try a gate on earlier runs, save gates under a name, make the addresses of badges.

A person requests, a worker decides, and the result is kept.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction
from django.urls import reverse

from reports.gates.cases import grading_cases, unread_notes
from reports.gates.issue_scores import issue_notes, issue_problems, with_issue_names
from reports.models import GateBadge, GatePreview, HeldGate, NamedGate
from reports.run.baseline_agents import highest, version_baseline_agents
from reports.tool_drift.gating import tool_drift_seen
from toolevals.grading.gates.case_table import CaseTable
from toolevals.grading.gates.documents import read_gate
from toolevals.grading.gates.evaluation import (
    BY_RULES,
    Evidence,
    baseline_agent_note,
    errored_note,
    hold_gate,
    judge_notes,
    with_notes,
)
from toolevals.grading.gates.results import GateResult
from toolevals.grading.gates.rules import Gate
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.models import CaseGrade, Experiment, Grading, Run
from toolevals.workspace.addresses import address
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.jobs.leases import Lease
from toolevals.workspace.jobs.services import BatchPlan, job_create
from toolevals.workspace.models import EventKind, Project, Queue, User
from toolevals.workspace.notifications.events import event_note
from toolevals.workspace.requests import whole_number

LAST_PASSING = "last-passing"
BRANCH = "branch:"
# What a gate that is passed comes out as: a warning is none that stops anyone.
PASSING = ("passed", "warned")
# The preset whose runs are consistency slices.
CONSISTENCY = "consistency"
_NO_BASELINE = f"is not a number of a run, {BRANCH}NAME or {LAST_PASSING}"


@dataclass(frozen=True, slots=True)
class GateRequest:
    """The gate to apply to a run.

    `gate` is a document of `gate.v1.json`. `baseline` says what came before: another run's number, `branch:NAME` (the
    newest run that was checked by a gate under that name), `last-passing` (the newest of the experiment that passed
    one), or nothing. `consistency` is the number of a run with several trials, by default the newest consistency slice
    of the same agent on the same dataset. `branch` and `commit` say what was built.

    Without `gate`, `name` is that of a gate which the project keeps, whose baseline holds where none is said.
    """

    gate: Any = None
    baseline: str = ""
    consistency: int | None = None
    release_candidate: bool = False
    branch: str = ""
    commit: str = ""
    name: str = ""


@transaction.atomic
def gate_hold(*, run: Run, actor: User | None, request: GateRequest) -> HeldGate:
    """Ask for the run's newest grading to be checked by a gate. The answer comes with the job.

    Raises InvalidDocument where the gate is not valid, the run is not graded or a baseline agent's, or what it is to be
    compared with is not there.
    """
    asked = _asked(run, request)
    gate = gate_read(asked.gate, run.project)
    if run.baseline_agent:
        raise InvalidDocument.at("", "A baseline agent is not gated: its scores are there to read others against.")
    if run.grading is None:
        raise InvalidDocument.at("", "The run is not graded yet: wait for it.")
    if request.release_candidate and not gate.consistency:
        raise InvalidDocument.at("/gate/consistency", "is missing: a release candidate is asked for consistency")
    held = HeldGate(
        project=run.project,
        run=run,
        grading=run.grading,
        gate=asked.gate,
        name=asked.name,
        baseline=baseline_of(run, asked.baseline),
        baseline_asked=asked.baseline,
        is_release_candidate=request.release_candidate,
        consistency=_slice(run, request.consistency) if request.release_candidate else None,
        branch=request.branch,
        commit=request.commit,
        actor=actor,
    )
    held.job = job_create(
        project=run.project,
        actor=actor,
        kind="gate",
        title=f"Gate of run {run.number}",
        batches=[decision_plan(held)],
        result_path=address("reports:gate", run.project.slug, held.pk),
    )
    held.save(force_insert=True)
    audit_record(project=run.project, actor=actor, verb="gate_hold", target=held, detail={"run": run.number})
    return held


def decision_plan(held: HeldGate) -> BatchPlan:
    """Return the batch that decides a held gate: each case is read, and then decided on."""
    return BatchPlan("reports.gate", {"gate": str(held.pk)}, queue=Queue.GRADE, size=2 * _size(held))


def gate_decide(lease: Lease) -> None:
    """Hold the run against its gate and keep how it comes out."""
    held = HeldGate.objects.select_related("grading", "baseline", "consistency").get(pk=lease.payload["gate"])
    result = _decided(held, read_gate(held.gate), lease)
    with lease.finish():
        HeldGate.objects.filter(pk=held.pk).update(status=result.status, result=result.to_document())
        if result.status == "failed" and held.preview_id is None:
            _failure_note(held)


def _failure_note(held: HeldGate) -> None:
    """Tell that a run failed a gate."""
    run, gate = held.run, f"the gate {held.name}" if held.name else "a gate"
    event_note(
        project=run.project,
        kind=EventKind.GATE_FAILED,
        summary=f"Run {run.number} of {run.agent.name} failed {gate}",
        path=address("reports:gate", run.project.slug, held.pk),
        facts={
            "run": run.number,
            "agent": run.agent.name,
            "gate": held.name,
            "branch": held.branch,
            "commit": held.commit,
        },
    )


def _decided(held: HeldGate, gate: Gate, lease: Lease) -> GateResult:
    read, size = 0, _size(held)

    def cases(grading: Grading) -> CaseTable:
        nonlocal read
        before = read
        found = grading_cases(grading, gate, lambda done: lease.progress(before + done))
        read += len(found.numbers)
        lease.progress(read)
        return found

    evidence = Evidence(
        cases(held.grading),
        cases(held.baseline) if held.baseline and gate.regressions else None,
        cases(held.consistency) if held.consistency else None,
        held.is_release_candidate,
        _slice_name(held),
        _errored(held.grading),
        tool_drift_seen(held.run) if gate.tool_drift is not None else None,
    )
    baseline_agents = highest(version_baseline_agents(held.grading.dataset_version_id))
    judges = judge_notes((seat["rubric"], seat["model"], seat["pinned"]) for seat in held.grading.judges)
    judges |= {seat["rubric"]: BY_RULES for seat in held.grading.judges if seat.get("unscored")}
    sides = [held.grading, held.baseline if gate.regressions else None, held.consistency]
    notes = judges | unread_notes(gate, filter(None, sides)) | issue_notes(gate, held.grading)
    rates = {metric: baseline_agent_note(share, name) for metric, (share, name) in baseline_agents.items() if share}
    result = hold_gate(gate, evidence, lambda done, rules: lease.progress(size + size * done // rules))
    return with_issue_names(with_notes(result, notes, rates), gate, held.grading)


def _errored(grading: Grading) -> str:
    cases = CaseGrade.objects.filter(grading=grading, outcome="errored")
    first = cases.order_by("pk").values_list("detail", flat=True).first()
    return errored_note(cases.count(), first["verdicts"]["outcome"]["reason"]) if first else ""


def _size(held: HeldGate) -> int:
    """Return how many cases the gate checks: each is read, and then decided on."""
    sides = (held.grading, held.baseline, held.consistency)
    return max(sum(side.run.size * side.run.trials for side in sides if side), 1)


def gate_read(document: Any, project: Project) -> Gate:
    """Return a gate of a project; raises InvalidDocument with pointers below `/gate`."""
    try:
        gate = read_gate(document)
    except InvalidDocument as error:
        raise error.below("/gate") from None
    if problems := list(issue_problems(project, document)):
        raise InvalidDocument(problems).below("/gate")
    return gate


def _asked(run: Run, request: GateRequest) -> GateRequest:
    """Return the request with the gate that it names, where it names one. Raises InvalidDocument."""
    if request.gate is not None and request.name:
        raise InvalidDocument.at("/name", "cannot be combined with gate: give one of them")
    if request.gate is not None:
        return request
    if not request.name:
        raise InvalidDocument.at("/gate", "is missing: give a gate, or the name of one that the project keeps")
    kept = run.project.named_gates.filter(name=request.name).first()
    if kept is None:
        raise InvalidDocument.at("/name", f"is the name of no gate of this project: {request.name}")
    return replace(request, gate=kept.gate, baseline=request.baseline or kept.baseline)


def require_baseline(said: str) -> None:
    """Raise InvalidDocument where nothing that says what came before is like that."""
    is_branch = said.startswith(BRANCH) and said != BRANCH
    if said and said != LAST_PASSING and not is_branch and whole_number(said) is None:
        raise InvalidDocument.at("/baseline", _NO_BASELINE)


def baseline_of(run: Run, said: str, *, earlier: bool = False) -> Grading | None:
    """Return what the run is compared with; None where nothing is asked for, or nothing of the kind was there yet.

    With `earlier` only runs of lower numbers are looked for.
    """
    if not said:
        return None
    if said == LAST_PASSING or said.startswith(BRANCH):
        known = HeldGate.objects.before(run)
        if earlier:
            known = known.filter(run__number__lt=run.number)
        if said == LAST_PASSING:
            newest = known.filter(status__in=PASSING, run__experiment=run.experiment_id).first()
        else:
            newest = known.filter(branch=said.removeprefix(BRANCH)).first()
        return newest.run.grading if newest else None
    return _graded(run, said, "/baseline")


def _slice_name(held: HeldGate) -> str:
    if held.consistency is None:
        return ""
    row = Run.objects.select_related("agent").get(pk=held.consistency.run_id)
    return f"run {row.number} of {row.agent.name}, {row.size:,} examples with {row.trials} trials each"


def _slice(run: Run, number: int | None) -> Grading | None:
    if number is not None:
        row = _graded(run, str(number), "/consistency")
        if row.run.agent_id != run.agent_id:
            words = f"is a run of another agent ({row.run.agent.name}), not of {run.agent.name}: {number}"
            raise InvalidDocument.at("/consistency", words)
        return row
    slices = run.project.runs.filter(
        agent=run.agent_id,
        preset=CONSISTENCY,
        dataset_version__dataset=run.dataset_version.dataset_id,
        grading__isnull=False,
    )
    newest = slices.select_related("grading").order_by("-number").first()
    return newest.grading if newest else None


def _graded(run: Run, said: str, pointer: str) -> Grading:
    number = whole_number(said)
    if number is None:
        raise InvalidDocument.at(pointer, _NO_BASELINE)
    row = run.project.runs.filter(number=number).select_related("grading", "dataset_version", "agent").first()
    if row is None or row.grading is None:
        raise InvalidDocument.at(pointer, f"is not the number of a graded run of this project: {number}")
    if row.dataset_version.dataset_id != run.dataset_version.dataset_id:
        raise InvalidDocument.at(pointer, f"is a run on another dataset: {number}")
    return row.grading


LONGEST_NAME: Final = 60
_NAME = re.compile(rf"[A-Za-z0-9_-]{{1,{LONGEST_NAME}}}", re.ASCII)


@transaction.atomic
def badge_make(*, experiment: Experiment, actor: User | None) -> GateBadge:
    """Return the experiment's badge under a new address; an older address shows nothing from now on."""
    key = secrets.token_urlsafe(32)
    badge, _ = GateBadge.objects.update_or_create(experiment=experiment, defaults={"key": key, "actor": actor})
    audit_record(project=experiment.project, actor=actor, verb="badge_make", target=experiment)
    return badge


@transaction.atomic
def badge_drop(*, experiment: Experiment, actor: User | None) -> None:
    """Take the address of an experiment's badge back, if there is one."""
    if GateBadge.objects.filter(experiment=experiment).delete()[0]:
        audit_record(project=experiment.project, actor=actor, verb="badge_drop", target=experiment)


@transaction.atomic
def named_gate_save(
    *, project: Project, actor: User | None, name: str, gate: Any, baseline: str = "", was: str = ""
) -> NamedGate:
    """Keep a gate under a name; `was` is the name that it had before, and a gate of that name is changed.

    Raises InvalidDocument where the gate is none, or another one has the name.
    """
    if not _NAME.fullmatch(name):
        raise InvalidDocument.at("/name", f"takes letters, digits, hyphens and _, {LONGEST_NAME} at most")
    gate_read(gate, project)
    require_baseline(baseline)
    # One at a time, so that two do not both take a name.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    known = {each.name: each for each in project.named_gates.filter(name__in=(name, was)).order_by("name")}
    saved = known.get(was) or NamedGate(project=project)
    if name in known and name != was:
        raise InvalidDocument.at("/name", f"is the name of another gate: {name}")
    saved.name, saved.gate, saved.baseline, saved.actor = name, gate, baseline, actor
    saved.save()
    detail = {"name": name} | ({"was": was} if was and was != name else {})
    audit_record(project=project, actor=actor, verb="named_gate_save", target=saved, detail=detail)
    return saved


@transaction.atomic
def named_gate_delete(*, gate: NamedGate, actor: User | None) -> None:
    """Delete a kept gate. What runs were checked by under its name stays as it is."""
    audit_record(project=gate.project, actor=actor, verb="named_gate_delete", target=gate, detail={"name": gate.name})
    gate.delete()


MOST_RUNS: Final = 10
# So long are results of previews kept.
KEPT: Final = timedelta(days=7)
_DELETED_AT_ONCE: Final = 50


@transaction.atomic
def gate_preview_start(
    *, project: Project, actor: User | None, gate: Any, baseline: str = "", name: str = "", experiment: str = ""
) -> GatePreview:
    """Hold the newest graded runs, of one experiment or of all, against a gate without any consequence.

    Each run is decided by a batch of the job. A run is compared with what came before it. Raises InvalidDocument where
    the gate is none, or no run is graded.
    """
    gate_read(gate, project)
    require_baseline(baseline)
    runs = Run.objects.in_project(project).of_people().of_experiment(experiment)
    runs = runs.filter(grading__finished_at__isnull=False)[:MOST_RUNS]
    graded = [(run, run.grading) for run in runs if run.grading is not None]
    if not graded:
        of_experiment = f" of the experiment {experiment}" if experiment else ""
        raise InvalidDocument.at("", f"There is no graded run{of_experiment} yet: start one first.")
    preview = GatePreview(project=project, name=name, gate=gate, baseline=baseline, actor=actor)
    held = [
        HeldGate(
            project=project,
            run=run,
            grading=grading,
            gate=gate,
            name=name,
            preview=preview,
            baseline=_baseline(run, baseline),
            baseline_asked=baseline,
            actor=actor,
        )
        for run, grading in graded
    ]
    preview.job = job_create(
        project=project,
        actor=actor,
        kind="gate_preview",
        title=f"Preview of the gate {name}" if name else "Preview of a gate",
        batches=[decision_plan(each) for each in held],
        result_path=reverse("reports:gate-preview", args=[project.slug, preview.pk]),
    )
    preview.save(force_insert=True)
    HeldGate.objects.bulk_create(held)
    detail = {"runs": [run.number for run, _ in graded]} | ({"name": name} if name else {})
    audit_record(project=project, actor=actor, verb="gate_preview_start", target=preview, detail=detail)
    return preview


def gate_previews_forget(now: datetime) -> int:
    """Delete the oldest previews that were kept long enough, with their results; return how many."""
    old = GatePreview.objects.filter(created_at__lt=now - KEPT).order_by("pk").values_list("pk", flat=True)
    some = list(old[:_DELETED_AT_ONCE])
    GatePreview.objects.filter(pk__in=some).delete()
    return len(some)


def _baseline(run: Run, said: str) -> Grading | None:
    """Return what came before a run; None where the run that is named is itself, or of another dataset."""
    try:
        baseline = baseline_of(run, said, earlier=True)
    except InvalidDocument:
        return None
    return None if baseline is None or baseline.run_id == run.pk else baseline
