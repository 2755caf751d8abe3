"""Facts that `./dev run` remembers of a data folder."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from toolevals.cli.serve import say_logins
from toolevals.serving.application import Application
from toolevals.serving.preparation import NAME, Preparation

LOGINS = json.dumps([{"email": "otto@shop.example", "password": "abcd-efgh-2345", "role": "owner", "does": "owns"}])


def test_the_samples_password_is_for_the_owners_eyes_alone(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text("{}")
    (tmp_path / NAME).chmod(0o644)
    kept = Preparation("tables", "static", LOGINS)
    kept.keep(tmp_path)
    assert stat.S_IMODE((tmp_path / NAME).stat().st_mode) == 0o600
    assert Preparation.of(tmp_path) == kept
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


def test_a_later_start_prints_the_logins_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("tables_state", "static_state"):
        monkeypatch.setattr(f"toolevals.serving.application.{name}", lambda: "same")
    Preparation("same", "same", LOGINS).keep(tmp_path)
    (tmp_path / "toolevals.sqlite3").touch()
    application = Application(python="/nowhere/python", data=tmp_path)
    application.environment.pop("DATABASE_URL", None)
    say_logins(json.loads(application.prepare(sample=True)))
    assert "otto@shop.example     abcd-efgh-2345" in capsys.readouterr().out
