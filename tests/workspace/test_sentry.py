"""An event for Sentry holds nothing that people wrote, and a setting that cannot work is refused by its name."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from scripts.dev.environment import ROOT
from toolevals.settings.environment import sentry_dsn
from toolevals.workspace.monitoring.json_log import log_about
from toolevals.workspace.monitoring.sentry import event_stripped

HUSH = "hush: what a person wrote"


def test_nothing_but_the_named_fields_leaves():
    frame = {"filename": "a.py", "function": "f", "lineno": 3, "vars": {HUSH: HUSH}, "context_line": HUSH}
    error = {"type": "ValueError", "module": "m", "value": HUSH, "mechanism": {"data": HUSH}}
    event = {
        "event_id": "1",
        "level": "error",
        "logger": "toolevals",
        "message": HUSH,
        "logentry": {"message": "Batch %s failed.", "params": [HUSH], "formatted": HUSH},
        "exception": {"values": [error | {"stacktrace": {"frames": [frame], "registers": HUSH}}]},
        **{name: {HUSH: HUSH} for name in ("request", "user", "extra", "contexts", "breadcrumbs", "tags", "modules")},
    }
    record = logging.LogRecord("toolevals", logging.ERROR, "a.py", 3, "Batch %s failed.", (HUSH,), None)
    with log_about(job_id="7"):
        stripped = event_stripped(event, {"log_record": record, "exc_info": (ValueError, ValueError(HUSH), None)})
    assert "hush" not in json.dumps(stripped)
    assert stripped == {
        "event_id": "1",
        "level": "error",
        "logger": "toolevals",
        "logentry": {"message": "Batch %s failed."},
        "transaction": "toolevals",
        "tags": {"job_id": "7"},
        "exception": {
            "values": [
                {
                    "type": "ValueError",
                    "module": "m",
                    "stacktrace": {"frames": [{"filename": "a.py", "function": "f", "lineno": 3}]},
                }
            ]
        },
    }


def test_a_message_that_is_no_template_is_left_out():
    trouble = (ValueError, ValueError(HUSH), None)
    for said in (HUSH, ValueError(HUSH)):
        record = logging.LogRecord("other", logging.ERROR, "a.py", 3, said, None, trouble)
        assert "hush" not in json.dumps(event_stripped({"level": "error"}, {"log_record": record}))


def test_without_the_package_the_setting_is_refused_by_name(monkeypatch):
    monkeypatch.setattr(sys.modules[sentry_dsn.__module__], "find_spec", lambda _: None)
    with pytest.raises(ImproperlyConfigured, match=r"TOOLEVALS_SENTRY_DSN is set.*toolevals\[sentry\]"):
        sentry_dsn("https://key@sentry.example.org/1")
    assert sentry_dsn("") == ""


@pytest.mark.parametrize("given", ["hush", "https://sentry.example.org/1", "ftp://hush@sentry.example.org/1"])
def test_an_address_that_is_none_ends_the_start_without_telling_the_key(given):
    done = start({"TOOLEVALS_SENTRY_DSN": given})
    assert done.returncode != 0
    assert "TOOLEVALS_SENTRY_DSN is no address" in done.stderr
    assert "hush" not in done.stderr


def start(given: dict[str, str]) -> Any:
    """Load the application in a process of its own."""
    command = [sys.executable, "-c", "import django; django.setup()"]
    here = os.environ | {"DJANGO_SETTINGS_MODULE": "toolevals.settings"} | given
    return subprocess.run(command, env=here, capture_output=True, text=True, check=False, cwd=ROOT)
