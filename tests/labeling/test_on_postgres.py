"""The same behaviour on PostgreSQL: imports publish by SQL of their own, claims and labels lock rows."""

from __future__ import annotations

import os
import subprocess
import sys
from uuid import uuid4

import pytest

from tests.workspace.installation import ROOT

BEHAVIOUR = [
    "tests/labeling/test_imports.py",
    "tests/labeling/test_exports.py",
    "tests/labeling/test_claims.py",
    "tests/labeling/test_labels.py",
    "tests/labeling/test_adjudication.py",
    "tests/registry/test_tool_lists.py",
]


@pytest.mark.servers
def test_behaviour_is_the_same_on_postgresql(postgres_server):
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "TOOLEVALS_DATA"))
    }
    environment["DATABASE_URL"] = postgres_server.database_create(f"behaviour_{uuid4().hex}")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *BEHAVIOUR],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
