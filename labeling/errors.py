"""What goes wrong in labelling though every value is well formed."""

from __future__ import annotations


class InvalidAct(Exception):  # noqa: N818 - nothing is broken: somebody else was faster, or the time has passed
    """The act does not fit the state of things.

    The slot is another's, the example is resolved, one's own label is in the way: the message is a sentence for the
    person who tried.
    """
