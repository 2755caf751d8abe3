"""The settings of an application whose worker knows the tests' task, which can kill it."""

from __future__ import annotations

from toolevals.settings import *  # noqa: F403

CELERY_IMPORTS = ["tests.workspace.tasks"]
