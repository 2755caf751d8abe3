"""`toolevals gate FILE`: a file held against what it must reach, without any server."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_grade import INPUT, TOOLS
from toolevals.cli.gate import printable
from toolevals.cli.main import main
from toolevals.cli.output import Exit

RIGHT = {"tool_calls": [{"name": "track", "arguments": {"order": "A-1"}}]}
WRONG = {"tool_calls": [{"name": "refund", "arguments": {"order": "A-1"}}]}
NO_PREDICTION: dict[str, Any] = {}


def example(name: str, made: dict[str, Any], **rest: Any) -> dict[str, Any]:
    plain = {"id": name, "input": INPUT, "tools": TOOLS, "expected_tool": "track", "expected_args": {"order": "A-1"}}
    return {**plain, **made, **rest}


@pytest.fixture
def rows(tmp_path):
    def write(name: str, *made: dict[str, Any], **rest: Any) -> str:
        path = tmp_path / f"{name}.jsonl"
        lines = [json.dumps(example(f"ex-{i}", each, **rest)) for i, each in enumerate(made)]
        path.write_text("\n".join(lines))
        return str(path)

    return write


@pytest.fixture
def config(tmp_path):
    def write(text: str, suffix: str = "json") -> list[str]:
        path = tmp_path / f"gate.{suffix}"
        path.write_text(text)
        return ["--config", str(path)]

    return write


def test_the_published_thresholds_are_asked_for_unless_others_are(rows, capsys):
    file = rows("run", *[RIGHT] * 19, WRONG)
    assert main(["gate", file]) == Exit.OK
    said = capsys.readouterr().out
    assert ">= 0.95" in said
    assert ">= 0.97" in said
    assert ">= 0.93" in said
    assert "Gate passed. 3 passed." in said
    assert main(["gate", file, "--threshold-name", ".96"]) == Exit.FAILED
    said = capsys.readouterr().out
    assert "It is 0.95 over 20 cases, not >= 0.96. Examples: ex-19." in " ".join(said.split())
    assert main(["gate", file, "--threshold", "outcome=.96"]) == Exit.FAILED


def test_a_named_threshold_is_asked_in_place_of_the_published_ones(rows, capsys):
    """A run below the published rates passes what it was asked for, and nothing unsaid is asked beside it."""
    file = rows("run", *[RIGHT] * 17, *[WRONG] * 3)
    assert main(["gate", file]) == Exit.FAILED
    capsys.readouterr()
    assert main(["gate", file, "--threshold", "outcome=.85"]) == Exit.OK
    assert "Gate passed. 1 passed." in capsys.readouterr().out
    assert main(["gate", file, "--threshold", "outcome=.86"]) == Exit.FAILED
    assert main(["gate", file, "--threshold", "outcome=.85", "--threshold-name", ".8"]) == Exit.OK
    assert "Gate passed. 2 passed." in capsys.readouterr().out
    # One of the published rates alone leaves the others as they are.
    assert main(["gate", file, "--threshold-name", ".8", "--json"]) == Exit.FAILED
    assert len(json.loads(capsys.readouterr().out)["checks"]) == 3


def test_what_was_not_scored_never_passes(rows, capsys):
    assert main(["gate", rows("run", *[RIGHT] * 9, NO_PREDICTION)]) == Exit.FAILED
    assert "not enough scored cases to decide" in capsys.readouterr().out
    assert main(["gate", rows("run", RIGHT), "--threshold", "execution=0"]) == Exit.FAILED
    assert "No case has it" in " ".join(capsys.readouterr().out.split())


def test_a_graded_file_and_its_examples_come_out_alike(rows, tmp_path, capsys):
    file = rows("run", {**RIGHT, "latency_ms": 12.5}, WRONG, NO_PREDICTION, strata={"difficulty": "hard"})
    asked = ["--threshold", "tool_name_f1=.5", "--json"]
    assert main(["gate", file, *asked]) == Exit.FAILED
    graded_here = json.loads(capsys.readouterr().out)
    main(["grade", file])
    graded = tmp_path / "grades.jsonl"
    graded.write_text(capsys.readouterr().out)
    assert json.loads(graded.read_text().splitlines()[0])["strata"] == {"difficulty": "hard"}
    assert main(["gate", str(graded), *asked]) == Exit.FAILED
    assert json.loads(capsys.readouterr().out)["checks"] == graded_here["checks"]


def test_what_cases_take_is_limited_in_a_file_of_examples_or_grades(rows, config, tmp_path, capsys):
    step = {"role": "assistant", "tool_calls": RIGHT["tool_calls"], "cost": 0.25}
    made = {"messages": [step], "usage": {"input_tokens": 900, "output_tokens": 100}}
    file = rows("run", made, made)
    bounds = [
        {"metric": "outcome", "statistic": name, "max": most}
        for name, most in (("cost", 0.2), ("tokens", 1000), ("latency_p95", 9))
    ]
    asked = [*config(json.dumps({"bounds": bounds})), "--json"]
    assert main(["gate", file, *asked]) == Exit.FAILED
    found = json.loads(capsys.readouterr().out)["checks"]
    assert [(each["status"], each["observed"]) for each in found] == [
        ("failed", 0.25),
        ("passed", 1000),
        ("unanswered", None),
    ]
    assert found[0]["examples"] == ["ex-0", "ex-1"]
    main(["grade", file])
    graded = tmp_path / "grades.jsonl"
    graded.write_text(capsys.readouterr().out)
    assert main(["gate", str(graded), *asked]) == Exit.FAILED
    assert json.loads(capsys.readouterr().out)["checks"] == found


def test_a_regression_hidden_by_an_equal_average_fails(rows, capsys):
    before = rows("before", WRONG, *[RIGHT] * 24)
    after = rows("after", RIGHT, WRONG, *[RIGHT] * 23)
    assert main(["gate", after]) == Exit.OK
    # A baseline that nothing compares with would say nothing.
    assert main(["gate", after, "--baseline", before]) == Exit.CONFIGURATION
    assert main(["gate", "-", "--baseline", "-", "--fail-on-regression"]) == Exit.CONFIGURATION
    asked = ["gate", after, "--baseline", before, "--fail-on-regression"]
    assert main(asked) == Exit.OK
    assert main([*asked, "--worse-allowed", "0"]) == Exit.FAILED
    said = " ".join(capsys.readouterr().out.split())
    assert "1 example passed before and fail now: ex-1." in said
    # Seven of 25, as three metrics are tested: 2·2^-7 < .05/3 < 2·2^-6.
    assert "25 examples can show a difference of 0.28 at best" in said
    assert main([*asked, "--worse-allowed", "1"]) == Exit.OK
    assert main(["gate", after, "--worse-allowed", "1"]) == Exit.CONFIGURATION
    assert main(["gate", after, "--fail-on-regression"]) == Exit.FAILED
    assert "name a baseline" in capsys.readouterr().out


GATES = {
    "json": json.dumps({"bounds": [{"metric": "selection", "min": 0.5, "per_stratum": "difficulty"}]}),
    "toml": '[[bounds]]\nmetric = "selection"\nmin = 0.5\nper_stratum = "difficulty"\n',
    "yaml": "bounds:\n  - {metric: selection, min: 0.5, per_stratum: difficulty}\n",
}


@pytest.mark.parametrize("suffix", GATES)
def test_a_gate_is_read_from_a_file_in_three_forms(rows, config, suffix, capsys):
    assert main(["gate", rows("run", RIGHT, strata={"difficulty": "hard"}), *config(GATES[suffix], suffix)]) == Exit.OK
    assert "selection pass_rate (difficulty hard)" in capsys.readouterr().out


PUBLISHED = """\
assertions:
  - "tool_name_f1.score >= 0.95 for at_least 95% of cases"
  - "argument_validation.score >= 0.90 for at_least 90% of cases"
  - "argument_semantics.score >= 0.85 for at_least 85% of cases"
  - template: outcome
    conditions: ["pass_rate >= 0.85", "0.5 <= avg_score <= 1", "p95_score >= 0.5"]
    on_fail: error
