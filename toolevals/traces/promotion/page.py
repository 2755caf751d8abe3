"""Gather what the page of a sample shows: the texts before anything is made, and what was made of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from django.db.models import Count, Q

from labeling.examples.rows import ExampleRow, example_rows
from labeling.lint.inputs import conversation_text
from labeling.models import Example
from toolevals.json_types import JsonObject
from toolevals.traces.intake.scrubbing import Scrubber
from toolevals.traces.models import Promotion, PromotionSchedule, Trace, TraceExample, TraceSettings, Turns
from toolevals.traces.promotion.making import scrubbed_input
from toolevals.traces.promotion.sampling import STRATA
from toolevals.traces.promotion.turns import Turn, turns_of
from toolevals.traces.reading.chunks import spans_of
from toolevals.traces.reading.filters import TraceFilter
from toolevals.traces.reading.traces import trace_read
from toolevals.workspace.models import User

TURNS_SHOWN = 20
EXAMPLES_SHOWN = 100
_DAMAGE_SHOWN = 5


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """A turn as its example will hold it: what is asked, what was said before, and how many turns are folded into it.

    `is_scrubbed`: personal data were taken out that the trace still holds. `damage` says what of its trace came cut.
    """

    place: int
    request: str
    earlier: tuple[tuple[str, str], ...]
    tools: tuple[str, ...]
    alike: int
    is_scrubbed: bool
    damage: tuple[str, ...] = ()


def planned_turns(promotion: Promotion, page: int) -> list[ShownTurn]:
    """Return the turns of a page of a sample that is drawn and not made; pages count from 1."""
    start = (page - 1) * TURNS_SHOWN
    planned = promotion.plan.get("new", [])[start : start + TURNS_SHOWN]
    scrubber = Scrubber(TraceSettings.of(promotion.project).rules)
    return [
        _shown(start + place, turn, scrubber, len(each["alike"]))
        for place, (each, turn) in enumerate(_read(planned), start=1)
    ]


def _read(planned: Sequence[JsonObject]) -> Iterator[tuple[JsonObject, Turn]]:
    for pk, group in groupby(planned, key=itemgetter("trace")):
        trace = Trace.objects.filter(pk=pk).first()
        turns = {turn.number: turn for turn in turns_of(trace_read(spans_of(trace)))} if trace else {}
        for each in group:
            if each["turn"] in turns:
                yield each, turns[each["turn"]]


def _shown(place: int, turn: Turn, scrubber: Scrubber, alike: int) -> ShownTurn:
    content = scrubbed_input(turn, scrubber)
    messages = [each for each in content["messages"] if isinstance(each, dict)]
    asked = max((at for at, each in enumerate(messages) if each.get("role") == "user"), default=-1)
    earlier = tuple((str(each.get("role")), _words(each)) for each in messages[: max(asked, 0)])
    request = _words(messages[asked]) if asked >= 0 else ""
    tools = tuple(tool.name for tool in turn.tools)
    damage = turn.damage[:_DAMAGE_SHOWN]
    return ShownTurn(place, request, earlier, tools, alike, is_scrubbed=content != turn.input, damage=damage)


def _words(message: JsonObject) -> str:
    """Return what a message says; of one that only calls, the calls."""
    said = conversation_text({"messages": [{**message, "role": "user"}]})
    calls = message.get("calls") or message.get("tool_calls") or ()
    return "\n".join(filter(None, [said, *(str(call) for call in calls)]))


def made_examples(promotion: Promotion) -> list[ExampleRow]:
    """Return the first examples of a promotion, those with the most folded turns first, each with `folded`."""
    made = TraceExample.objects.filter(promotion=promotion, is_folded=False)
    found = Example.objects.filter(pk__in=made.values("example")).with_content()
    folded = Count("traces", filter=Q(traces__is_folded=True))
    return example_rows(found.annotate(folded=folded).order_by("-folded", "pk")[:EXAMPLES_SHOWN])


def is_told(asked: Promotion | PromotionSchedule, user: User) -> bool:
    """Tell whether someone may know of which traces a sample is drawn.

    A filter on what agents did, or turns that called a tool, would guide the people who label the examples: only its
    author knows those.
    """
    return asked.actor_id == user.pk or not (TraceFilter.of(asked.wanted).tells or asked.turns == Turns.CALLED)


def asked_words(promotion: Promotion, user: User) -> str:
    """Return what was asked of a sample, in words, as far as `is_told` allows."""
    trace_filter = TraceFilter.of(promotion.wanted)
    if not is_told(promotion, user):
        return "by what agents did, which only its author sees"
    if promotion.chosen:
        return f"chosen by hand; {promotion.get_turns_display()}"
    said = ", ".join(f"{name} {value}" for name, value in trace_filter.said.items())
    strata = " and by ".join(STRATA[name][0] for name in promotion.strata if name in STRATA)
    return f"from {said or 'all traces'}, in turns by {strata}; {promotion.get_turns_display()}; seed {promotion.seed}"
