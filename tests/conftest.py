"""Fixtures that every test may use: see the modules in tests/fixtures."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

# Laws are checked without a clock: how long one draw takes says nothing on a busy machine. They are checked on the same
# draws every time, so that a run says something of the change before it; LAWS_AT_RANDOM=1 looks for new ones.
# LAWS_DRAWS is another number of draws: ./dev check takes few.
settings.register_profile(
    "laws",
    deadline=None,
    max_examples=int(os.environ.get("LAWS_DRAWS", "80")),
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=not os.environ.get("LAWS_AT_RANDOM"),
    database=None,
)
settings.load_profile("laws")
# Hypothesis draws constants out of the sources of all modules that are loaded. Which are depends on the tests before in
# the same process, and so would the draws. Who looks for new ones takes them.
if not os.environ.get("LAWS_AT_RANDOM"):
    providers._get_local_constants = lambda: providers._local_constants

pytest_plugins = [
    "tests.fixtures.compiled",
    "tests.fixtures.emptied",
    "tests.fixtures.frames",
    "tests.fixtures.garbage",
    "tests.fixtures.marks",
    "tests.fixtures.migrated",
    "tests.fixtures.order",
    "tests.fixtures.planner",
    "tests.fixtures.rendered",
    "tests.fixtures.servers",
    "tests.fixtures.browser",
    "tests.fixtures.application",
    "tests.fixtures.jobs",
    "tests.fixtures.people",
    "tests.fixtures.sandbox",
    "tests.fixtures.outgoing",
]
