"""Test how often the processes of the server search for garbage in cycles."""

from __future__ import annotations

import gc
import os
import subprocess
import sys

import pytest

from scripts.dev.environment import ROOT
from toolevals.celery import garbage_seldom
from toolevals.garbage import OBJECTS_BETWEEN_SEARCHES, search_seldom_in_copy, searched_seldom

PYTHONS = (700, 10, 10)


@pytest.fixture
def own_ways():
    """The collector as Python begins with it; what the tests have set aside is set aside again."""
    before = gc.get_threshold()
    gc.set_threshold(*PYTHONS)
    gc.unfreeze()
    yield PYTHONS
    gc.set_threshold(*before)
    gc.freeze()


def test_a_process_at_work_searches_seldom_and_never_in_what_it_has_loaded(own_ways):
    garbage_seldom()

    assert gc.isenabled()
    assert gc.get_threshold()[0] == OBJECTS_BETWEEN_SEARCHES > own_ways[0]
    assert gc.get_freeze_count() > 10_000


def test_a_copy_of_a_process_never_searches_in_what_was_copied(own_ways):
    searches: list[str] = []

    def note(phase: str, _: object) -> None:
        searches.append(phase)

    gc.callbacks.append(note)
    gc.disable()
    try:
        search_seldom_in_copy()
        set_aside = gc.get_freeze_count()
    finally:
        gc.enable()
        gc.callbacks.remove(note)

    assert searches == []
    assert gc.get_threshold()[0] == OBJECTS_BETWEEN_SEARCHES
    assert set_aside > 10_000


def test_a_batch_of_work_leaves_the_process_as_it_was(own_ways):
    with searched_seldom():
        assert gc.get_threshold()[0] == OBJECTS_BETWEEN_SEARCHES

    assert gc.get_threshold() == own_ways


LOADED = """
import atexit, gc
atexit.register(lambda: print(gc.get_threshold(), gc.get_freeze_count()))
import django
django.setup()
"""


def test_a_process_of_the_server_searches_seldom_while_it_loads_and_never_while_it_ends(tmp_path):
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "toolevals.settings", "TOOLEVALS_DATA_DIR": str(tmp_path)}
    command = [sys.executable, "-c", LOADED]
    said = subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True).stdout

    threshold, _, set_aside = said.rpartition(" ")
    assert threshold == f"({OBJECTS_BETWEEN_SEARCHES}, 20, 20)"
    assert int(set_aside) > 10_000
