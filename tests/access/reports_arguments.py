"""Arguments of the addresses of reports: the graded run that the addresses of runs use."""

from __future__ import annotations

import json
from datetime import date
from uuid import UUID

from celery import current_app
from django.core.files.base import ContentFile

from labeling.models import VersionEntry
from reports.downloads.long_tables import TableRequest
from reports.downloads.services import bundle_start, bundle_work, table_start, table_work
from reports.dropped.preview import file_drop
from reports.gates.services import GateRequest, badge_make, gate_hold, gate_preview_start, named_gate_save
from reports.guard.measuring import rates_measure, rates_start
from reports.issues.gathering import issue_id
from reports.models import Issue, IssueCase, IssueTrace, PolicyRates, PolicyRefusal, Suspect
from reports.public_scores.services import public_score_record
from tests.access.registry_arguments import a_version as a_registry_version
from tests.access.runs_arguments import a_case, a_graded_run, a_grading, a_number
from tests.access.traces_arguments import a_trace
from tests.access.world import Argument, World
from tests.labeling.rows import SHOP_TOOLS
from toolevals.grading.failures import Failure, kind_of, name_of
from toolevals.grading.guard import Decision
from toolevals.registry.guard_checks.days import decision_count
from toolevals.registry.models import GuardDay, Policy, PolicyVersion, ToolSource
from toolevals.registry.policies.services import policy_activate, policy_create
from toolevals.registry.sources.services import look_keep, source_set
from toolevals.registry.tool_lists import tool_list_of, tools_in
from toolevals.runs.models import CaseGrade, Grading, Run
from toolevals.workspace.jobs.leases import batch_work
from toolevals.workspace.models import Batch, User


def an_experiment(world: World, person: User) -> str:
    return str(a_graded_run(world).experiment.slug)


def a_dataset(world: World, person: User) -> str:
    return str(a_graded_run(world).dataset_version.dataset.slug)


def a_version(world: World, person: User) -> int:
    return int(a_graded_run(world).dataset_version.number)


def a_suspect(world: World, person: User) -> UUID:
    """Return the revision of a suspect of the run's version; the first call makes it."""
    version = a_graded_run(world).dataset_version
    suspect = Suspect.objects.filter(version=version).select_related("entry").first()
    if suspect is None:
        entry = VersionEntry.objects.filter(version=version).earliest("position")
        suspect = Suspect.objects.create(version=version, entry=entry, score=0.5, score_with_labels=0.5)
    return suspect.entry.revision_id  # type: ignore[no-any-return]


def an_issue(world: World, person: User) -> UUID:
    """Return an issue with one case and one trace; the first call makes it."""
    run = a_graded_run(world)
    failure = Failure("selection", "wrong_tool", "get_order_status", "issue_refund")
    pk = issue_id(world.project.pk, failure)
    if not Issue.objects.filter(pk=pk).exists():
        case = CaseGrade.objects.filter(grading__run=run).latest("pk")
        at = case.transcript.created_at
        issue = Issue.objects.create(
            id=pk, project=world.project, name=name_of(failure), key=failure.key, kind=kind_of(failure),
            first_seen=at, last_seen=at, **failure.to_document(),
        )  # fmt: skip
        IssueCase.objects.create(issue=issue, case=case, grading=case.grading, at=at)
        IssueTrace.objects.create(issue=issue, trace_id=a_trace(world, person))
    return pk


def an_act(world: World, person: User) -> str:
    """Return an act on an issue."""
    return "reopen"


def a_bundle(world: World, person: User) -> UUID:
    """Return a job that has written its zip."""
    job = bundle_start(grading=a_graded_run(world).gradings.latest("number"), actor=None)
    for batch in job.batches.all():
        batch_work(str(batch.pk), bundle_work)
    bundle: UUID = job.pk
    return bundle


def a_table(world: World, person: User) -> str:
    """Return a kind of long table."""
    return "cases"


def a_table_file(world: World, person: User) -> UUID:
    """Return a job of this person that has written a table."""
    grading = a_graded_run(world).gradings.latest("number")
    job = table_start(table_request=TableRequest("cases", grading, {}), actor=person)
    for batch in job.batches.all():
        batch_work(str(batch.pk), table_work)
    file: UUID = job.pk
    return file


def a_gate(world: World, person: User) -> UUID:
    """Return a held gate that is decided, by its one check."""
    run = a_graded_run(world)
    run.refresh_from_db()
    held = gate_hold(run=run, actor=None, request=GateRequest({"bounds": [{"metric": "outcome", "min": 0}]}))
    batch = Batch.objects.get(job=held.job)
    current_app.tasks[batch.task](str(batch.pk))
    pk: UUID = held.pk
    return pk


def a_named_gate(world: World, person: User) -> str:
    """Return the name of a kept gate."""
    kept = world.project.named_gates.first()
    if kept is None:
        gate = {"bounds": [{"metric": "outcome", "min": 0}]}
        kept = named_gate_save(project=world.project, actor=None, name="release", gate=gate)
    return str(kept.name)


def a_gate_preview(world: World, person: User) -> UUID:
    """Return a preview whose job is done."""
    a_graded_run(world)
    made = gate_preview_start(project=world.project, actor=None, gate={"bounds": [{"metric": "outcome", "min": 0}]})
    for batch in Batch.objects.filter(job=made.job):
        current_app.tasks[batch.task](str(batch.pk))
    pk: UUID = made.pk
    return pk


def a_dropped_file(world: World, person: User) -> UUID:
    """Return a file of tools that this person has dropped."""
    file = ContentFile(json.dumps(SHOP_TOOLS).encode())
    pk: UUID = file_drop(project=world.project, actor=person, file=file, name="tools.json")[0].pk
    return pk


