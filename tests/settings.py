"""The product's settings, with a data folder of their own and nothing that only costs time in tests."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

# Before the product's settings are read; each process of a parallel test run makes its own.
os.environ["TOOLEVALS_DATA_DIR"] = tempfile.mkdtemp(prefix="toolevals-tests-")
atexit.register(shutil.rmtree, os.environ["TOOLEVALS_DATA_DIR"], ignore_errors=True)

from toolevals.settings import *  # noqa: E402, F403
from toolevals.settings import CELERY_BROKER_TRANSPORT_OPTIONS, DATA_DIR, DATABASES, REDIS_URL, STORAGES  # noqa: E402

# Queues of this process alone: another test process, or an application beside the tests, may be on the same Redis.
if REDIS_URL:
    CELERY_BROKER_TRANSPORT_OPTIONS["global_keyprefix"] = f"{DATA_DIR.name}:"

# A file and not memory: threads and processes meet in it as they do in an installation.
DATABASES["default"].setdefault("TEST", {})
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATABASES["default"]["TEST"]["NAME"] = str(DATA_DIR / "tests.sqlite3")
STORAGES = STORAGES | {"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
WHITENOISE_AUTOREFRESH = True