thresholds:
  default_pass_rate: 0.8
  overrides: {selection: 0.9}
"""


def test_the_published_files_are_read_as_they_are(rows, config, capsys):
    assert main(["gate", rows("run", RIGHT, RIGHT), *config(PUBLISHED, "yml")]) == Exit.OK
    assert main(["gate", rows("run", RIGHT, WRONG), *config(PUBLISHED, "yml")]) == Exit.FAILED


@pytest.mark.parametrize(
    ("suffix", "text", "said"),
    [
        ("json", '{"bounds": [{"metric": "outcome"}]}', "/bounds/0: needs min, max or both"),
        ("json", '{"assertions": ["f1.score > 1 for most"]}', "/assertions/0: expected at_least"),
        ("json", '{"bounds": ', "not JSON at line 1"),
        ("toml", "bounds = [", "not TOML"),
        ("yaml", "bounds: [\n  - {", "line 2, column 3"),
        ("yaml", "a: &x [1]\nb: *x", "aliases are not read"),
        ("yaml", "bounds: []\nbounds: []", "line 2, column 1: the key 'bounds' twice"),
        ("yaml", "bounds: !!python/object:os.system []", "not YAML"),
        ("yaml", "bounds: 2026-01-01", "/bounds"),
        ("yaml", "- 1", "is not an object"),
        ("ini", "", "is not one of .json"),
        ("json", '{"bounds": [{"metric": "outcome", "min": 95}]}', "not a percentage"),
    ],
)
def test_a_wrong_file_is_told_where_and_what(rows, config, suffix, text, said, capsys):
    assert main(["gate", rows("run", RIGHT), *config(text, suffix)]) == Exit.CONFIGURATION
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        ["FILE", "--run", "3"],
        ["FILE", "--threshold", "outcome"],
        ["FILE", "--threshold-name", "2"],
        ["FILE", "--release-candidate"],
        ["FILE", "--config", "nowhere.json"],
        ["FILE", "--junit", "no/such/folder.xml"],
        ["nowhere.jsonl"],
    ],
)
def test_wrong_options_are_status_4(rows, wrong, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = rows("run", RIGHT)
    assert main(["gate", *(file if each == "FILE" else each for each in wrong)]) == Exit.CONFIGURATION


@pytest.mark.parametrize(
    "line", ["{", '{"id": "x"}', '{"id": 3, "verdicts": {}}', json.dumps(example("ex-0", RIGHT)), ""]
)
def test_wrong_data_is_status_5_and_decides_nothing(rows, line, capsys):
    file = Path(rows("run", *([RIGHT] if line else [])))
    file.write_text(f"{file.read_text()}\n{line}\n")
    assert main(["gate", str(file)]) == Exit.DATA
    assert "gate is" not in capsys.readouterr().out


def test_warnings_count_where_they_should(rows, config):
    gate = config(json.dumps({"bounds": [{"metric": "outcome", "min": 0.9, "on_fail": "warn"}]}))
    file = rows("run", RIGHT, WRONG)
    assert main(["gate", file, *gate, "--threshold", "shape=.5"]) == Exit.OK
    assert main(["gate", file, *gate, "--threshold", "shape=.5", "--strict"]) == Exit.WARNING


def test_the_consistency_slice_is_for_release_candidates(rows, tmp_path, capsys):
    slice_file = tmp_path / "slice.jsonl"
    lines = [example("ex-0", RIGHT if trial else WRONG, trial=trial) for trial in range(8)]
    slice_file.write_text("\n".join(map(json.dumps, lines)))
    asked = ["gate", rows("run", RIGHT), "--threshold-consistency", ".5", "--consistency", str(slice_file)]
    assert main(asked) == Exit.OK
    assert "It is for release candidates." in " ".join(capsys.readouterr().out.split())
    assert main([*asked, "--release-candidate"]) == Exit.FAILED
    assert "outcome pass^8 (consistency slice)" in capsys.readouterr().out


def test_a_terminal_is_not_steered_by_names(rows, capsys):
    path = rows("run", WRONG)
    Path(path).write_text(Path(path).read_text().replace("ex-0", "ex\\u001b[2J"))
    main(["gate", path])
    assert "\x1b" not in capsys.readouterr().out
    assert printable("a\x1b[2Jb\n") == "a?[2Jb\n"


def test_it_needs_no_server_part(rows):
    code = (
        "import sys; from toolevals.cli.main import main; status = main(sys.argv[1:]);"
        "print(*sorted({'django', 'celery'} & set(sys.modules))); raise SystemExit(status)"
    )
    made = subprocess.run(
        [sys.executable, "-c", code, "gate", rows("run", RIGHT)], capture_output=True, text=True, check=False
    )
    assert (made.returncode, made.stdout.splitlines()[-1]) == (0, "")


def test_a_case_without_prediction_counts_under_its_tool(rows, capsys, tmp_path, config):
    asked = config("bounds: [{metric: selection, min: 1, per: tool}]", "yaml")
    file = rows("answers", *[RIGHT] * 3, NO_PREDICTION)
    assert main(["gate", file, *asked]) == Exit.FAILED
    said = " ".join(capsys.readouterr().out.split())
    assert "It depends on 1 case without a score: score them, or run them again. Examples: ex-3." in said
    assert main(["grade", file]) == Exit.OK
    graded = tmp_path / "graded.jsonl"
    graded.write_text(capsys.readouterr().out)
    assert main(["gate", str(graded), *asked]) == Exit.FAILED
    assert "It depends on 1 case without a score" in " ".join(capsys.readouterr().out.split())


def test_errored_cases_are_called_so_with_the_providers_words(rows, capsys):
    file = rows("answers", *[RIGHT] * 3, {"error": "HTTP 429: the provider is\nbusy."})
    assert main(["gate", file, "--threshold", "selection=1"]) == Exit.FAILED
    said = " ".join(capsys.readouterr().out.split())
    assert "It depends on 1 case without a score: score them, or run them again." in said
    assert "1 case is errored, and says: The agent could not be reached: HTTP 429: the provider is busy." in said
