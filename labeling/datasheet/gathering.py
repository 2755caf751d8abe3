"""Read a datasheet with a fixed number of queries for any number of examples."""

from __future__ import annotations

from labeling.coverage.filling import entries_read, gold_read
from labeling.datasheet.agreement import tool_agreement
from labeling.datasheet.composition import composition_of
from labeling.datasheet.labelling import labelling_of
from labeling.datasheet.scope import Scope
from labeling.datasheet.sources import sources_of
from labeling.datasheet.values import About, Datasheet, LintCount, LintSummary
from labeling.lint.page import State, drawn
from labeling.models import Dataset, DatasetVersion, LintReport
from toolevals.grading.metrics.estimates import Estimate
from toolevals.grading.metrics.rates import wilson

# So much gold is read, by tool, while a page waits.
READ_AT_ONCE = 2_000


def datasheet_of(dataset: Dataset, version: DatasetVersion | None = None) -> Datasheet:
    """Return the datasheet of a frozen version, or of what the dataset holds now.

    It is the same for every member of the project: of labels and disputes it counts those of what is resolved alone.
    """
    scope = Scope(dataset, version)
    unread = _read(scope)
    composition = composition_of(scope, unread)
    return Datasheet(
        about=_about(scope),
        composition=composition,
        sources=sources_of(scope),
        labelling=(labelling := labelling_of(scope)),
        agreement=tool_agreement(scope, units=sum(n for labels, n in labelling.overlap.items() if labels > 1)),
        lint=_lint(dataset),
    )


def _read(scope: Scope) -> int:
    """Read some of the gold that is new to the counts by tool; return how much is left."""
    number: int = scope.unread().count()
    if not number:
        return 0
    if scope.version is not None:
        entries_read(scope.version, READ_AT_ONCE)
        return max(0, number - READ_AT_ONCE)
    if number > READ_AT_ONCE:
        return number
    gold_read(scope.dataset)
    return 0


def _about(scope: Scope) -> About:
    dataset, version = scope.dataset, scope.version
    return About(
        slug=dataset.slug,
        title=dataset.name,
        description=dataset.description,
        created_at=dataset.created_at,
        default_tools=str(dataset.default_tools) if dataset.default_tools else "",
        version=version.number if version else None,
        note=version.note if version else "",
        tags=tuple(version.tags) if version else (),
        frozen_at=version.created_at if version else None,
        frozen_by=version.actor.name if version and version.actor else "",
        versions=dataset.versions.count(),
    )


def _lint(dataset: Dataset) -> LintSummary | None:
    report = LintReport.objects.filter(dataset=dataset).order_by("-id").first()
    if report is None:
        return None
    document = report.document
    passed, gold = document["passed_idle"], document["gold"]
    rules = drawn(document, State()).rules
    return LintSummary(
        at=report.created_at,
        examples=document["examples"],
        gold=gold,
        passed_idle=Estimate(passed / gold, wilson(passed, gold), gold) if gold else Estimate.undefined("no gold"),
        passed_idle_count=passed,
        rules=tuple(LintCount(one.rule.name, one.rule.severity, one.rule.title, one.count) for one in rules),
    )
