"""Accept, change or drop drafts of edge cases. An accepted draft is an example to be labelled."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from copy import deepcopy
from itertools import islice
from uuid import UUID

from django.db import transaction

from labeling.coverage.index_gold_tools import gold_in_force
from labeling.errors import InvalidAct
from labeling.expectations.offered_tools import Offers
from labeling.imports.services import examples_import
from labeling.models import Dataset, Example, GoldTool, ProposalState, ProposedExample, Revision, ToolPart
from labeling.proposals.drafts import Draft, drafts_of
from toolevals.grading.edge_cases import EdgeCase
from toolevals.grading.reading.examples import ExampleRow
from toolevals.json_types import JsonObject
from toolevals.registry.models import ToolList
from toolevals.registry.tool_lists import tools_in
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.models import User

# So many examples are looked at for one call, and so many drafts are made at most.
MOST_LOOKED_AT = 5_000
MOST_AT_ONCE = 200
AT_ONCE = 200
LONGEST_WORDS = 20_000
# A tool, a parameter and an edge case: one draft of each is enough.
Target = tuple[str, str, str]


def proposals_make(
    *,
    dataset: Dataset,
    actor: User | None,
    tools: Collection[str] | None = None,
    kinds: Collection[str] | None = None,
    limit: int = 50,
) -> int:
    """Draft edge cases from a dataset's gold, one for each parameter and kind that has none; return how many are new.

    `tools` and `kinds` (of `EdgeCase`) narrow what is drafted. Examples are looked at from the oldest, so that the
    same gold gives the same drafts; what someone dropped is not drafted again from the same example.
    """
    made = list(islice(_new_drafts(dataset, tools, kinds), min(limit, MOST_AT_ONCE)))
    with transaction.atomic():
        # Two that draft at once make the same rows under the same key.
        ProposedExample.objects.bulk_create([_proposal(dataset, *each) for each in made], ignore_conflicts=True)
        detail = {"made": len(made)}
        audit_record(project=dataset.project, actor=actor, verb="proposals_make", target=dataset, detail=detail)
    return len(made)


@transaction.atomic
def proposal_accept(*, proposal: ProposedExample, actor: User | None, words: str | None = None) -> Example:
    """Make an example to be labelled of a proposal, with other last words of the user where given.

    The drafted expectation is no label: two people label the example without it. Raises InvalidAct where someone has
    said something of the proposal already, or the words are empty or too long.
    """
    locked = ProposedExample.objects.select_for_update(of=("self",)).get(pk=proposal.pk)
    if locked.state != ProposalState.OPEN:
        raise InvalidAct("This draft is decided already.")
    shown = _with_words(locked.input, words)
    dataset = Dataset.objects.select_related("project").get(pk=locked.dataset_id)
    origin = locked.origin.example
    name = _free_name(dataset, f"{origin.external_id[:150]}+{locked.kind}")
    strata = {**origin.strata, "bucket": "arguments", "edge_case": locked.kind}
    specs = list(tools_in(ToolList.objects.get(pk=locked.tools_id)))
    examples_import(dataset=dataset, actor=actor, rows=[ExampleRow(name, shown, specs, strata=strata)])
    example = Example.objects.get(dataset=dataset, external_id=name)
    locked.state, locked.example, locked.actor, locked.input = ProposalState.ACCEPTED, example, actor, shown
    locked.save(update_fields=["state", "example", "actor", "input"])
    detail = {"example": str(example.pk), "changed": words is not None}
    audit_record(project=dataset.project, actor=actor, verb="proposal_accept", target=locked, detail=detail)
    return example


@transaction.atomic
def proposals_accept(*, dataset: Dataset, actor: User | None, proposals: Iterable[UUID]) -> int:
    """Accept several as they are; return how many. Those that someone has decided meanwhile are passed over."""
    rows = ProposedExample.objects.of_dataset(dataset).open().filter(pk__in=list(proposals)[:MOST_AT_ONCE])
    accepted = [proposal_accept(proposal=one, actor=actor) for one in rows.order_by("pk")]
    return len(accepted)


@transaction.atomic
def proposals_drop(*, dataset: Dataset, actor: User | None, proposals: Iterable[UUID]) -> int:
    """Drop several; return how many. They are not drafted again from the same examples."""
    rows = ProposedExample.objects.of_dataset(dataset).open().filter(pk__in=list(proposals)[:MOST_AT_ONCE])
    dropped = rows.update(state=ProposalState.REJECTED, actor=actor)
    detail = {"dropped": dropped}
    audit_record(project=dataset.project, actor=actor, verb="proposals_drop", target=dataset, detail=detail)
    return dropped


def _new_drafts(
    dataset: Dataset, tools: Collection[str] | None, kinds: Collection[str] | None
) -> Iterator[tuple[Revision, Draft]]:
    known = ProposedExample.objects.of_dataset(dataset)
    dropped = set(
        known.filter(state=ProposalState.REJECTED).values_list("tool", "parameter", "kind", "origin_id")
    )  # fmt: skip
    done: set[Target] = set(known.exclude(state=ProposalState.REJECTED).values_list("tool", "parameter", "kind"))

    def is_wanted(tool: str, parameter: str, kind: EdgeCase) -> bool:
        asked = (tools is None or tool in tools) and (kinds is None or kind in kinds)
        return asked and (tool, parameter, kind.value) not in done

    lists = Offers()
    for page in _pages(dataset, tools):
        offered = lists.of(revision.tools_id for revision in page)
        for revision in page:
            assert revision.gold is not None
            for draft in drafts_of(revision.input, revision.gold.expectation, offered[revision.tools_id], is_wanted):
                target = (draft.tool, draft.parameter, draft.kind.value)
                if target not in done and (*target, revision.pk) not in dropped:
                    done.add(target)
                    yield revision, draft


def _pages(dataset: Dataset, tools: Collection[str] | None) -> Iterator[list[Revision]]:
    rows = gold_in_force(dataset).filter(gold__isnull=False).select_related("gold").order_by("pk")
    if tools is not None:
        about = GoldTool.objects.filter(part=ToolPart.EXPECTED, tool__in=list(tools))
        rows = rows.filter(gold__in=about.values("gold"))
    last = None
    for _ in range(MOST_LOOKED_AT // AT_ONCE):
        page = list((rows.filter(pk__gt=last) if last else rows)[:AT_ONCE])
        if not page:
            return
        yield page
        last = page[-1].pk


def _proposal(dataset: Dataset, revision: Revision, draft: Draft) -> ProposedExample:
    return ProposedExample(
        dataset=dataset,
        origin=revision,
        tool=draft.tool[:200],
        parameter=draft.parameter[:300],
        kind=draft.kind.value,
        input=draft.input,
        tools_id=revision.tools_id,
        expectation=draft.expectation,
    )


def _with_words(shown: JsonObject, words: str | None) -> JsonObject:
    if words is None:
        return shown
    said = words.strip().replace("\r\n", "\n")
    if not said or len(said) > LONGEST_WORDS:
        raise InvalidAct(f"The user's words are 1 to {LONGEST_WORDS:,} characters.")
    changed = deepcopy(shown)
    changed["messages"][-1]["content"] = said
    return changed


def _free_name(dataset: Dataset, stem: str) -> str:
    taken = set(
        Example.objects.of_dataset(dataset).filter(external_id__startswith=stem).values_list("external_id", flat=True)
    )
    names = (stem if number == 1 else f"{stem}-{number}" for number in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)
