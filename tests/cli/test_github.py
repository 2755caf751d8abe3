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
from tests.cli.test_grade import TOOLS
from toolevals.cli.forges import GitHub
from toolevals.cli.main import main
from toolevals.cli.output import Exit
from toolevals.cli.tool_lines import lines_of_tools

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
    assert "from a fork never may; else the job needs" in said
    assert "`permissions: {pull-requests: write, statuses: write, checks: write}`" in said
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


def tools_file(folder: Path, *names: str) -> Path:
    """Write a file of tools, each on four lines, into a checkout."""
    path = folder / "shop" / "tools.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps([{"name": name, "description": f"When {name} is wanted."} for name in names], indent=1))
    return path


def annotated(forge: Any) -> list[tuple[str, int, str, str]]:
    (check,) = forge.checks.values()
    return [
        (each["path"], each["start_line"], each["annotation_level"], each["title"])
        for each in check["output"]["annotations"]
    ]


@pytest.fixture
def compared(forge, rows, tmp_path, monkeypatch):
    """Hold one file against another by a gate that lets all pass, in a checkout."""
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    rules = {"bounds": [{"metric": "selection", "min": 0}]}
    rules["regressions"] = [{"rule": "cases", "metrics": ["selection"], "most": 1000}]
    (tmp_path / "gate.json").write_text(json.dumps(rules))

    def hold(before: list[dict[str, Any]], after: list[dict[str, Any]], *asked: str) -> int:
        files = rows("after", *after), "--baseline", rows("before", *before)
        return gate(*files, "--config", str(tmp_path / "gate.json"), *asked)

    return hold


def test_tools_whose_numbers_changed_are_annotated_at_their_lines(forge, compared, tmp_path, capsys):
    tools_file(tmp_path, "lookup", "track", "refund")
    forge.changed = ["README.md", "gone.py", "../../etc/passwd", "shop/tools.json"]
    before, after = [RIGHT] * 20, [RIGHT] * 17 + [WRONG] * 3
    assert compared(before, after) == Exit.OK
    assert annotated(forge) == [
        ("shop/tools.json", 11, "warning", "refund: confused otherwise than before"),
        ("shop/tools.json", 7, "warning", "track: called where it is right: 20 → 17"),
    ]
    (check,) = forge.checks.values()
    assert (check["head_sha"], check["status"], check["conclusion"]) == (COMMIT, "completed", "neutral")
    assert check["name"] == "toolevals / gate gate / tools"
    assert check["output"]["title"] == "The numbers of 2 tools changed"
    assert check["output"]["annotations"][0]["message"].startswith("Called where track is right: 0 → 3 examples.\n")
    assert check["output"]["annotations"][1]["message"].startswith("refund called in its place: 0 → 3 examples.\n")
    assert capsys.readouterr().err == ""
    # The other way round it is better, which warns no one.
    forge.checks.clear()
    assert compared(after, before) == Exit.OK
    assert {each[2] for each in annotated(forge)} == {"notice"}


def test_a_named_file_is_taken_and_one_outside_the_checkout_is_refused(forge, compared, tmp_path, monkeypatch, capsys):
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    monkeypatch.setenv("GITHUB_WORKSPACE", str(checkout))
    inside, outside = tools_file(checkout, "track"), tools_file(tmp_path, "track")
    moved = [RIGHT, RIGHT], [WRONG, RIGHT]
    assert compared(*moved, "--tool-file", str(inside)) == Exit.OK
    assert [each[:2] for each in annotated(forge)] == [("shop/tools.json", 3)]
    assert not any("/files" in each for each in forge.asked)
    assert compared(*moved, "--tool-file", str(outside)) == Exit.CONFIGURATION
    assert "is not a file of the checkout" in capsys.readouterr().err
    assert main(["gate", "after.jsonl", "--tool-file", str(inside)]) == Exit.CONFIGURATION
    assert "give --github, or --gitlab and --code-quality, too" in capsys.readouterr().err


def test_nothing_is_annotated_where_nothing_changed_or_no_line_is_known(forge, compared, tmp_path):
    same = [RIGHT, RIGHT]
    assert compared(same, same) == Exit.OK
    assert not any("/files" in each for each in forge.asked)
    # A file that names a tool twice could mean either.
    tools_file(tmp_path, "track", "track", "lookup")
    forge.changed = ["shop/tools.json"]
    assert compared(same, [RIGHT, WRONG]) == Exit.OK
    assert forge.checks == {}


def test_more_tools_than_a_request_takes_are_sent_in_several(forge, compared, tmp_path):
    names = [f"tool_{number:03}" for number in range(120)]
    tools_file(tmp_path, "track", *names)
    forge.changed = ["shop/tools.json"]
    offered = {"tools": [*TOOLS, *({"name": name, "input_schema": {"type": "object"}} for name in names)]}
    wrong = [{"tool_calls": [{"name": name, "arguments": {}}], **offered} for name in names]
    assert compared([RIGHT | offered] * 120, wrong) == Exit.OK
    assert len(annotated(forge)) == 121
    sent = [each for each in forge.asked if "check-runs" in each]
    assert [each.split()[0] for each in sent] == ["POST", "PATCH", "PATCH"]


def test_a_token_without_the_right_to_checks_leaves_the_comment(forge, compared, tmp_path, capsys):
    tools_file(tmp_path, "track")
    forge.changed = ["shop/tools.json"]
    forge.first["POST /check-runs"] = [FORBIDDEN]
    assert compared([RIGHT, RIGHT], [WRONG, RIGHT]) == Exit.OK
    assert "The pull request gets no annotation" in capsys.readouterr().err
    assert (len(forge.comments), len(forge.statuses)) == (1, 1)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('[{"description": "x",\n  "name": "track"}]', 2),
        ("tools:\n  - description: x\n    name: track\n", 3),
        ("tools:\n  - name: 'track' # the parcel\n", 2),
        ('[[tools]]\nname = "track"\n', 2),
        ("/parcels:\n  get:\n    operationId: track\n", 3),
        ("import os\n\n\nasync def track(order: str) -> str:\n", 4),
        ('Tool(\n    name="track",\n)', 2),
        ('{"tool": {"filename": "track"}}', None),
        ('{"name": "track_all"}', None),
        ('{"name": "track"}\n{"name": "track"}', None),
        ("\x00\ud800".encode("utf-8", "surrogatepass").decode("latin-1"), None),
    ],
)
def test_a_line_is_known_in_each_form_in_which_tools_are_written(tmp_path, text, line):
    file = tmp_path / "tools"
    file.write_text(text)
    assert lines_of_tools(file, {"track"}).get("track") == line


def test_a_file_that_is_no_text_has_no_lines(tmp_path):
    file = tmp_path / "tools"
    file.write_bytes(b'\xff\xfe"name": "track"')
    assert lines_of_tools(file, {"track"}) == {}
