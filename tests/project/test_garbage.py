"""How often the processes of the server search for garbage in cycles."""

from __future__ import annotations

import gc

import pytest

from toolevals.celery import garbage_seldom
from toolevals.garbage import OBJECTS_BETWEEN_SEARCHES


@pytest.fixture
def own_ways():
    before = gc.get_threshold()
    yield before
    gc.set_threshold(*before)
    gc.unfreeze()


def test_a_process_at_work_searches_seldom_and_never_in_what_it_has_loaded(own_ways):
    garbage_seldom()

    assert gc.isenabled()
    assert gc.get_threshold()[0] == OBJECTS_BETWEEN_SEARCHES > own_ways[0]
    assert gc.get_freeze_count() > 10_000
