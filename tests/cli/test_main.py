"""The command as a whole: its verbs, its statuses, its documentation."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from toolevals.cli import main as command
from toolevals.cli.output import Exit
from toolevals.cli.verbs import VERBS

FENCED = re.MULTILINE | re.DOTALL
DOCS = Path(__file__).parents[2] / "docs" / "command-line.md"


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_is_documented_and_shows_help(verb, capsys):
    assert re.search(rf"^### .*`{verb}`", DOCS.read_text(), re.MULTILINE)
    assert command.main([verb, "--help"]) == Exit.OK
    assert "usage: toolevals" in capsys.readouterr().out


def test_a_verb_under_its_old_name_still_works_and_says_the_new_one(capsys):
    assert command.main(["again", "--help"]) == Exit.OK
    heard = capsys.readouterr()
    assert "usage: toolevals retry" in heard.out
    assert "`again` has been renamed to `retry`" in heard.err


def test_every_status_is_documented():
    text = DOCS.read_text()
    assert all(f"| {status.value} |" in text for status in Exit)


def test_a_verb_that_is_none_is_a_wrong_option(capsys):
    assert command.main(["juggle"]) == Exit.CONFIGURATION
    assert "juggle" in capsys.readouterr().err


def test_every_command_line_in_the_documents_is_taken(capsys):
    """The options are read; nothing is run."""
    documents = [DOCS.parents[1] / "README.md", *DOCS.parent.rglob("*.md")]
    blocks = [block for each in documents for block in re.findall(r"^```\w*\n(.*?)^```", each.read_text(), FENCED)]
    blocks += [each.read_text() for each in DOCS.parent.rglob("*.yml")]
    begins = r"^(?:uvx --from \. |source <\(|    - |        run: | +)?(toolevals .*)"
    lines = [line for block in blocks for line in re.findall(begins, block, re.MULTILINE)]
    assert len(lines) > 60
    refused = []
    for line in lines:
        words = shlex.split(re.split(r" [<>|]|\)$", re.sub(r'"\$\w+"', "1", line))[0], comments=True)[1:]
        if words[0] == "import" and Path(words[1]).suffix:
            words.insert(1, "auto")  # as where the file is there
        with contextlib.suppress(SystemExit):
            command.parser().parse_args(words)
            continue
        refused += [line] if capsys.readouterr().err else []
    assert refused == []


def test_the_version_is_said(capsys):
    assert command.main(["--version"]) == Exit.OK
    assert capsys.readouterr().out.startswith("toolevals 0.1.0 from ")


def test_asking_for_help_loads_no_verb():
    """Loading them all took half a second of processor time."""
    code = "import sys; from toolevals.cli.main import main; main(['--help']); sys.exit('|'.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False).stderr
    ours = {
        name
        for name in loaded.strip().split("|")
        if name.startswith(("toolevals.", "urllib.request", "jsonschema", "yaml"))
    }
    own = {f"toolevals.cli{part}" for part in ("", ".main", ".output", ".verbs")} | {"toolevals.server_errors"}
    assert ours == own


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["gr"], ["grade"]),
        (["import", "openai-ch"], ["openai-chat"]),
        (["run", "core", "--connector", ""], ["openai", "anthropic", "webhook"]),
        (["run", "core", "--connector", "openai", "--cut"], ["--cut-off"]),
        (["grade", "--format", "t"], ["table"]),
        (["run", "core", "--name", ""], []),
    ],
)
def test_a_word_is_completed(words, found, capsys):
    assert command.main(["completion", "words", "--", *words]) == Exit.OK
    assert capsys.readouterr().out.split() == found


def test_bash_completes_by_the_script(tmp_path):
    file = tmp_path / "toolevals"
    file.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m toolevals.cli.main "$@"\n')
    file.chmod(0o755)
    typed = "COMP_WORDS=(toolevals grade --di); COMP_CWORD=2"
    script = f'source <(toolevals completion bash); {typed}; _toolevals; echo "${{COMPREPLY[@]}}"'
    environment = {"PATH": f"{tmp_path}:{os.defpath}", "PYTHONPATH": str(DOCS.parents[1])}
    done = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("--dialect\n", "")


def test_without_a_token_the_sentence_says_where_to_get_one(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("TOOLEVALS_TOKEN", raising=False)
    assert command.main(["export", "core", "--project", "shop"]) == Exit.CONFIGURATION
    assert "Tokens page" in capsys.readouterr().err


def test_a_server_that_is_not_there_cannot_be_reached(monkeypatch, capsys):
    monkeypatch.setenv("TOOLEVALS_TOKEN", "te_any")
    status = command.main(["export", "core", "--project", "shop", "--server", "http://127.0.0.1:9"])
    assert status == Exit.UNREACHABLE
    said = capsys.readouterr().err
    assert "http://127.0.0.1:9" in said
    assert "/api/" not in said
