"""Begin and end the second looks of a dataset, open one, answer it.

Some proposals are wrong on purpose: drawn with a seed, and made to look like an agent's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any
from uuid import UUID

from django.db import transaction

from labeling.errors import InvalidAct
from labeling.label.claims import require_labelling
from labeling.models import Dataset, LookAnswer, LookPlan, LookProposal, Resolution, Revision, SecondLook
from labeling.second_looks.pending_second_looks import NO_CALL, DueLook, calls_of, look_due, proposal_document
from toolevals.grading.values import ToolCall, ToolSpec
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping, JsonObject
from toolevals.registry.tool_lists import tools_in
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import User

# Of a tool and an argument: the values that the agent gave it anywhere.
Values = Mapping[tuple[str, str], Sequence[Any]]
MOST_PROPOSALS = 10_000
MOST_PLANTED = 0.5
LONGEST_REMARK = 4000
AT_ONCE = 500


def is_drawn(seed: int, external_id: str, share: float) -> bool:
    """Tell whether an example's proposal is replaced by a wrong one: the same seed draws the same examples."""
    return _random(seed, external_id).random() < share


def planted(
    proposal: JsonMapping, tools: Sequence[ToolSpec], values: Values, *, seed: int, external_id: str
) -> JsonObject | None:
    """Return another proposal in the place of an agent's; None where nothing else can be made of it.

    Another offered tool that takes the same arguments, else the same tool with the value of another example, else no
    call. Whether it is wrong in fact is asked again once the example has gold.
    """
    calls = calls_of(proposal)
    if not calls:
        return None
    draw, first = _random(seed, f"{external_id} planted"), calls[0]
    others = [call for tool in tools if tool.name != first.name and (call := _same_arguments(first, tool))]
    if others:
        return proposal_document([draw.choice(others), *calls[1:]])
    changed = [
        ToolCall(first.name, {**first.arguments, name: value})
        for name, own in sorted(first.arguments.items())
        for value in values.get((first.name, name), ())
        if value != own
    ]
    return proposal_document([draw.choice(changed), *calls[1:]]) if changed else dict(NO_CALL)


def values_given(proposals: Sequence[JsonMapping]) -> Values:
    """Return the values that were given to each argument of each tool, each once, in the order of the proposals."""
    values: dict[tuple[str, str], list[Any]] = {}
    for proposal in proposals:
        for call in calls_of(proposal):
            for name, value in call.arguments.items():
                known = values.setdefault((call.name, name), [])
                if value not in known:
                    known.append(value)
    return values


def _same_arguments(call: ToolCall, tool: ToolSpec) -> ToolCall | None:
    """Return a call of another tool with what it takes of a call's arguments; None where it requires others."""
    schema = tool.input_schema
    properties, required = schema.get("properties") or {}, schema.get("required") or []
    taken = {name: value for name, value in call.arguments.items() if name in properties}
    return ToolCall(tool.name, taken) if taken and set(required) <= taken.keys() else None


def _random(seed: int, words: str) -> Random:
    return Random(f"{seed} {words}")  # noqa: S311 (a draw that anybody may repeat)


@transaction.atomic
def second_looks_begin(
    *,
    dataset: Dataset,
    actor: User | None,
    run: int,
    agent: str,
    proposals: Mapping[UUID, JsonObject],
    planted_share: float = 0,
    seed: int = 0,
) -> LookPlan:
    """Propose an agent's calls, by revision, for second looks in a dataset; those at work end.

    A share of the proposals is replaced by wrong ones, drawn with the seed. Proposals for what is not open are left
    out. Raises InvalidDocument where nothing is left, or too much.
    """
    if not 0 <= planted_share <= MOST_PLANTED:
        raise InvalidDocument.at("/planted_share", f"must be from 0 to {MOST_PLANTED}")
    Dataset.objects.select_for_update(of=("self",)).get(pk=dataset.pk)
    rows = Revision.objects.current().filter(example__dataset=dataset, resolution=Resolution.OPEN, pk__in=proposals)
    open_ones = list(rows.select_related("example", "tools").defer("input").order_by("pk")[: MOST_PROPOSALS + 1])
    if not open_ones:
        raise InvalidDocument.at("/run", "holds no answer to an example of this dataset that is still to label")
    if len(open_ones) > MOST_PROPOSALS:
        raise InvalidDocument.at("/run", f"holds more than {MOST_PROPOSALS:,} answers to examples still to label")
    LookPlan.objects.filter(dataset=dataset, ended_at=None).update(ended_at=database_now())
    plan = LookPlan.objects.create(
        dataset=dataset, run=run, agent=agent, planted_share=planted_share, seed=seed, actor=actor
    )
    values = values_given([proposals[revision.pk] for revision in open_ones])
    made = []
    for revision in open_ones:
        own, name = proposals[revision.pk], revision.example.external_id
        wrong = None
        if is_drawn(seed, name, planted_share):
            wrong = planted(own, tools_in(revision.tools), values, seed=seed, external_id=name)
        made.append(LookProposal(plan=plan, revision=revision, expectation=wrong or own, is_planted=wrong is not None))
    LookProposal.objects.bulk_create(made, batch_size=AT_ONCE)
    detail = {"run": run, "agent": agent, "proposals": len(made), "planted_share": planted_share}
    audit_record(project=dataset.project, actor=actor, verb="second_looks_begin", target=plan, detail=detail)
    return plan


@transaction.atomic
def second_looks_end(*, dataset: Dataset, actor: User | None) -> None:
    """End the second looks of a dataset: nothing more is proposed, and people are told what was wrong on purpose."""
    plan = LookPlan.objects.filter(dataset=dataset, ended_at=None).first()
    if plan is not None and LookPlan.objects.filter(pk=plan.pk, ended_at=None).update(ended_at=database_now()):
        audit_record(project=dataset.project, actor=actor, verb="second_looks_end", target=plan)


@transaction.atomic
def second_look_open(*, due: DueLook, actor: User) -> SecondLook:
    """Write down that a person sees a proposal, before it is shown; they are not given its example again.

    It leaves no audit row: it decides nothing.
    """
    look, _ = SecondLook.objects.get_or_create(
        proposal=due.proposal, reviewer=actor, defaults={"label": due.label, "revision": due.label.revision}
    )
    return look


@transaction.atomic
def second_look_answer(*, look: SecondLook, actor: User, answer: str, remark: str = "") -> SecondLook:
    """Keep what a person says after a second look; the first answer stands. Their label stays what it was.

    Raises InvalidAct where the look is another's, or waits no more: the example was decided, or the looks were ended.
    """
    if look.reviewer_id != actor.pk or answer not in LookAnswer.values:
        raise InvalidAct("This second look is not yours.")
    project = look.proposal.plan.dataset.project
    require_labelling(project, actor)
    locked = SecondLook.objects.select_for_update(of=("self",)).get(pk=look.pk)
    if locked.answer:
        return locked
    if look_due(project, actor, look.proposal) is None:
        raise InvalidAct("The example has been decided, or its second looks were ended.")
    locked.answer, locked.remark = answer, remark.strip()[:LONGEST_REMARK]
    locked.answered_at = database_now()
    locked.save(update_fields=["answer", "remark", "answered_at"])
    detail = {"revision": str(locked.revision_id)}
    audit_record(project=project, actor=actor, verb="second_look_answer", target=locked, detail=detail)
    return locked
