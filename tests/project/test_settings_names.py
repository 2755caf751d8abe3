"""Settings are environment variables with one prefix; the names from before it still work, with a warning."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from toolevals.settings.environment import CONVENTIONAL, OLD_NAMES, PREFIX, environment, old_names_in
from toolevals.workspace.apps import names_of_settings

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "toolevals" / "settings"
READ = re.compile(r"""env\.\w+\(\s*["'](\w+)["']""")


def test_a_setting_is_read_by_its_name_with_the_prefix():
    env = environment({"TOOLEVALS_UPLOAD_MAX_BYTES": "5", "UPLOAD_MAX_BYTES": "4"})
    assert env.int("UPLOAD_MAX_BYTES", 1) == 5
    assert environment({}).int("UPLOAD_MAX_BYTES", 1) == 1


@pytest.mark.parametrize("name", OLD_NAMES + CONVENTIONAL)
def test_a_name_from_before_the_prefix_is_still_read(name):
    assert environment({name: "7"}).str(name, "") == "7"


def test_what_nobody_ever_read_without_the_prefix_is_not_read_so():
    assert environment({"DEBUG": "true", "DATA_DIR": "/x"}).str("DEBUG", "") == ""


def test_old_names_are_told_and_only_those(monkeypatch):
    assert old_names_in({"WHO_INVITES": "", "DATABASE_URL": "", "TZ_NAME": "", "TOOLEVALS_TZ_NAME": ""}) == [
        "WHO_INVITES"
    ]
    for name in OLD_NAMES:
        monkeypatch.delenv(name, raising=False)
    assert names_of_settings() == []
    monkeypatch.setenv("LOG_LEVEL", "INFO")
    (said,) = names_of_settings()
    assert said.msg == "LOG_LEVEL is read, but is called TOOLEVALS_LOG_LEVEL now."


def test_every_setting_is_described_under_its_name():
    read = {name for file in FOLDER.glob("*.py") for name in READ.findall(file.read_text(encoding="utf-8"))}
    words = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
    assert read >= {*CONVENTIONAL, *OLD_NAMES}
    assert [name for name in sorted(read) if f"`{PREFIX}{name}`" not in words] == []
