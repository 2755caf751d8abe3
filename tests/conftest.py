"""Fixtures that every test may use: see the modules in tests/fixtures."""

from __future__ import annotations

pytest_plugins = [
    "tests.fixtures.marks",
    "tests.fixtures.servers",
    "tests.fixtures.browser",
    "tests.fixtures.application",
    "tests.fixtures.jobs",
    "tests.fixtures.people",
    "tests.fixtures.sandbox",
]
