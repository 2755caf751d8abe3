"""Lint a dataset: at once where it is small, else in a job; and ignore findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

from django.db import transaction
from django.urls import reverse

from labeling.errors import InvalidAct
from labeling.expectations.offered_tools import MOST_LISTS, Offers
from labeling.lint.descriptions import descriptions_lint
from labeling.lint.findings import NamedExample, Report
from labeling.lint.gold import GoldLint
from labeling.lint.inputs import Duplicates
from labeling.models import Dataset, Example, LintReport, Resolution
from toolevals.json_types import JsonObject
from toolevals.registry.models import RegistryVersion
from toolevals.registry.tool_lists import tools_in
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.leases import Lease
from toolevals.workspace.jobs.services import BatchPlan, job_create
from toolevals.workspace.models import Job, User

AT_ONCE = 500


# Datasets of more examples than this are linted by a job.
LINTED_AT_ONCE = 500
LONGEST_REASON = 300
KEPT_REPORTS = 5


def lint(dataset: Dataset, progress: Callable[[int], None] = lambda _: None) -> Report:
    """Return what is odd about a dataset's current examples, their gold in force and their tools.

    `progress` is told from time to time how many examples are done; it may raise to stop.
    """
    report, duplicates, offers = Report(), Duplicates(), Offers()
    version = _newest_tools(dataset)
    newest = tools_in(version.tools) if version else ()
    of_registry = _lists_of(version) if version else frozenset()
    gold = GoldLint(report, newest, str(version) if version else "")
    used: dict[UUID, None] = {}
    for page in _pages(dataset):
        lists = offers.of(tools for _, _, _, tools, _, _ in page)
        for pk, name, shown, tools, resolution, expectation in page:
            example = NamedExample(id=str(pk), external_id=name)
            used.setdefault(tools)
            means = None
            if expectation is not None and resolution == Resolution.RESOLVED:
                means = gold.add(example, expectation, lists[tools], is_of_registry=tools in of_registry)
            duplicates.add(example, shown, str(tools), means)
            report.examples += 1
        progress(report.examples)
    gold.finish()
    duplicates.report(report)
    compared = offers.of(list(used)[:MOST_LISTS])
    lists_of_tools = [tuple(compared[pk].values()) for pk in compared]
    descriptions_lint(report, [newest, *lists_of_tools] if newest else lists_of_tools)
    return report


def _pages(dataset: Dataset) -> Iterator[list[Any]]:
    told = (
        "pk",
        "external_id",
        "current__input",
        "current__tools_id",
        "current__resolution",
        "current__gold__expectation",
    )
    rows = Example.objects.of_dataset(dataset).filter(current__isnull=False).order_by("pk").values_list(*told)
    last = None
    while page := list((rows.filter(pk__gt=last) if last else rows)[:AT_ONCE]):
        yield page
        last = page[-1][0]


def _newest_tools(dataset: Dataset) -> RegistryVersion | None:
    """Return the newest version of the registry that the dataset's default tools are of."""
    if dataset.default_tools is None:
        return None
    versions = RegistryVersion.objects.filter(registry=dataset.default_tools.registry_id)
    return versions.select_related("registry", "tools").order_by("-number").first()


def _lists_of(version: RegistryVersion) -> frozenset[UUID]:
    """Return the tool lists of the registry's other versions."""
    lists = RegistryVersion.objects.filter(registry=version.registry_id).values_list("tools_id", flat=True)
    return frozenset(lists) - {version.tools_id}


