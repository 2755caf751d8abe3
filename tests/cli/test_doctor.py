"""Test what `toolevals doctor` says of the sandbox."""

from __future__ import annotations

import pytest

from toolevals.cli.main import main


def sandbox_line(capsys: pytest.CaptureFixture[str]) -> str:
    main(["doctor"])
    return next(line for line in capsys.readouterr().out.splitlines() if "sandbox" in line.partition(":")[0])


@pytest.mark.django_db
@pytest.mark.usefixtures("sandbox")
def test_a_sandbox_that_works_is_said_to(capsys):
    assert sandbox_line(capsys) == "ok    sandbox: code of simulators runs in bubblewrap"


@pytest.mark.django_db
def test_without_one_the_rest_works(capsys, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    line = sandbox_line(capsys)
    assert line.startswith("ok    sandbox: bubblewrap is not installed")
    assert "only if you declare it trusted" in line