def a_target(world: World, person: User) -> str:
    """Return what a file of tools can be stored as."""
    return "tools"


def a_run_or_check(world: World, person: User) -> int:
    """Return the number of a run, which is 1, as is the number of a gate's check."""
    number = a_number(world, person)
    assert number == 1
    return number


def a_badge(world: World, person: User) -> str:
    return str(badge_make(experiment=a_graded_run(world).experiment, actor=None).key)


BADGES: dict[str, Argument] = {"key": a_badge}


def a_revision(world: World, person: User) -> str:
    entry = a_graded_run(world).dataset_version.entries.first()
    assert entry is not None
    return str(entry.revision_id)


def a_candidate(world: World, person: User) -> int:
    """Return the number of a second run on the same examples; one that is made came to nothing in any of them."""
    run = a_graded_run(world)
    others = Run.objects.filter(dataset_version=run.dataset_version_id, grading__isnull=False, baseline_agent="")
    known = others.exclude(pk=run.pk).order_by("number").first()
    if known is not None:
        return int(known.number)
    grading = run.gradings.get()
    other = Run.objects.create(
        project=run.project,
        number=run.number + 1000,
        experiment=run.experiment,
        agent=run.agent,
        dataset_version=run.dataset_version,
    )
    other.grading = Grading.objects.create(
        run=other, number=1, dataset_version=grading.dataset_version, graders=[], finished_at=grading.finished_at
    )
    other.save()
    return int(other.number)


def a_score(world: World, person: User) -> UUID:
    """Return a published score."""
    score = {
        "benchmark": "BFCL",
        "version": "v4",
        "agent": "m-1",
        "metric": "overall",
        "value": 0.5,
        "count": None,
        "published_on": date(2026, 1, 1),
        "source": "https://example.org/",
    }
    pk: UUID = public_score_record(project=world.project, actor=None, score=score).pk
    return pk


def an_example(world: World, person: User) -> UUID:
    """Return an example that the run has a case of."""
    entry = VersionEntry.objects.filter(version=a_graded_run(world).dataset_version).earliest("position")
    return entry.revision.example_id  # type: ignore[no-any-return]


def a_policy(world: World, person: User) -> str:
    """Return a policy whose first version is in force; the first call makes it."""
    policy = Policy.objects.filter(project=world.project).first()
    if policy is None:
        rules = {"rules": {"blocked": {"kind": "blocked", "mode": "audit", "tools": ["*"]}}}
        made = policy_create(project=world.project, actor=None, slug="walk", name="Walk", document=rules)
        policy_activate(version=made, actor=None)
        policy = made.policy
    return str(policy.slug)


def a_measurement(world: World, person: User) -> UUID:
    """Return what was measured of the policy; the first call measures it."""
    a_graded_run(world)
    slug = a_policy(world, person)
    rates = PolicyRates.objects.filter(version__policy__slug=slug, version__policy__project=world.project).first()
    if rates is None:
        a_trace(world, person)
        version = PolicyVersion.objects.get(policy__slug=slug, policy__project=world.project, number=1)
        rates = rates_start(version=version, actor=None)
        batch_work(str(Batch.objects.get(job=rates.job).pk), rates_measure)
    return rates.pk  # type: ignore[no-any-return]


def a_measured_policy(world: World, person: User) -> str:
    """Return a policy whose first version is measured and was asked."""
    a_measurement(world, person)
    slug = a_policy(world, person)
    if not GuardDay.objects.filter(policy__slug=slug, policy__project=world.project).exists():
        policy = Policy.objects.get(slug=slug, project=world.project)
        decision_count(policy=policy.pk, key="desk", decision=Decision(allowed=True), milliseconds=60_000)
    return slug


def a_rule(world: World, person: User) -> str:
    """Return the id of the policy's rule."""
    return "blocked"


def a_refusal(world: World, person: User) -> UUID:
    """Return the id of a call that the policy's rule would refuse."""
    refusals = PolicyRefusal.objects.filter(rates=a_measurement(world, person))
    return refusals.earliest("pk").pk  # type: ignore[no-any-return]


def a_source(world: World, person: User) -> str:
    """Return a registry with a source in which a tool is gone; the first call makes it."""
    version = a_registry_version(world)
    registry = version.registry
    if not ToolSource.objects.filter(registry=registry).exists():
        tools = tool_list_of(project=world.project, specs=tools_in(version.tools)[:1])
        source = source_set(
            registry=registry, actor=None, kind="openapi", options={"url": "https://tools.example.org/"}
        )
        effect = {"read": 0, "is_whole": True, "count": 0, "misfits": []}
        look_keep(source, tools=tools, compared=version, effect=effect)
    return str(registry.slug)


ARGUMENTS: dict[str, Argument] = {
    "registry": a_source,
    "refusal": a_refusal,
    "policy": a_measured_policy,
    "rates": a_measurement,
    "rule": a_rule,
    "gate": a_gate,
    "name": a_named_gate,
    "preview": a_gate_preview,
    "upload": a_dropped_file,
    "target": a_target,
    "number": a_run_or_check,
    "case_id": a_case,
    "experiment": an_experiment,
    "dataset": a_dataset,
    "version": a_version,
    "bundle": a_bundle,
    "table": a_table,
    "file": a_table_file,
    "candidate": a_candidate,
    "before": a_grading,
    "after": a_grading,
    "revision": a_revision,
    "suspected": a_suspect,
    "issue": an_issue,
    "act": an_act,
    "score": a_score,
    "example": an_example,
}
