"""Test what the guide shows is run: the CI examples without a server, and the example suite of the pytest plugin."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from scripts.dev.environment import ROOT
from tests.cli.forge import running_forge
from tests.cli.gate_examples import FOLDER, checkout, run, runnable, scripts
from tests.presentation.junit_structure import junit_faults

GUIDE = (ROOT / "docs" / "gates.md").read_text()


@pytest.fixture
def place(tmp_path):
    return checkout(tmp_path)


def make_worse(place: Path) -> None:
    """Let the example's agent take one tool for another."""
    agent = place / "agent.py"
    agent.write_text(agent.read_text().replace('"cancel_order" if', '"get_order_status" if'))


def test_the_gitlab_example_passes_and_fails(place):
    job = "gitlab agent-gate"
    with running_forge() as forge:
        environment = forge.gitlab_environment()
        done = run(runnable(job), place, environment)
        assert (done.returncode, done.stderr) == (0, "")
        assert junit_faults((place / "gate.xml").read_bytes()) == []
        assert "Gate passed." in (place / "gate.md").read_text()
        make_worse(place)
        done = run(runnable(job), place, environment)
        assert done.returncode == 2
        assert "Gate failed. 4 failed, 5 passed." in done.stdout
        assert "❌" in (place / "gate.md").read_text()
        (comment,) = forge.comments
        assert (place / "gate.md").read_text() in comment["body"]


def test_the_github_example_passes_and_fails_and_keeps_one_comment(place):
    job = "github file"
    with running_forge() as forge:
        environment = forge.environment(place)
        done = run(runnable(job), place, environment)
        assert (done.returncode, done.stderr) == (0, "")
        assert junit_faults((place / "gate.xml").read_bytes()) == []
        (comment,) = forge.comments
        assert "Gate passed." in comment["body"]
        make_worse(place)
        done = run(runnable(job), place, environment)
        assert done.returncode == 2
        assert "Gate failed. 4 failed, 5 passed." in done.stdout
        (comment,) = forge.comments
        assert "❌" in comment["body"]
        assert (
            "| ▼ | 0 → 1 | <code>cancel&#95;order</code> as <code>get&#95;order&#95;status</code> |" in comment["body"]
        )
        assert [said["state"] for _, said in forge.statuses] == ["success", "failure"]


def test_the_action_runs_the_gate_and_gives_its_status(place):
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    install, gate = action["runs"]["steps"]
    # What a workflow says comes by the environment: as part of a script it would be run.
    assert "${{" not in install["run"] + gate["run"]
    arguments = "baseline.jsonl\n--config\ngate.yaml\n\n--as\na gate's $(name)\n"
    with running_forge() as forge:
        environment = forge.environment(place) | {"ARGUMENTS": arguments, "GITHUB_OUTPUT": str(place / "output")}
        for status in (0, 2):
            script = f"bash -eo pipefail -c {shlex.quote(gate['run'])}"
            assert run(script, place, environment).returncode == status
            (place / "gate.yaml").write_text("bounds: [{metric: outcome, max: 0.5}]")
        assert (place / "output").read_text() == "status=0\nstatus=2\n"
        assert [said["context"] for _, said in forge.statuses] == ["toolevals / gate a gate's $(name)"] * 2
    for pattern, words in (("wheels/*.whl", "0 files fit"), ("*.jsonl", "2 files fit")):
        script = f"bash -eo pipefail -c {shlex.quote(install['run'])}"
        done = run(script, place, {"WHEEL": pattern})
        assert (done.returncode, words in done.stdout) == (4, True)


def test_nothing_but_what_needs_other_hosts_is_left_out():
    left_out = {each for commands in scripts().values() for each in commands if each not in _run_here()}
    assert left_out == {"pip install wheels/toolevals-*.whl"}


def _run_here() -> str:
    return "\n".join(runnable(job) for job in scripts())


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.iterdir() if path.is_file()))
def test_the_guide_names_every_example(name):
    assert f"examples/gate/{name}" in GUIDE


def test_the_guide_s_gate_is_one(place):
    (text,) = re.findall(r"```yaml\n(# gate\.yaml\n.*?)```", GUIDE, re.DOTALL)
    (place / "guide.yaml").write_text(text)
    done = run("toolevals gate baseline.jsonl --config guide.yaml", place)
    # Its judge is not there, and there is no baseline: it is read, and cannot be answered.
    assert done.returncode == 2, done.stderr
    assert "not enough scored cases to decide" in done.stdout


