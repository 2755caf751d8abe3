"""Define the tables of suggested preconditions; docs/tables.md describes their columns."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from toolevals.presentation.table import Column, Table


def _support(source: str) -> tuple[Column, ...]:
    return (
        Column(f"{source}_conversations", int, f"pair.{source}.conversations", "In which the tool was called."),
        Column(f"{source}_before", int, f"pair.{source}.before", "In which the other always came before it."),
        Column(f"{source}_low", float, f"pair.{source}.interval.low", "The 95 % interval (Wilson) of the share."),
        Column(f"{source}_high", float, f"pair.{source}.interval.high"),
    )


SUGGESTIONS: Final = Table(
    "SuggestedPrecondition",
    "A precondition that gold or traces suggest, the surest first.",
    (
        Column("tool", str, "pair.tool"),
        Column("after", str, "pair.after", "The tool that comes before it."),
        *_support("gold"),
        *_support("traces"),
        Column("rule", words="The rule of the newest version that has it; empty where none has."),
    ),
)
PAIR_CONVERSATIONS: Final = Table(
    "PairConversation",
    "A conversation in which a tool was called, the newest first.",
    (
        Column("source", ("gold", "traces")),
        Column("id", UUID, "seen.pk", "The example of gold, or the trace."),
        Column("name", str, "seen.name"),
        Column("dataset", str, "seen.dataset", "Of gold alone."),
        Column("is_before", bool, words="Whether the other tool came before every call of it."),
    ),
)
