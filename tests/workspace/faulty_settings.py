"""The product's settings for a server that dies where a test says: see `tests.workspace.faults`."""

from __future__ import annotations

from toolevals.settings import *  # noqa: F403
from toolevals.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.workspace.faults.FaultsConfig"]
