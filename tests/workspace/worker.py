"""The Celery app of the tests' real workers: the product's, with the test task added."""

from __future__ import annotations

import django

from toolevals.celery import app

__all__ = ["app"]
django.setup()

import tests.workspace.tasks  # noqa: E402, F401 - it registers its task, and needs Django
