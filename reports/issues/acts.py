"""Do something from an issue.

Ask a gate that it stays away, ask the newest agent again where it was seen, make examples of its traces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from labeling.models import Dataset, VersionEntry
from reports.gates.issue_scores import issue_metric
from reports.gates.models import NamedGate
from reports.gates.services import named_gate_save
from reports.issues.models import Issue, IssueCase
from reports.issues.queries import issue_traces
from reports.issues.services import event_record
from toolevals.agents.connectors import CONNECTORS
from toolevals.grading.gates.documents import named_metrics
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.live.estimate import Estimate, estimate_of
from toolevals.runs.live.settings import LiveSettings
from toolevals.runs.models import Connector, Run
from toolevals.runs.runs.repeating import run_repeat
from toolevals.traces.models import Promotion
from toolevals.traces.promotion.services import MOST, PromotionRequest, promotion_start
from toolevals.workspace.models import Project, Role, User


def gates_with(issue: Issue) -> list[NamedGate]:
    """Return the gates that the project keeps and that name an issue."""
    metric = issue_metric(issue.pk)
    gates = NamedGate.objects.in_project(issue.project)
    return [gate for gate in gates if any(named == metric for _, named in named_metrics(gate.gate))]


@transaction.atomic
def issue_gate(*, issue: Issue, actor: User, name: str) -> NamedGate:
    """Add to a kept gate, or to a new one, the rule that no case has an issue.

    Raises InvalidDocument where the gate has it already, or the name cannot be one.
    """
    # One at a time, so that no rule that another person adds is lost.
    Project.objects.select_for_update(no_key=True).get(pk=issue.project_id)
    if issue.merged_into_id:
        raise InvalidDocument.at("", "The issue was merged: add the rule to the one that it is in.")
    kept = NamedGate.objects.filter(project=issue.project, name=name).first()
    if kept in gates_with(issue):
        raise InvalidDocument.at("/gate", f"asks for it already: {name}")
    document = dict(kept.gate) if kept else {}
    rule = {"metric": issue_metric(issue.pk), "statistic": "failed_count", "max": 0}
    document["bounds"] = [*document.get("bounds", ()), rule]
    saved = named_gate_save(
        project=issue.project,
        actor=actor,
        name=name,
        gate=document,
        baseline=kept.baseline if kept else "",
        was=name if kept else "",
    )
    event_record(issue, actor, "gated", "issue_gate", {"gate": name})
    return saved


@dataclass(frozen=True, slots=True)
class Rerun:
    """The newest run whose agent can be asked again, where an issue's examples are in its version, and what it takes.

    `estimate` is None for an agent that takes nothing.
    """

    run: Run
    positions: Sequence[int]
    estimate: Estimate | None


def rerun_source(issue: Issue) -> Run | None:
    """Return the newest run of an agent that can be asked, over a dataset that holds an issue's examples."""
    entries = VersionEntry.objects.filter(revision__example__in=IssueCase.objects.of_issue(issue).examples())
    runs: Any = Run.objects.in_project(issue.project).of_people().filter(grading__isnull=False)
    runs = runs.filter(
        agent__connector__in=[*CONNECTORS, Connector.BASELINE],
        dataset_version__in=entries.values("version"),
        dataset_version__dataset__deleted_at=None,
    )
    found: Run | None = runs.first()
    return found


def rerun_of(issue: Issue) -> Rerun | None:
    """Return what a run of the newest agent on an issue's examples is; None where no agent can be asked."""
    run = rerun_source(issue)
    if run is None:
        return None
    version = run.dataset_version
    entries = VersionEntry.objects.filter(
        version=version, revision__example__in=IssueCase.objects.of_issue(issue).examples()
    )
    positions = tuple(entries.order_by("position").values_list("position", flat=True))
    connector = CONNECTORS.get(run.agent.connector)
    prices = LiveSettings.from_document(run.settings).prices if connector else None
    takes = estimate_of(version, len(positions) * run.trials, connector, prices) if connector else None
    return Rerun(run, positions, takes)


@transaction.atomic
def issue_rerun(*, issue: Issue, actor: User) -> Run:
    """Start a run of the newest agent on an issue's examples. Raises InvalidDocument where no agent can be asked."""
    rerun = rerun_of(issue)
    if rerun is None:
        raise InvalidDocument.at("", "No agent that can be asked has run on its datasets: start a run first.")
    made = run_repeat(run=rerun.run, actor=actor, positions=rerun.positions)
    event_record(issue, actor, "rerun", "issue_rerun", {"run": made.number, "examples": len(rerun.positions)})
    return made


@transaction.atomic
def issue_promote(
    *, issue: Issue, actor: User, role: Role, dataset: Dataset, turns: str, shows_first: bool
) -> Promotion:
    """Begin to make examples of the newest traces of an issue that are open to the person. Raises InvalidDocument."""
    traces = tuple(issue_traces(issue, role).values_list("pk", flat=True)[:MOST])
    if not traces:
        raise InvalidDocument.at("", "No trace of the issue is open to you: wait until its examples are labelled.")
    asked = PromotionRequest(
        dataset=dataset, wanted={}, count=len(traces), seed=0, traces=traces, turns=turns, shows_first=shows_first
    )
    promotion = promotion_start(request=asked, actor=actor)
    event_record(issue, actor, "promoted", "issue_promote", {"promotion": str(promotion.pk), "traces": len(traces)})
    return promotion