def pytest_run(place: Path, *options: str) -> subprocess.CompletedProcess[str]:
    others = [f"-pno:{name}" for name in ("django", "schemathesis", "hypothesispytest", "cacheprovider")]
    plugins = ["-p", "toolevals.cli.pytest_plugin", *others]
    command = [sys.executable, "-m", "pytest", *plugins, "--strict-markers", "-q", "--rootdir", str(place), *options]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    return subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)


def test_the_example_suite_passes_without_the_server_part(place):
    (place / "test_server.py").write_text(
        "import sys\ndef test_none():\n    assert not {'django', 'celery'} & set(sys.modules)\n"
    )
    done = pytest_run(place)
    assert done.returncode == 0, done.stdout
    assert "4 passed" in done.stdout


def test_a_worse_agent_fails_the_suite_with_the_cases_named(place):
    make_worse(place)
    done = pytest_run(place)
    assert done.returncode == 1
    assert "3 failed" in done.stdout
    said = " ".join(done.stdout.split())
    assert "It is 0.875 over 8 cases, not >= 0.95. Examples: cancel-1." in said
    assert "Traceback" not in done.stdout


SUITE = """
import pytest

def broken(example):
    raise RuntimeError("no agent")

def silent(example):
    assert "expected_tool" not in example
    return {"answer": "Hm."}

@pytest.mark.toolevals(dataset="baseline.jsonl", threshold=1)
def test_predictions_in_the_file_need_no_fixture():
    pass

@pytest.mark.toolevals(dataset="cases.jsonl", threshold=0)
def test_without_predictions_nothing_passes(toolevals):
    pass

@pytest.mark.toolevals(dataset="cases.jsonl", threshold=0)
def test_an_agent_that_raises(toolevals):
    toolevals.ask(broken)

@pytest.mark.toolevals(dataset="cases.jsonl", threshold=1)
def test_a_body_that_fails(toolevals):
    assert toolevals.ask(silent).figure("outcome").observed == 1

@pytest.mark.toolevals(dataset="cases.jsonl", trials=3, baseline="baseline.jsonl",
                       gate={"regressions": [{"rule": "cases", "metrics": ["outcome"]}]})
def test_a_regression(toolevals):
    assert len(toolevals.ask(silent).cases) == 24

@pytest.mark.toolevals(dataset="nowhere.jsonl")
def test_no_file(toolevals):
    pass

@pytest.mark.toolevals(dataset="cases.jsonl", threshold=95)
def test_no_share(toolevals):
    toolevals.ask(silent)

@pytest.mark.toolevals(luck=1)
def test_no_argument(toolevals):
    pass

def test_no_marker(toolevals):
    pass
"""


def test_what_predictions_were_read_as_and_what_was_left_out_is_said(place):
    row = {"id": "a", "input": {"messages": [{"role": "user", "content": "Hi"}]}, "expected_tool": None}
    rows = [row | {"steps": [{"thought": "Hm.", "mood": "good"}]}, row | {"id": "b", "answer": "Hello."}]
    (place / "steps.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    (place / "test_suite.py").write_text(
        'import pytest\n@pytest.mark.toolevals(dataset="steps.jsonl", threshold=0)\ndef test_steps():\n    pass\n'
    )
    done = pytest_run(place, "test_suite.py")
    assert done.returncode == 0, done.stdout
    assert "toolevals: what was read" in done.stdout
    assert "1 read as steps: the row has `steps`" in done.stdout
    assert "left out: 1 × unknown key mood at /steps/*/mood (first at /steps/0/mood)" in done.stdout


def test_each_way_in_which_a_marked_test_comes_out(place):
    (place / "test_suite.py").write_text(SUITE)
    done = pytest_run(place, "test_suite.py", "-rA")
    found = re.findall(r"^(PASSED|FAILED|ERROR) test_suite.py::(\w+)", done.stdout, re.MULTILINE)
    assert {name: kind for kind, name in found} == {
        "test_predictions_in_the_file_need_no_fixture": "PASSED",
        "test_without_predictions_nothing_passes": "FAILED",
        "test_an_agent_that_raises": "FAILED",
        "test_a_body_that_fails": "FAILED",
        "test_a_regression": "FAILED",
        "test_no_file": "ERROR",
        "test_no_share": "ERROR",
        "test_no_argument": "ERROR",
        "test_no_marker": "ERROR",
    }
    said = " ".join(done.stdout.split())
    for words in (
        "RuntimeError: no agent",
        "6 examples passed before and fail now",
        "cannot read",
        "unexpected keyword argument",
        "needs @pytest.mark.toolevals",
        "is not a share from 0 to 1",
    ):
        assert words in said
