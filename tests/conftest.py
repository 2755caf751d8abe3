"""Fixtures that every test may use: see the modules in tests/fixtures."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# Laws are checked without a clock: how long one draw takes says nothing on a busy machine.
settings.register_profile("laws", deadline=None, max_examples=80, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("laws")

pytest_plugins = [
    "tests.fixtures.marks",
    "tests.fixtures.servers",
    "tests.fixtures.browser",
    "tests.fixtures.application",
    "tests.fixtures.jobs",
    "tests.fixtures.people",
    "tests.fixtures.sandbox",
]
