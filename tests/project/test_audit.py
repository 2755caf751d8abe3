"""`./dev audit`."""

from __future__ import annotations

import argparse
import subprocess

import pytest

from scripts.dev import audit
from scripts.dev.environment import REQUIREMENTS


@pytest.mark.parametrize("status", [0, 1])
def test_all_locked_packages_are_asked_about_and_a_gap_fails(monkeypatch, capsys, status):
    asked: list[list[str]] = []

    def run(words, **_):
        asked.append(words)
        return subprocess.CompletedProcess(words, status)

    monkeypatch.setattr(audit, "ensure", lambda _: None)
    monkeypatch.setattr(subprocess, "run", run)
    assert audit.audit(argparse.Namespace()) == status
    ((*words,),) = asked
    # Without it, what the service does not know counts as sound.
    assert "--strict" in words
    assert {word for word in words if word.endswith(".txt")} == {str(file) for file in REQUIREMENTS.glob("*.txt")}
    assert ("could not be looked up" in capsys.readouterr().out) is bool(status)
