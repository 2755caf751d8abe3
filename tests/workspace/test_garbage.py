"""How often a worker's process searches for garbage in cycles."""

from __future__ import annotations

import gc

import pytest

from toolevals.celery import OBJECTS_BETWEEN_SEARCHES, garbage_seldom


@pytest.fixture
def own_ways():
    before = gc.get_threshold()
    yield before
    gc.set_threshold(*before)
    gc.unfreeze()


def test_a_worker_searches_seldom_and_never_in_what_it_has_loaded(own_ways):
    garbage_seldom()

    assert gc.isenabled()
    assert gc.get_threshold()[0] == OBJECTS_BETWEEN_SEARCHES > own_ways[0]
    assert gc.get_freeze_count() > 10_000
