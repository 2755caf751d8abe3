"""The command as a whole: its verbs, its statuses, its documentation."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolevals.cli import main as command
from toolevals.cli.exits import Exit

DOCS = Path(__file__).parents[2] / "docs" / "command-line.md"


@pytest.mark.parametrize("verb", command.VERBS)
def test_every_verb_is_documented_and_shows_help(verb, capsys):
    assert f"### `{verb}`" in DOCS.read_text()
    assert command.main([verb, "--help"]) == Exit.OK
    assert "usage: toolevals" in capsys.readouterr().out


def test_every_status_is_documented():
    text = DOCS.read_text()
    assert all(f"| {status.value} |" in text for status in Exit)


def test_a_verb_that_is_none_is_a_wrong_option(capsys):
    assert command.main(["juggle"]) == Exit.CONFIGURATION
    assert "juggle" in capsys.readouterr().err


def test_without_a_token_the_sentence_says_where_to_get_one(monkeypatch, capsys):
    monkeypatch.delenv("TOOLEVALS_TOKEN", raising=False)
    assert command.main(["export", "core", "--project", "shop"]) == Exit.CONFIGURATION
    assert "Tokens page" in capsys.readouterr().err


def test_a_server_that_is_not_there_cannot_be_reached(monkeypatch, capsys):
    monkeypatch.setenv("TOOLEVALS_TOKEN", "te_any")
    status = command.main(["export", "core", "--project", "shop", "--server", "http://127.0.0.1:9"])
    assert status == Exit.UNREACHABLE
    assert "127.0.0.1:9" in capsys.readouterr().err
