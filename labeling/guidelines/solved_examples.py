"""Choose solved examples to show next to the current one: decisions about the same tools, with reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import F

from labeling.conversation.turns import snippet
from labeling.expectations.wording import ExpectationWords, expectation_words
from labeling.models import CalibrationItem, Gold, Resolution, Revision
from toolevals.grading.values import Expectation

MOST = 6
# How far back it is looked for them.
NEWEST = 120
MAX_SAID = 160


@dataclass(frozen=True, slots=True)
class SolvedExample:
    """An example with gold: what the user said last, what is right, and why."""

    revision: Revision
    said: str
    words: ExpectationWords
    rationale: str


def solved_examples(revision: Revision, offered: frozenset[str]) -> list[SolvedExample]:
    """Return the newest resolved examples of the dataset that say why: one for each offered tool, one without a call.

    Never the current example, nothing that is not resolved, and nothing that an open calibration round asks for.
    """
    asked = CalibrationItem.objects.filter(round__dataset=revision.example.dataset_id, round__closed_at=None)
    golds = (
        Gold.objects.in_force()
        .filter(revision__example__dataset=revision.example.dataset_id, revision__resolution=Resolution.RESOLVED)
        .filter(revision__example__current=F("revision"))
        .exclude(rationale="")
        .exclude(revision__example=revision.example_id)
        .exclude(revision__in=asked.order_by().values("revision"))
        .select_related("revision__example")
        .order_by("-id")[:NEWEST]
    )
    examples: dict[str, SolvedExample] = {}
    for gold in golds:
        name = _first_tool(gold.expectation)
        if name not in examples and (name == "" or name in offered):
            said = snippet(gold.revision.input, MAX_SAID)
            examples[name] = SolvedExample(gold.revision, said, expectation_words(gold.expectation), gold.rationale)
        if len(examples) == MOST:
            break
    return list(examples.values())


def _first_tool(document: Any) -> str:
    """Return the tool of an expectation's first call; "" where there is none."""
    calls = [call for one in Expectation.from_document(document).alternatives for call in one.calls]
    return str(calls[0].tool) if calls else ""
