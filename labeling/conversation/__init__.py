"""Read an example's input for people: turns, calls with their results, and the values worth picking."""

from labeling.conversation.picks import Picks, Segment
from labeling.conversation.turns import (
    CONTEXT,
    CallBlock,
    Conversation,
    DataBlock,
    TextBlock,
    Turn,
    read_conversation,
)

__all__ = [
    "CONTEXT",
    "CallBlock",
    "Conversation",
    "DataBlock",
    "Picks",
    "Segment",
    "TextBlock",
    "Turn",
    "read_conversation",
]