def lint_start(*, dataset: Dataset, actor: User | None) -> Job | None:
    """Lint a dataset; return the job that does it, None where it is done. One job runs at a time."""
    size = Example.objects.of_dataset(dataset).order_by()[: LINTED_AT_ONCE + 1].count()
    if size <= LINTED_AT_ONCE:
        report = lint(dataset)
        with transaction.atomic():
            _store(dataset, report, job=None)
            audit_record(project=dataset.project, actor=actor, verb="lint_start", target=dataset)
        return None
    with transaction.atomic():
        Dataset.objects.select_for_update(of=("self",)).get(pk=dataset.pk)
        if (running := lint_running(dataset)) is not None:
            return running
        plan = BatchPlan(
            "labeling.lint", {"dataset": str(dataset.pk)}, size=Example.objects.of_dataset(dataset).count()
        )
        title = f"Lint {dataset.name}"
        job = job_create(
            project=dataset.project, actor=actor, kind="lint", title=title, batches=[plan], result_path=_page(dataset)
        )
        audit_record(
            project=dataset.project, actor=actor, verb="lint_start", target=dataset, detail={"job": str(job.pk)}
        )
    return job


def lint_running(dataset: Dataset) -> Job | None:
    """Return the job that lints a dataset now."""
    jobs = Job.objects.open().filter(project=dataset.project_id, kind="lint", result_path=_page(dataset))
    return jobs.with_progress().first()


def lint_failed(dataset: Dataset) -> Job | None:
    """Return the newest job that linted a dataset if it failed."""
    jobs = Job.objects.filter(project=dataset.project_id, kind="lint", result_path=_page(dataset))
    newest = jobs.newest_first().with_progress().first()
    return newest if newest is not None and newest.reason else None


def lint_work(lease: Lease) -> None:
    """Lint one dataset: what the batch of the job does."""
    dataset = Dataset.objects.select_related("default_tools").get(pk=lease.payload["dataset"])
    report = lint(dataset, lease.progress)
    with lease.finish():
        _store(dataset, report, job=lease.batch.job)
        lease.report({"findings": sum(report.counts.values())})


@transaction.atomic
def finding_ignore(*, dataset: Dataset, actor: User, key: str, reason: str) -> None:
    """Let a finding be, for a reason: in this report and the next ones. Raises InvalidAct."""
    report = _newest(dataset)
    said = reason.strip()
    if not said or len(said) > LONGEST_REASON:
        raise InvalidAct(f"A reason of 1 to {LONGEST_REASON} characters is needed.")
    if key not in {finding["key"] for finding in report.document["findings"]}:
        raise InvalidAct("The newest report has no such finding.")
    let_be = {"reason": said, "by": actor.name, "at": database_now().isoformat(timespec="seconds")}
    _ignore(report, {**report.document["ignored"], key: let_be})
    audit_record(project=dataset.project, actor=actor, verb="finding_ignore", target=report, detail={"key": key})


@transaction.atomic
def finding_restore(*, dataset: Dataset, actor: User | None, key: str) -> None:
    """Show a finding again that someone let be. Raises InvalidAct."""
    report = _newest(dataset)
    if key not in report.document["ignored"]:
        raise InvalidAct("This finding is not ignored.")
    _ignore(report, {name: value for name, value in report.document["ignored"].items() if name != key})
    audit_record(project=dataset.project, actor=actor, verb="finding_restore", target=report, detail={"key": key})


def _page(dataset: Dataset) -> str:
    return reverse("labeling:lint", args=[dataset.project.slug, dataset.slug])


def _newest(dataset: Dataset) -> LintReport:
    report = LintReport.objects.select_for_update(of=("self",)).filter(dataset=dataset).order_by("-id").first()
    if report is None:
        raise InvalidAct("The dataset has not been linted yet.")
    return report


def _ignore(report: LintReport, ignored: JsonObject) -> None:
    report.document = {**report.document, "ignored": ignored}
    report.save(update_fields=["document"])


def _store(dataset: Dataset, report: Report, *, job: Job | None) -> None:
    """Keep a report, with what was let be in the one before; forget all but the newest few."""
    before = LintReport.objects.select_for_update(of=("self",)).filter(dataset=dataset).order_by("-id").first()
    ignored = before.document["ignored"] if before else {}
    LintReport.objects.create(dataset=dataset, job=job, document={**report.to_document(), "ignored": ignored})
    kept = LintReport.objects.filter(dataset=dataset).order_by("-id").values_list("pk", flat=True)[:KEPT_REPORTS]
    LintReport.objects.filter(dataset=dataset).exclude(pk__in=list(kept)).delete()
