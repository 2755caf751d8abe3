"""The rules that take tests from one of the two databases: each takes some, and none of those that stay on both."""

from __future__ import annotations

import subprocess
import sys

import pytest

from scripts.dev.environment import ROOT
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


def test_every_rule_takes_tests_and_is_no_shadow_of_another():
    files = {pattern.partition("::")[0] for rule in RULES for pattern in rule.tests}
    paths = [str(path) for pattern in sorted(files) for path in sorted(ROOT.glob(pattern))]
    command = ["-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "-m", "only_sqlite or only_postgresql"]
    done = subprocess.run([sys.executable, *command, *paths], cwd=ROOT, capture_output=True, text=True, check=False)
    nodes = [line for line in done.stdout.splitlines() if "::" in line]
    taken = {pattern: [node for node in nodes if rule.one(pattern, node)] for rule in RULES for pattern in rule.tests}
    assert [pattern for pattern, found in taken.items() if not found] == [], done.stdout[-2000:]
    assert {rule_of(node) for node in nodes} == set(RULES)


@pytest.mark.parametrize("file", ON_BOTH)
def test_what_differs_between_databases_runs_on_both(file):
    assert (ROOT / file).exists()
    assert rule_of(f"{file}::test_anything") is None


def test_every_rule_says_why():
    assert [rule for rule in RULES if len(rule.why.split()) < 8] == []
