"""`toolevals gate --gitlab` against a forge on this machine: one comment and a status."""

from __future__ import annotations

import json

import pytest

from tests.cli.forge import COMMIT, PULL_REQUEST, running_forge
from tests.cli.test_gate import RIGHT, WRONG, rows
from tests.cli.test_github import tools_file
from toolevals.cli.main import main
from toolevals.cli.output import Exit

assert rows
NOTES = f"/merge_requests/{PULL_REQUEST}/notes"


@pytest.fixture
def forge(monkeypatch):
    with running_forge() as found:
        for name, value in found.gitlab_environment().items():
            monkeypatch.setenv(name, value)
        yield found


def gate(*asked: str) -> int:
    return main(["gate", *asked, "--gitlab"])


def test_a_merge_request_gets_one_comment_and_statuses(forge, rows):
    for number in range(3):
        forge.add(f"Comment {number}.")
    # A stranger's, who wrote the mark first.
    forge.add("<!-- toolevals gate gate -->\nAll is well.", author={"id": 8})
    assert gate(rows("run", RIGHT)) == Exit.OK
    assert gate(rows("run", WRONG)) == Exit.FAILED
    assert len(forge.comments) == 5
    assert forge.comments[3]["body"].endswith("All is well.")
    assert "### ❌ Gate failed." in forge.comments[4]["body"]
    assert [(commit, said["state"], said["name"]) for commit, said in forge.statuses] == [
        (COMMIT, state, "toolevals / gate gate") for state in ("success", "failed")
    ]
    assert forge.statuses[0][1]["target_url"] == "https://forge.example/jobs/9"


def test_a_token_without_rights_leaves_the_gate_s_status(forge, rows, capsys):
    refused: tuple[int, dict[str, str], bool] = (403, {}, False)
    forge.first = {f"POST {NOTES}": [refused, refused], "POST /statuses/": [refused, refused]}
    assert gate(rows("run", RIGHT)) == Exit.OK
    assert "GITLAB_TOKEN needs the scope `api`" in capsys.readouterr().err
    assert gate(rows("run", WRONG)) == Exit.FAILED
    assert forge.comments == []


def test_a_fork_s_job_without_a_token_holds_the_gate_and_says_why_it_tells_no_one(forge, rows, monkeypatch, capsys):
    monkeypatch.setenv("GITLAB_TOKEN", "")
    assert gate(rows("run", RIGHT)) == Exit.CONFIGURATION
    assert "GITLAB_TOKEN is not set" in capsys.readouterr().err
    monkeypatch.setenv("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", "10")
    assert gate(rows("run", WRONG)) == Exit.FAILED
    assert "a fork's, whose job has no GITLAB_TOKEN: it gets no comment" in capsys.readouterr().err
    assert forge.asked == []


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"CI_MERGE_REQUEST_IID": ""}, "CI_MERGE_REQUEST_IID is not set: run it in a pipeline of merge requests"),
        ({"CI_MERGE_REQUEST_IID": "../1"}, "are not numbers"),
        ({"CI_API_V4_URL": "nowhere"}, "is not an address"),
    ],
)
def test_what_is_missing_in_the_environment_is_named(forge, rows, monkeypatch, changed, words, capsys):
    for name, value in changed.items():
        monkeypatch.setenv(name, value)
    assert gate(rows("run", RIGHT)) == Exit.CONFIGURATION
    assert words in capsys.readouterr().err


def test_tools_whose_numbers_changed_stand_in_the_code_quality_report(forge, rows, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CI_PROJECT_DIR", str(tmp_path))
    tools_file(tmp_path, "lookup", "track", "refund")
    forge.changed = ["README.md", "gone.py", "../../etc/passwd", "shop/tools.json"]
    rules = {"bounds": [{"metric": "selection", "min": 0}]}
    rules["regressions"] = [{"rule": "cases", "metrics": ["selection"], "most": 1000}]
    (tmp_path / "gate.json").write_text(json.dumps(rules))
    report = tmp_path / "quality.json"
    before, after = rows("before", *[RIGHT] * 20), rows("after", *[RIGHT] * 17, *[WRONG] * 3)
    asked = (after, "--baseline", before, "--config", str(tmp_path / "gate.json"), "--code-quality", str(report))
    assert gate(*asked) == Exit.OK, capsys.readouterr().err
    refund, track = json.loads(report.read_text())
    # The keys and severities that GitLab's documentation of Code Quality reports requires.
    assert refund.keys() == {"check_name", "description", "severity", "fingerprint", "location"}
    assert refund["location"] == {"path": "shop/tools.json", "lines": {"begin": 11}}
    assert track["location"]["lines"] == {"begin": 7}
    assert track["description"].startswith("track: called where it is right: 20 → 17. refund called in its place: 0")
    assert {refund["severity"], track["severity"]} == {"minor"}
    # The same finding is the same one in the next pipeline; two findings are two.
    assert gate(*asked) == Exit.OK
    assert [each["fingerprint"] for each in json.loads(report.read_text())] == [
        refund["fingerprint"],
        track["fingerprint"],
    ]
    assert refund["fingerprint"] != track["fingerprint"]
    # Where nothing changed the report is there and empty: GitLab counts the findings as fixed.
    assert gate(before, *asked[1:]) == Exit.OK
    assert json.loads(report.read_text()) == []
    assert gate(*asked[:-1], str(tmp_path / "gone" / "quality.json")) == Exit.CONFIGURATION
    assert main(["gate", after, "--code-quality", str(report)]) == Exit.CONFIGURATION
    assert "give --gitlab, too" in capsys.readouterr().err


def test_a_job_is_of_one_forge(rows):
    assert main(["gate", rows("run", RIGHT), "--gitlab", "--github"]) == Exit.CONFIGURATION
