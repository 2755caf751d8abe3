"""Draw the sample of a promotion: which turns become examples, and which ask nearly the same as another."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any
from uuid import UUID

from labeling.models import Dataset
from toolevals.json_types import JsonObject
from toolevals.registry.models import ToolListEntry
from toolevals.traces.models import Promotion, PromotionState, Trace, TraceExample, Turns
from toolevals.traces.promotion.sampling import LikeTurns, likeness_of, traces_draw
from toolevals.traces.promotion.services import making_plan
from toolevals.traces.promotion.turns import Turn, turns_of
from toolevals.traces.reading.chunks import spans_of
from toolevals.traces.reading.filters import TraceFilter
from toolevals.traces.reading.traces import trace_read
from toolevals.workspace.bulk import others_write_first
from toolevals.workspace.jobs.leases import Lease
from toolevals.workspace.jobs.services import job_add_batches

AT_ONCE = 20
# Examples of earlier samples, the newest, with which the turns are compared.
MOST_COMPARED = 5_000
# Traces without an example that are named.
MOST_NAMED = 20


def promotion_draw(lease: Lease) -> None:
    """Draw the traces and put their turns together, once: what is promoted later does not change the sample."""
    promotion = Promotion.objects.select_related("project", "dataset").get(pk=lease.payload["promotion"])
    if promotion.state != PromotionState.DRAWING:
        return
    drawn = [UUID(pk) for pk in promotion.chosen] or traces_draw(
        promotion.project, TraceFilter.of(promotion.wanted), promotion.count, promotion.seed, promotion.strata
    )
    # Cut turns are drawn where someone looks at them first, or said that they want them.
    sample = _Sample(promotion, takes_cut=promotion.shows_first or bool(lease.payload.get("takes_cut")))
    for at in range(0, len(drawn), AT_ONCE):
        some = Trace.objects.in_project(promotion.project).filter(pk__in=drawn[at : at + AT_ONCE])
        for trace in some.order_by("pk"):
            sample.add(trace)
        lease.extend()
        others_write_first()
    promotion.plan = {**sample.plan, "known": [each for each in sample.plan["known"] if each["alike"]]}
    promotion.left_out = sample.left_out
    promotion.drawn, promotion.folded = len(drawn), sample.folded
    promotion.state = PromotionState.DRAWN if promotion.shows_first else PromotionState.MAKING
    with lease.finish():
        promotion.save(update_fields=["plan", "left_out", "drawn", "folded", "state"])
        if not promotion.shows_first:
            job_add_batches(lease.batch.job, [making_plan(promotion, stage=1)])


class _Sample:
    """The turns so far. `plan` holds them as rows do.

    `new` are turns that become examples, `known` examples that there are already; under each, as `[trace, turn]`, the
    turns that are folded into it.
    """

    def __init__(self, promotion: Promotion, *, takes_cut: bool) -> None:
        self._takes_cut = takes_cut
        self.plan: dict[str, list[JsonObject]] = {"new": [], "known": []}
        self.left_out: list[dict[str, str]] = []
        self.folded = 0
        self._promotion = promotion
        self._groups: LikeTurns[list[list[Any]]] = LikeTurns()
        self._held = set(
            TraceExample.objects.filter(example__dataset=promotion.dataset).values_list("trace_id", "turn")
        )
        self._keep_known(promotion.dataset)

    def _keep_known(self, dataset: Dataset) -> None:
        rows = TraceExample.objects.filter(example__dataset=dataset, is_folded=False).exclude(example__current=None)
        found = rows.order_by("-pk").values_list("example_id", "example__current__input", "example__current__tools_id")
        names: dict[UUID, list[str]] = {}
        for example, shown, tools in found[:MOST_COMPARED].iterator(chunk_size=200):
            if tools not in names:
                offered = ToolListEntry.objects.filter(tools=tools)
                names[tools] = list(offered.values_list("spec__name", flat=True))
            alike: list[list[Any]] = []
            self._groups.add(likeness_of(shown, names[tools]), alike)
            self.plan["known"].append({"example": str(example), "alike": alike})

    def add(self, trace: Trace) -> None:
        """Take in the turns of a trace."""
        read = trace_read(spans_of(trace))
        turns = self._wanted(trace, turns_of(read))
        if read.damage and not (self._takes_cut and turns):
            _, first = read.damage[0]
            words = f"came cut: {first.pointer or 'its span'} {first.message}"
            words += ". Look at the sample first, and confirm it." if turns else ", and no turn can be read"
            self._leave_out(trace, words)
            return
        if not turns:
            words = {Turns.CALLED: "no turn that called a tool"}.get(
                Turns(self._promotion.turns), "no turn that called a tool, or could have"
            )
            self._leave_out(trace, words)
        for turn in turns:
            if (trace.pk, turn.number) not in self._held:
                self._place(str(trace.pk), turn)

    def _place(self, trace: str, turn: Turn) -> None:
        likeness = likeness_of(turn.input, (tool.name for tool in turn.tools))
        alike = self._groups.find(likeness)
        if alike is not None:
            alike.append([trace, turn.number])
            self.folded += 1
            return
        alike = []
        self._groups.add(likeness, alike)
        cut = {"cut": True} if turn.damage else {}
        self.plan["new"].append({"trace": trace, "turn": turn.number, "alike": alike, **cut})

    def _leave_out(self, trace: Trace, reason: str) -> None:
        if len(self.left_out) < MOST_NAMED:
            self.left_out.append({"id": trace.trace_id.hex, "reason": reason})

    def _wanted(self, trace: Trace, turns: Sequence[Turn]) -> Sequence[Turn]:
        if self._promotion.turns == Turns.CALLED:
            return [turn for turn in turns if turn.has_called]
        if self._promotion.turns == Turns.ONE and turns:
            # A draw that can be repeated.
            return [Random(f"{self._promotion.seed} {trace.trace_id.hex}").choice(turns)]  # noqa: S311
        return turns
