"""`toolevals gate --github` against a forge on this machine: one comment, a status and the step's summary."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from scripts.dev.environment import ROOT
from tests.cli.forge import COMMIT, PULL_REQUEST, TOKEN, running_forge
from tests.cli.test_gate import RIGHT, WRONG, example
from toolevals.cli.forges import GitHub
from toolevals.cli.main import main
from toolevals.cli.output import Exit

NOW: tuple[int, dict[str, str], bool] = (503, {"Retry-After": "0"}, False)
LATER: tuple[int, dict[str, str], bool] = (502, {"Retry-After": "9999"}, False)
FORBIDDEN: tuple[int, dict[str, str], bool] = (403, {}, False)
MARK = "<!-- toolevals gate gate -->\n"
COMMENTS = f"/issues/{PULL_REQUEST}/comments"


@pytest.fixture
def forge(tmp_path, monkeypatch):
    with running_forge() as found:
        for name, value in found.environment(tmp_path).items():
            monkeypatch.setenv(name, value)
        monkeypatch.delenv("TOOLEVALS_TOKEN", raising=False)
        yield found


@pytest.fixture
def rows(tmp_path):
    def write(name: str, *made: dict[str, Any]) -> str:
        path = tmp_path / f"{name}.jsonl"
        path.write_text("\n".join(json.dumps(example(f"ex-{i}", each)) for i, each in enumerate(made)))
        return str(path)

    return write


def gate(*asked: str) -> int:
    return main(["gate", *asked, "--github"])


def summary() -> str:
    path = Path(os.environ["GITHUB_STEP_SUMMARY"])
    return path.read_text() if path.exists() else ""


def test_a_pull_request_gets_a_comment_a_status_and_a_summary(forge, rows, capsys):
    assert gate(rows("run", *[RIGHT] * 20)) == Exit.OK
    (comment,) = forge.comments
    assert comment["body"].startswith(f"{MARK}### ✅ Gate passed. 3 passed.\n")
    assert "For <code>3f9c2ab</code>. One comment, changed by each push." in comment["body"]
    ((commit, status),) = forge.statuses
    # Not the commit of the merge, which the environment names.
    assert commit == COMMIT
    assert status == {
        "state": "success",
        "context": "toolevals / gate gate",
        "description": "Gate passed. 3 passed.",
        "target_url": "https://forge.example/shop/agent/actions/runs/9",
    }
    assert summary().startswith("### ✅ Gate passed. 3 passed.\n")
    assert capsys.readouterr().err == ""


def test_a_later_push_changes_the_comment_wherever_it_stands(forge, rows):
    for number in range(3):
        forge.add(f"Comment {number}.")
    assert gate(rows("run", *[RIGHT] * 20)) == Exit.OK
    for number in range(4):
        forge.add(f"Later {number}.")
    ours = forge.comments[3]["id"]
    assert gate(rows("run", WRONG)) == Exit.FAILED
    assert [each["id"] for each in forge.comments if "toolevals" in each["body"]] == [ours]
    assert "### ❌" in forge.comments[3]["body"]
    assert [status["state"] for _, status in forge.statuses] == ["success", "failure"]


def test_two_gates_have_a_comment_and_a_status_each(forge, rows, tmp_path):
    config = tmp_path / "release.json"
    config.write_text('{"bounds": [{"metric": "selection", "min": 0.9}]}')
    file = rows("run", RIGHT)
    for asked in ([], ["--config", str(config)], ["--config", str(config), "--as", "a --> b"]) * 2:
        assert gate(file, *asked) == Exit.OK
    marks = [each["body"].partition("\n")[0] for each in forge.comments]
    assert marks == [MARK.strip(), "<!-- toolevals gate release -->", "<!-- toolevals gate a%20--%3E%20b -->"]
    assert [said["context"] for _, said in forge.statuses][:3] == [
        f"toolevals / gate {name}" for name in ("gate", "release", "a --> b")
    ]


def test_what_is_unanswered_is_an_error_and_a_warning_counts_where_it_should(forge, rows, tmp_path):
    assert gate(rows("run", {})) == Exit.FAILED
    config = tmp_path / "warn.json"
    config.write_text('{"bounds": [{"metric": "selection", "min": 0.9, "on_fail": "warn"}]}')
    assert gate(rows("run", WRONG), "--config", str(config)) == Exit.OK
    assert gate(rows("run", WRONG), "--config", str(config), "--strict") == Exit.WARNING
    assert [said["state"] for _, said in forge.statuses] == ["error", "success", "failure"]


def test_two_pushes_at_once_leave_one_comment(forge, rows):
    forge.together = Barrier(2)
    commands = [
        [sys.executable, "-m", "toolevals.cli.main", "gate", rows(name, made), "--github"]
        for name, made in (("one", RIGHT), ("two", WRONG))
    ]
    started = [
        subprocess.Popen(each, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for each in commands
    ]
    said = [each.communicate(timeout=60)[1] for each in started]
    assert said == ["", ""]
    assert [each.returncode for each in started] == [Exit.OK, Exit.FAILED]
    assert sum(each == f"POST /repos/shop/agent{COMMENTS}" for each in forge.asked) == 2
    (comment,) = forge.comments
    assert comment["id"] == 101
    assert comment["body"].startswith(MARK)


def test_a_comment_that_was_made_twice_becomes_one_again(forge, rows):
    """The forge keeps a comment, and says that it does not: it is sent again."""
    forge.first[f"POST {COMMENTS}"] = [(502, {}, True)]
    assert gate(rows("run", RIGHT)) == Exit.OK
    assert [each["id"] for each in forge.comments] == [101]


def test_a_stranger_s_comment_is_never_taken_over(forge, rows):
    stranger = {"user": {"login": "mallory", "type": "User"}, "author_association": "CONTRIBUTOR"}
    theirs = forge.add(f"{MARK}All is well.", **stranger)
    forge.add(f"Look:\n{MARK}")
    assert gate(rows("run", RIGHT)) == Exit.OK
    assert theirs["body"].endswith("All is well.")
    assert len(forge.comments) == 3


@pytest.mark.parametrize(("made", "status"), [(RIGHT, Exit.OK), (WRONG, Exit.FAILED)])
def test_a_fork_s_token_leaves_the_summary_which_says_why(forge, rows, made, status, capsys):
    forge.first = {f"POST {COMMENTS}": [FORBIDDEN], "POST /statuses/": [FORBIDDEN]}
    assert gate(rows("run", made)) == status
    assert (forge.comments, forge.statuses) == ([], [])
    said = capsys.readouterr().err
    for what in ("comment", "status"):
        assert f"--github: The pull request gets no {what}: {forge.url} answered 403 (Resource not acc" in said
        assert f"The pull request gets no {what}&#58;" in summary()
    assert "from a fork never may; else the job needs `permissions: {pull-requests: write, statuses: write}`" in said
    assert summary().startswith("### ")


def test_the_right_to_one_of_them_is_enough_for_that(forge, rows):
    forge.first["POST /statuses/"] = [FORBIDDEN]
    assert gate(rows("run", RIGHT)) == Exit.OK
    assert len(forge.comments) == 1


def test_a_forge_that_is_away_is_asked_again(forge, rows, capsys):
    limit = (403, {"Retry-After": "0", "X-RateLimit-Remaining": "0"}, False)
    forge.first = {f"GET {COMMENTS}": [NOW, NOW], f"POST {COMMENTS}": [NOW], "POST /statuses/": [limit]}
    assert gate(rows("run", RIGHT)) == Exit.OK
    assert (len(forge.comments), len(forge.statuses)) == (1, 1)
    assert "answered 503" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("first", "status", "words"),
    [
        ([LATER], Exit.UNREACHABLE, "answered 502"),
        ([(404, {}, False)], Exit.CONFIGURATION, "is shop/agent#218 there for this token?"),
        ([(422, {}, False)], Exit.CONFIGURATION, "answered 422"),
    ],
)
def test_a_forge_that_fails_is_told_and_never_hides_the_gate_s_status(forge, rows, first, status, words, capsys):
    forge.first[f"GET {COMMENTS}"] = list(first)
    assert gate(rows("run", RIGHT)) == status
    assert words in capsys.readouterr().err
    forge.first[f"GET {COMMENTS}"] = list(first)
    assert gate(rows("run", WRONG)) == Exit.FAILED
    assert "### ❌" in summary()


def test_the_token_goes_to_no_other_address(forge, rows, monkeypatch, capsys):
    with running_forge() as other:
        listed: tuple[int, list[Any], dict[str, str]] = 200, [], {"Link": f'<{other.url}/repos/>; rel="next"'}
        monkeypatch.setattr("tests.cli.forge._Handler._listed", lambda *_: listed)
        assert gate(rows("run", RIGHT)) == Exit.CONFIGURATION
        assert "names a next page at another address" in capsys.readouterr().err
        assert other.asked == []


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"GITHUB_REPOSITORY": ""}, "GITHUB_REPOSITORY is not set: this is not a job of GitHub Actions"),
        ({"GITHUB_REPOSITORY": "a/b/../c"}, "GITHUB_REPOSITORY is not OWNER/NAME"),
        ({"GITHUB_TOKEN": ""}, "GITHUB_TOKEN is not set"),
        ({"GITHUB_TOKEN": "a\nb"}, "characters that no token has"),
        ({"GITHUB_EVENT_PATH": "nowhere.json"}, "cannot read the event in nowhere.json"),
        ({"GITHUB_API_URL": "nowhere"}, "is not an address"),
    ],
)
def test_what_is_missing_in_the_environment_is_named(forge, rows, monkeypatch, changed, words, capsys):
    for name, value in changed.items():
        monkeypatch.setenv(name, value)
    assert gate(rows("run", RIGHT)) == Exit.CONFIGURATION
    assert words in capsys.readouterr().err
    assert forge.asked == []


@pytest.mark.parametrize(
    "event", ['{"ref": "refs/heads/main"}', "[]", '{"pull_request": {}}', '{"issue": {"number": 2}}']
)
def test_an_event_without_a_pull_request_is_refused_before_anything_is_held(forge, rows, monkeypatch, event, capsys):
    Path(os.environ["GITHUB_EVENT_PATH"]).write_text(event)
    monkeypatch.setenv("GITHUB_EVENT_NAME", "push")
    assert gate(rows("run", RIGHT)) == Exit.CONFIGURATION
    printed = capsys.readouterr()
    assert "the event push has no pull request: run it in a workflow on pull_request" in printed.err
    assert printed.out == ""


def test_what_ends_the_command_stands_in_the_summary(forge, capsys, monkeypatch):
    """A fork's job has no secrets: no token of the server, and so no run to hold."""
    monkeypatch.setenv("TOOLEVALS_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("HOME", "/nonexistent")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/nonexistent")
    assert gate("--run", "3") == Exit.CONFIGURATION
    assert "no token" in capsys.readouterr().err
    assert summary().startswith("### ❌ toolevals gate ended with status 4\n\nno token")
    assert forge.asked == []


def test_the_time_to_ask_again_begins_with_the_first_request(forge):
    """A run may be waited for longer than a forge may be away."""
    found = GitHub.from_environment()
    assert "retry" not in vars(found)
    found.ask("GET", found.comments)
    assert "retry" in vars(found)


def test_nothing_prints_the_token(forge, rows, capsys):
    forge.first = {f"GET {COMMENTS}": [(401, {}, False)], "POST /statuses/": [(401, {}, False)]}
    assert gate(rows("run", RIGHT)) == Exit.CONFIGURATION
    printed = capsys.readouterr()
    assert TOKEN not in printed.out + printed.err + summary()


def test_a_name_without_a_comment_is_refused(rows):
    assert main(["gate", rows("run", RIGHT), "--as", "main"]) == Exit.CONFIGURATION
