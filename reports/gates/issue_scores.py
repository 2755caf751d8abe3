"""Score the cases of a grading by the issues that a gate names: a case fails where the issue is in it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

from django.db.models import Q

from labeling.models import VersionEntry
from reports.issues.gathering import issues_gather
from reports.issues.models import Issue, IssueCase, IssueGathering
from toolevals.grading.failures.failure import TOOL
from toolevals.grading.gates.documents import named_metrics
from toolevals.grading.gates.results import ISSUE, GateResult
from toolevals.grading.gates.rules import Gate
from toolevals.grading.values.problems import Problem, pointer_to
from toolevals.grading.values.verdicts import Status
from toolevals.json_types import JsonMapping
from toolevals.runs.models import Grading
from toolevals.workspace.models import Project
from toolevals.workspace.requests import read_id

# The score of a case in which the issue cannot be: nothing there could fail so.
LEFT_OUT: Final = -1.0
_BY_THEMSELVES: Final = ("result_use", "recovery")


@dataclass(frozen=True, slots=True)
class IssueRule:
    """An issue that a gate names: the layers that it is of, and its cases in the grading.

    `is_shown` says whether the grading can show it: its failures are gathered, and it has a case of an example in which
    the issue was seen.
    """

    metric: str
    layers: tuple[str, ...]
    cases: Any
    is_shown: bool

    def score(
        self, statuses: Mapping[str, Status], scores: Mapping[str, float | None], seen: Collection[str]
    ) -> float | None:
        """Return 0 where the issue is in a case, 1 where it is not, None where no one knows, else LEFT_OUT."""
        if self.metric in seen:
            return 0.0
        if not self.is_shown or statuses["outcome"] == "errored":
            return None
        found = {_of_layer(layer, statuses, scores) for layer in self.layers} - {LEFT_OUT}
        return None if None in found else max(found, default=LEFT_OUT)  # type: ignore[type-var]


def _of_layer(layer: str, statuses: Mapping[str, Status], scores: Mapping[str, float | None]) -> float | None:
    if layer in _BY_THEMSELVES:
        return LEFT_OUT if layer not in scores else None if scores[layer] is None else 1.0
    # Errors of tools need no gold, but an answer.
    asked = ("outcome", "selection") if layer == TOOL else ("outcome",)
    return 1.0 if any(statuses[name] in ("passed", "failed") for name in asked) else None


def issue_rules(grading: Grading, metrics: Iterable[str], sign: Callable[[], None]) -> list[IssueRule]:
    """Return a gate's issues with their cases in a grading, whose failures are gathered first where they wait for it.

    `sign` is called now and then; what it raises ends the gathering.
    """
    named = _of(grading, metrics)
    gathered = bool(named) and _gathered(grading, sign)
    rules = []
    for metric, issue in named.items():
        if issue is None:
            rules.append(IssueRule(metric, (), IssueCase.objects.none(), is_shown=False))
            continue
        parts = Q(issue=issue) | Q(issue__merged_into=issue)
        layers = Issue.objects.filter(Q(pk=issue.pk) | Q(merged_into=issue)).order_by().values_list("layer", flat=True)
        rules.append(
            IssueRule(
                metric,
                tuple(sorted(set(layers))),
                IssueCase.objects.filter(parts, grading=grading),
                gathered and bool(_held(grading, issue)),
            )
        )
    return rules


def issues_named(project: Project, metrics: Iterable[str]) -> dict[str, Issue | None]:
    """Return the project's issue of each metric of one, the one that it was merged into where it was; None if none."""
    found: dict[str, Issue | None] = {}
    for metric in metrics:
        pk = read_id(metric.removeprefix(ISSUE))
        rows = Issue.objects.filter(project=project).select_related("project", "merged_into__project")
        row = rows.filter(pk=pk).first() if pk else None
        found[metric] = (row.merged_into or row) if row else None
    return found


def _of(grading: Grading, metrics: Iterable[str]) -> dict[str, Issue | None]:
    asked = [metric for metric in metrics if metric.startswith(ISSUE)]
    return issues_named(grading.run.project, asked) if asked else {}


def issue_problems(project: Project, document: JsonMapping) -> Iterator[Problem]:
    """Yield a problem for each place of a valid gate's document that names an issue which the project has not."""
    places = [(place, metric) for place, metric in named_metrics(document) if metric.startswith(ISSUE)]
    named = issues_named(project, {metric for _, metric in places})
    for place, metric in places:
        if named[metric] is None:
            yield Problem(pointer_to(place), f"names no issue of this project: {metric}")


def with_issue_names(result: GateResult, gate: Gate, grading: Grading) -> GateResult:
    """Return the result with the names of issues in the names of checks, and the beginnings of their ids."""
    said = {
        metric: f"{issue.name.replace('`', '')} (issue {str(issue.pk)[:8]})"
        for metric, issue in _of(grading, sorted(gate.named)).items()
        if issue is not None
    }
    checks = (
        replace(each, name=each.name.replace(each.metric, said[each.metric])) if each.metric in said else each
        for each in result.checks
    )
    return replace(result, checks=tuple(checks))


def issue_notes(gate: Gate, grading: Grading) -> dict[str, str]:
    """Return a note for each issue that a gate names: its name, and how many of its examples the run holds."""
    notes = {}
    for metric, issue in _of(grading, sorted(gate.named)).items():
        if issue is None:
            notes[metric] = "This issue no longer exists: remove the rule."
            continue
        held, seen = _held(grading, issue), IssueCase.objects.of_issue(issue).examples().count()
        notes[metric] = f"Run {grading.run.number} holds {held:,} of the {seen:,} examples with this issue."
        if not IssueGathering.objects.filter(pk=grading.pk, finished_at__isnull=False).exists():
            notes[metric] += " Its failures are not gathered: hold the run's newest grading against the gate."
    return notes


def _gathered(grading: Grading, sign: Callable[[], None]) -> bool:
    """Gather a grading's failures where they wait for it, and return whether all are gathered."""
    if IssueGathering.objects.waiting().filter(pk=grading.pk).exists():
        while issues_gather(grading=grading):
            sign()
    return IssueGathering.objects.filter(pk=grading.pk, finished_at__isnull=False).exists()


def _held(grading: Grading, issue: Issue) -> int:
    """Return how many of an issue's examples a grading's run holds."""
    examples = IssueCase.objects.of_issue(issue).examples()
    entries = VersionEntry.objects.filter(version=grading.run.dataset_version_id, revision__example__in=examples)
    held: set[int] = set(entries.values_list("position", flat=True))
    return len(held.intersection(grading.run.positions))


def issue_metric(issue: UUID) -> str:
    """Return what a gate calls an issue."""
    return f"{ISSUE}{issue}"
