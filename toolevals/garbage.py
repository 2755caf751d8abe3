"""Sets how often a process searches for garbage in cycles."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager

# New objects between two searches; Python's own is 700. A batch of work makes many that live to its end.
OBJECTS_BETWEEN_SEARCHES = 50_000


def search_seldom() -> None:
    """Search rarely from now on, and never in what is loaded.

    Python's own way takes a third of a grading's time, and holds up a page now and then for a tenth of a second.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(OBJECTS_BETWEEN_SEARCHES, 20, 20)


def search_seldom_in_copy() -> None:
    """Search rarely in a copy of a process, and never in what was copied: a search would copy all of it once more."""
    gc.freeze()
    gc.set_threshold(OBJECTS_BETWEEN_SEARCHES, 20, 20)


def search_seldom_around_work() -> None:
    """Search rarely while the application loads, and never in what is loaded when the process ends.

    Python's own way takes a third of the time in which a process of the server starts and ends.
    """
    gc.set_threshold(OBJECTS_BETWEEN_SEARCHES, 20, 20)
    atexit.register(gc.freeze)


@contextmanager
def searched_seldom() -> Iterator[None]:
    """Search rarely for as long as a batch of work takes."""
    before = gc.get_threshold()
    gc.set_threshold(OBJECTS_BETWEEN_SEARCHES, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*before)
