"""Make the examples of a sample that is drawn: one unlabelled example for each turn, without personal data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from labeling.imports.services import examples_import
from labeling.models import Example
from toolevals.grading.json_schema.conformance import why_unused
from toolevals.grading.reading.examples import ExampleRow
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping, JsonObject
from toolevals.traces.intake.scrubbing import Scrubber
from toolevals.traces.models import Promotion, PromotionState, Trace, TraceExample, TraceSettings
from toolevals.traces.promotion.drawing import MOST_NAMED
from toolevals.traces.promotion.turns import Turn, turns_of
from toolevals.traces.reading.chunks import spans_of
from toolevals.traces.reading.traces import trace_read
from toolevals.workspace.bulk import others_write_first
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.leases import Lease

# Traces whose examples are imported in one transaction.
AT_ONCE = 5


def traces_promote(lease: Lease) -> None:
    """Make the examples. What was imported before a kill is found by its name, and changes nothing."""
    promotion = Promotion.objects.select_related("project", "dataset__project", "actor").get(
        pk=lease.payload["promotion"]
    )
    if promotion.state != PromotionState.MAKING:
        return
    work = _Work(promotion)
    traces = [list(turns) for _, turns in groupby(promotion.plan["new"], key=itemgetter("trace"))]
    for at in range(0, len(traces), AT_ONCE):
        with lease.transaction():
            for turns in traces[at : at + AT_ONCE]:
                work.make(turns)
        lease.progress(sum(map(len, traces[: at + AT_ONCE])))
        others_write_first()
    with lease.finish():
        work.fold_into_known(promotion.plan["known"])
        promotion.state, promotion.plan, promotion.ended_at = PromotionState.MADE, {}, database_now()
        promotion.made = TraceExample.objects.filter(promotion=promotion, is_folded=False).count()
        promotion.save(update_fields=["state", "plan", "made", "left_out", "ended_at"])


class _Work:
    """Holds what a job makes of the plan of a promotion."""

    def __init__(self, promotion: Promotion) -> None:
        self._promotion = promotion
        self._scrubber = Scrubber(TraceSettings.of(promotion.project).rules)

    def make(self, planned: Sequence[JsonMapping]) -> None:
        """Make the examples of one trace."""
        trace = Trace.objects.filter(project=self._promotion.project_id, pk=planned[0]["trace"]).first()
        turns = {turn.number: turn for turn in turns_of(trace_read(spans_of(trace)))} if trace else {}
        for each in planned:
            turn = turns.get(each["turn"])
            if trace is None or turn is None:
                self._leave_out(each["trace"], f"turn {each['turn']} is no longer there")
            elif (example := self._example(trace, turn)) is not None:
                self._link(example, [[trace.pk, turn.number]], is_folded=False)
                self._link(example, each["alike"], is_folded=True)

    def fold_into_known(self, known: Iterable[JsonMapping]) -> None:
        """Link turns that ask the same as an example which was there before."""
        for each in known:
            example = Example.objects.filter(pk=each["example"]).first() if each["alike"] else None
            if example is not None:
                self._link(example, each["alike"], is_folded=True)

    def _example(self, trace: Trace, turn: Turn) -> Example | None:
        row = ExampleRow(
            f"trace-{trace.trace_id.hex}-{turn.number}", scrubbed_input(turn, self._scrubber), turn.tools or None
        )
        dataset = self._promotion.dataset
        if unused := next(filter(None, map(why_unused, turn.tools)), ""):
            self._leave_out(trace.trace_id.hex, unused)
            return None
        try:
            examples_import(dataset=dataset, actor=self._promotion.actor, rows=[row])
        except InvalidDocument as error:
            first = error.problems[0]
            self._leave_out(trace.trace_id.hex, f"{first.pointer} {first.message}".strip())
            return None
        return Example.objects.get(dataset=dataset, external_id=row.external_id)

    def _link(self, example: Example, turns: Iterable[Sequence[Any]], *, is_folded: bool) -> None:
        for trace, number in self._there(turns):
            TraceExample.objects.get_or_create(
                example=example,
                trace_id=trace,
                turn=number,
                defaults={
                    "project_id": self._promotion.project_id, "promotion": self._promotion, "is_folded": is_folded,
                },
            )  # fmt: skip

    def _there(self, turns: Iterable[Sequence[Any]]) -> Iterator[tuple[Any, int]]:
        """Yield those turns whose traces are still there."""
        wanted = [(str(trace), number) for trace, number in turns]
        found = Trace.objects.filter(pk__in={trace for trace, _ in wanted}).values_list("pk", flat=True)
        there = {str(pk): pk for pk in found}
        for trace, number in wanted:
            if trace in there:
                yield there[trace], number

    def _leave_out(self, trace: str, reason: str) -> None:
        if len(self._promotion.left_out) < MOST_NAMED:
            self._promotion.left_out = [*self._promotion.left_out, {"id": trace, "reason": reason}]


def scrubbed_input(turn: Turn, scrubber: Scrubber) -> JsonObject:
    """Return the input of a turn's example: without what the project's rules take out by now."""
    return scrubber.without(turn.input)
