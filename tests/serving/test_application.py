"""Processes of the application that end at once."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from toolevals.serving.application import Application, CannotServeError


def test_one_that_does_not_load_is_said(tmp_path: Path) -> None:
    application = Application(python="/bin/false", data=tmp_path)
    with pytest.raises(CannotServeError, match="The web server ended at once"):
        application.web_start()
    application.stop()


def test_one_that_ends_again_has_ended_still(tmp_path: Path) -> None:
    application = Application(python="/bin/false", data=tmp_path)
    application.processes = {"worker": subprocess.Popen(["/bin/false"], start_new_session=True)}
    before = application.processes["worker"]
    before.wait()
    application.restart("worker")
    assert application.processes["worker"] is not before
    application.processes["worker"].wait()
    assert application.ended() == ["worker"]
    application.stop()
