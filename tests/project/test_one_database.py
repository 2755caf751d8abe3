"""The rules that take tests from one of the two databases: each takes some, and none of those that stay on both."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable

import pytest

from scripts.dev.environment import ROOT
from tests.fixtures.marks import DATABASE_TESTS
from tests.fixtures.one_database import RULES, rule_of

# Killing, locking, races, uniqueness and migrations are other on each database.
ON_BOTH = (
    "tests/project/test_migrations.py",
    "tests/labeling/test_claims.py",
    "tests/labeling/test_concurrency.py",
    "tests/runs/test_killed.py",
    "tests/workspace/test_idempotency.py",
    "tests/workspace/test_interleavings.py",
    "tests/workspace/test_leases.py",
    "tests/workspace/test_sweeper.py",
)


def files(patterns: Iterable[str]) -> list[str]:
    """Return the files of some patterns."""
    whole = {pattern.partition("::")[0] for pattern in patterns}
    return sorted({str(path.relative_to(ROOT)) for pattern in whole for path in ROOT.glob(pattern)})


def collected(paths: list[str]) -> list[str]:
    """Return the ids of the tests of some files that touch the database."""
    command = ["-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "-m", "database"]
    done = subprocess.run([sys.executable, *command, *paths], cwd=ROOT, capture_output=True, text=True, check=False)
    nodes = [line for line in done.stdout.splitlines() if "::" in line]
    assert nodes, done.stdout[-2000:]
    return nodes


@pytest.fixture(scope="module")
def nodes(request: pytest.FixtureRequest) -> list[str]:
    """The ids of the tests that a rule takes from one of the databases, and of the others of their files."""
    paths = files(pattern for rule in RULES for pattern in rule.tests)
    if [(ROOT / argument).resolve() for argument in request.config.args] != [ROOT / "tests"]:
        return collected(paths)
    # Everything was collected already, these tests among it.
    return [node for node in request.config.stash[DATABASE_TESTS] if node.partition("::")[0] in paths]


@pytest.fixture
def taken_nodes(nodes: list[str]) -> list[str]:
    """The ids of the tests that a rule takes."""
    return [node for node in nodes if rule_of(node)]


def test_what_a_rule_takes_has_the_mark_of_the_one_database(request: pytest.FixtureRequest):
    for item in request.session.items:
        rule = rule_of(item.nodeid) if item.get_closest_marker("database") else None
        marks = {mark.name for mark in item.iter_markers()} & {"only_sqlite", "only_postgresql"}
        assert marks == ({f"only_{rule.only}"} if rule else set()), item.nodeid


def test_every_rule_takes_tests_and_is_no_shadow_of_another(taken_nodes):
    patterns = [(rule, pattern) for rule in RULES for pattern in rule.tests]
    assert [pattern for rule, pattern in patterns if not any(rule.one(pattern, node) for node in taken_nodes)] == []
    assert {rule_of(node) for node in taken_nodes} == set(RULES)


def test_what_a_rule_leaves_on_both_is_there_and_would_be_taken(nodes):
    """A pattern that leaves no test to both databases says something that is not so."""
    left = [node for node in nodes if not rule_of(node)]
    for rule in RULES:
        mine = [node for node in left if any(rule.one(pattern, node) for pattern in rule.tests)]
        assert [pattern for pattern in rule.but if not any(rule.one(pattern, node) for node in mine)] == []


def test_no_rule_takes_what_dies_or_races_from_postgresql(taken_nodes):
    words = re.compile("kill|_dies_|at_the_same_moment")
    deadly = [node for node in taken_nodes if words.search(node.rpartition("::")[2])]
    assert [node for node in deadly if any(rule.only == "sqlite" and rule.matches(node) for rule in RULES)] == []


@pytest.mark.parametrize("file", ON_BOTH)
def test_what_differs_between_databases_runs_on_both(file):
    assert (ROOT / file).exists()
    assert rule_of(f"{file}::test_anything") is None


def test_every_rule_says_why():
    assert [rule for rule in RULES if len(rule.why.split()) < 8] == []
