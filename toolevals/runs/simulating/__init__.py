"""Turn a stored simulator into one that answers."""

from toolevals.runs.simulating.contents import answered_tools, content_keyed, content_read, may_be_asked
from toolevals.runs.simulating.effects import effects_of
from toolevals.runs.simulating.opening import simulator_of, simulator_opened

__all__ = [
    "answered_tools",
    "content_keyed",
    "content_read",
    "effects_of",
    "may_be_asked",
    "simulator_of",
    "simulator_opened",
]
