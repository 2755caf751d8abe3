"""Find the second looks that wait for a person: at proposals that their own label does not accept.

Proposals are written as expectations of plain calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.shortcuts import get_object_or_404

from labeling.models import Dataset, Label, LookPlan, LookProposal
from toolevals.grading.engine.grading import compile_case, grade_calls
from toolevals.grading.values import Expectation, ToolCall, ToolSpec
from toolevals.json_types import JsonMapping, JsonObject
from toolevals.registry.tool_lists import tools_in
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Project, User, within

NO_CALL: JsonObject = {"kind": "no_call"}


# More that wait are not counted.
MOST = 20


def proposal_document(calls: Sequence[ToolCall]) -> JsonObject:
    """Return the expectation of just these calls, in order; of no call where there are none."""
    if not calls:
        return dict(NO_CALL)
    ordered = [
        {"tool": call.name, "arguments": {name: {"exact": value} for name, value in call.arguments.items()}}
        for call in calls
    ]
    return {"kind": "calls", "alternatives": [{"ordered": ordered, "additional_calls": False}]}


def calls_of(proposal: JsonMapping) -> tuple[ToolCall, ...]:
    """Return the calls of a proposal's document."""
    if proposal["kind"] != "calls":
        return ()
    return tuple(
        ToolCall(call["tool"], {name: matcher["exact"] for name, matcher in call["arguments"].items()})
        for call in proposal["alternatives"][0]["ordered"]
    )


def accepts(expectation: JsonMapping | None, proposal: JsonMapping, tools: Sequence[ToolSpec]) -> bool:
    """Tell whether a label's or gold's expectation lets a proposal pass; None, an answer without one, lets nothing."""
    if expectation is None:
        return False
    compiled = compile_case(Expectation.from_document(dict(expectation)), tuple(tools))
    return grade_calls(compiled, calls_of(proposal)).statuses["outcome"] == "passed"


@dataclass(frozen=True, slots=True)
class DueLook:
    """A proposal to look at, and this person's label in force, which does not accept it."""

    proposal: LookProposal
    label: Label


def looks_due(project: Project, user: User) -> list[DueLook]:
    """Return the second looks that wait for a person, at most MOST."""
    if not LookPlan.objects.filter(within(project, "dataset"), ended_at=None).exists():
        return []
    return list(_due(project, user))


def look_due(project: Project, user: User, proposal: LookProposal) -> DueLook | None:
    """Return what waits at one proposal; None where nothing does."""
    return next((due for due in _due(project, user) if due.proposal == proposal), None)


def proposal_or_404(project: Project, pk: UUID) -> LookProposal:
    """Return the project's proposal. Raises Http404."""
    rows = LookProposal.objects.filter(within(project, "plan__dataset"))
    return get_object_or_404(rows.select_related("plan__dataset__project"), pk=pk)


def plan_at_work(dataset: Dataset) -> LookPlan | None:
    """Return the dataset's plan of second looks that is not ended."""
    return LookPlan.objects.filter(dataset=dataset, ended_at=None).first()


def _due(project: Project, user: User) -> Iterator[DueLook]:
    count = 0
    for proposal in LookProposal.objects.due(project, user, database_now()).iterator(chunk_size=2 * MOST):
        labels = Label.objects.filter(revision=proposal.revision_id, reviewer=user).in_force()
        label = labels.select_related("revision").first()
        if label is None or accepts(label.expectation, proposal.expectation, tools_in(proposal.revision.tools)):
            continue
        yield DueLook(proposal, label)
        count += 1
        if count == MOST:
            return
