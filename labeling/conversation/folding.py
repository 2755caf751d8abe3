"""Leave out of a page what of a long conversation is not looked at: it is drawn when it is opened."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from labeling.conversation.lines import Line
from labeling.conversation.picks import Segment
from labeling.conversation.turns import Block, CallBlock, Conversation, DataBlock, TextBlock, Turn

# So many pieces of text are drawn with the page, counted from the end; a value to pick is one.
MOST_PIECES = 1000
# The rest of a long text or value is drawn with its beginning while it has no more than this.
MOST_IN_REST = 200
# The last turns are always drawn.
LAST = 2


def folded(conversation: Conversation) -> Conversation:
    """Return a conversation whose earlier turns, and long rests, are marked as left out where it is a long one."""
    for turn in conversation.turns:
        turn.blocks = [_cut(block) for block in turn.blocks]
    drawn = 0
    for number, turn in enumerate(reversed(conversation.turns)):
        drawn += sum(map(_pieces, turn.blocks))
        is_beside = any(isinstance(block, DataBlock) and block.fold for block in turn.blocks)
        turn.is_folded = drawn > MOST_PIECES and number >= LAST and not turn.is_now and not is_beside
    return conversation


def gist(turn: Turn) -> str:
    """Return what a turn says or does, for one line."""
    words = (_words(block) for block in turn.blocks)
    return " · ".join(said for said in words if said)


def _words(block: Block) -> str:
    if isinstance(block, TextBlock):
        return " ".join("".join(part.text for part in block.parts[:40])[:200].split())
    if isinstance(block, CallBlock):
        return f"{block.name} {block.first[0]} {block.first[1]}" if block.first else block.name
    return block.title


def _cut(block: Block) -> Block:
    if isinstance(block, CallBlock):
        if block.result is not None and _of_lines(block.result.rest) > MOST_IN_REST:
            block.result = replace(block.result, is_cut=True)
        return block
    long = len(block.rest) if isinstance(block, TextBlock) else _of_lines(block.rest)
    return replace(block, is_cut=True) if long > MOST_IN_REST else block


def _pieces(block: Block) -> int:
    if isinstance(block, TextBlock):
        return len(block.parts) + (0 if block.is_cut else len(block.rest))
    if isinstance(block, CallBlock):
        return _of_lines(block.lines) + (_pieces(block.result) if block.result is not None else 0)
    return _of_lines(block.shown if block.is_cut else block.lines)


def _of_lines(some: Iterable[Line]) -> int:
    return sum(1 + len(line.parts) for line in some)


def rest_of(turn: Turn, block: int) -> tuple[tuple[Segment, ...], tuple[Line, ...]] | None:
    """Return the rest of a block of a turn, as parts of a text or as lines of a value; None where there is none."""
    found = turn.blocks[block] if block < len(turn.blocks) else None
    if isinstance(found, CallBlock):
        found = found.result
    if found is None or not found.rest:
        return None
    return (found.rest, ()) if isinstance(found, TextBlock) else ((), found.rest)
