"""Fixtures that every test may use."""

from __future__ import annotations

import os
import tempfile

# Before Django's settings are read: tests keep their files in a folder of their own.
os.environ.setdefault("TOOLEVALS_DATA_DIR", tempfile.mkdtemp(prefix="toolevals-tests-"))
