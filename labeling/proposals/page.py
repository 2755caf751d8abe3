"""Show drafts on a page: the changed words of the user, and what is then expected of the parameter."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from labeling.coverage.expected import calls_of
from labeling.expectations.wording import matcher_words
from labeling.models import ProposedExample
from labeling.proposals.origins import last_words
from toolevals.grading.edge_cases import EDGE_CASE_SENTENCES, EdgeCase

_TOKEN = re.compile(r"\s+|[^\s]+")


@dataclass(frozen=True, slots=True)
class Piece:
    """Some words: `same`, `new` or `gone`."""

    state: str
    text: str


@dataclass(frozen=True, slots=True)
class ProposalRow:
    """One draft; `expected` is how the argument is compared and with what, `before` the same in the example's gold."""

    proposal: ProposedExample
    pieces: list[Piece]
    words: str
    expected: str
    before: str
    why: str

    @property
    def kind(self) -> str:
        """The kind in words."""
        return self.proposal.kind.replace("_", " ")


def proposal_rows(proposals: Iterable[ProposedExample]) -> list[ProposalRow]:
    """Return the rows of proposals that were read with their origin's gold."""
    return [_row(proposal) for proposal in proposals]


def _row(proposal: ProposedExample) -> ProposalRow:
    words = last_words(proposal.input)
    gold = proposal.origin.gold
    return ProposalRow(
        proposal=proposal,
        pieces=word_pieces(last_words(proposal.origin.input), words),
        words=words,
        expected=_argument(proposal.expectation, proposal),
        before=_argument(gold.expectation if gold else None, proposal),
        why=EDGE_CASE_SENTENCES[EdgeCase(proposal.kind)],
    )


def word_pieces(before: str, after: str) -> list[Piece]:
    """Return the words of both texts, in order, with what is new and what is gone."""
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    pieces: list[Piece] = []
    for tag, start, end, low, high in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            pieces.append(Piece("same", "".join(old[start:end])))
            continue
        pieces += [Piece("gone", "".join(old[start:end]))] if end > start else []
        pieces += [Piece("new", "".join(new[low:high]))] if high > low else []
    return pieces


def _argument(expectation: dict[str, object] | None, proposal: ProposedExample) -> str:
    name = proposal.parameter.split("/")[1].replace("~1", "/").replace("~0", "~")
    for call in calls_of(expectation or {}):
        if call.get("tool") == proposal.tool and name in (call.get("arguments") or {}):
            return " ".join(part for part in matcher_words(call["arguments"][name]) if part)
    return ""
