"""`toolevals gate --run` against the running application: the sample project's two runs, and the CI examples."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cli.forge import running_forge
from tests.cli.gate_examples import FOLDER, checkout, run, runnable
from tests.presentation.junit_structure import junit_faults
from toolevals.cli.main import main
from toolevals.cli.output import Exit

pytestmark = pytest.mark.servers

TOKEN = """
from toolevals.workspace.models import Project, User, Role
from toolevals.workspace.tokens.services import token_create
user = User.objects.get(email={email!r})
project = Project.objects.get(slug={project!r})
print(token_create(project=project, actor=user, user=user, name="gate", role=Role.{role})[1])
"""
DATASET = "support-messages"
LOW = ("--threshold-name", ".1", "--threshold-args-shape", ".1", "--threshold-args-semantic", ".1")


def token_of(app: Any, project: str, email: str = "otto@shop.example", role: str = "ADJUDICATOR") -> str:
    """Return a new token of a person's."""
    made: str = app.python(TOKEN.format(email=email, project=project, role=role))
    return made.strip()


@pytest.fixture(scope="module")
def sample(live_app_start) -> Iterator[Any]:
    """An application with the sample project, its two runs graded as they are first asked for."""
    app = live_app_start(sample=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOOLEVALS_URL", app.url)
        patch.setenv("TOOLEVALS_PROJECT", "shop-support")
        patch.setenv("TOOLEVALS_TOKEN", token_of(app, "shop-support"))
        for name in ("GITHUB_REF_NAME", "GITHUB_HEAD_REF", "CI_COMMIT_REF_NAME", "GITHUB_SHA", "CI_COMMIT_SHA"):
            patch.delenv(name, raising=False)
        yield app


def gate(capsys: Any, *asked: str) -> tuple[int, dict[str, Any]]:
    status = main(["gate", *asked, "--json"])
    printed = capsys.readouterr()
    return status, json.loads(printed.out) if printed.out else {"said": printed.err}


def failed(shown: dict[str, Any], metric: str) -> list[dict[str, Any]]:
    return [check for check in shown["checks"] if check["status"] == "failed" and check["metric"] == metric]


def test_the_sample_s_two_runs_pass_and_fail_on_a_threshold(sample, capsys):
    status, shown = gate(capsys, "--run", "2", "--threshold", "outcome=.2", *LOW, "--branch", "main")
    assert (status, shown["status"]) == (Exit.OK, "passed")
    assert shown["subject"].startswith("run 2 (baseline, descriptions after)")
    status, shown = gate(capsys, "--run", "1")
    assert (status, shown["status"]) == (Exit.FAILED, "failed")
    assert [check["bound"] for check in shown["checks"]] == [">= 0.95", ">= 0.97", ">= 0.93"]
    page = httpx.get(shown["links"]["confusion matrix"])
    assert page.status_code == 302  # to sign in


def test_a_worse_run_fails_on_regression_and_says_what_can_be_shown(sample, capsys):
    asked = (*LOW, "--fail-on-regression", "--worse-allowed", "1000")
    # The rewritten descriptions are the better ones.
    assert gate(capsys, "--run", "2", "--baseline", "1", "--branch", "main", *asked)[0] == Exit.OK
    status, shown = gate(capsys, "--run", "1", "--baseline", "branch:main", *asked)
    assert status == Exit.FAILED
    (worse,) = [
        check for check in shown["checks"] if check["status"] == "failed" and "tool_name_match" in check["name"]
    ]
    assert worse["observed"] < 0
    assert "can show a difference of" in worse["reason"]


def tool_of(row: dict[str, Any]) -> str:
    """Return the first tool that an example expects, empty where it expects no call."""
    if row.get("expectation", {}).get("kind") != "calls":
        return row.get("expected_tool") or ""
    first = row["expectation"]["alternatives"][0]
    (call, *_) = first.get("ordered") or first["unordered"]
    return str(call.get("any_order", [call])[0]["tool"])


def predictions(tmp_path: Path, wrong: set[int]) -> str:
    """Write what the sample's gold expects, except at these places, where another tool is called."""
    cases = tmp_path / "cases.jsonl"
    assert main(["export", f"{DATASET}@1", "-o", str(cases)]) == Exit.OK
    rows = [json.loads(line) for line in cases.read_text().splitlines()]
    due = [row["id"] for row in rows if tool_of(row)]
    made = tmp_path / f"made-{'-'.join(map(str, sorted(wrong)))}.jsonl"
    lines = [
        {"id": row["id"], "tool_calls": [{"name": tool, "arguments": {}}]}
        if (tool := tool_of(row)) and due.index(row["id"]) not in wrong
        else {"id": row["id"], "answer": "Good morning."}
        for row in rows
    ]
    made.write_text("\n".join(map(json.dumps, lines)))
    return str(made)


def test_a_regression_hidden_by_an_equal_average_fails(sample, tmp_path, capsys):
    numbers = []
    for wrong in ({0, 1, 2}, {3, 4, 5}):
        asked = ["--experiment", "swapped", "--predictions", predictions(tmp_path, wrong), "--name", "agent", "--json"]
        capsys.readouterr()
        assert main(["run", DATASET, *asked]) == Exit.OK
        numbers.append(str(json.loads(capsys.readouterr().out)["number"]))
    before, after = numbers
    rates = [gate(capsys, "--run", number, *LOW)[1]["checks"][0]["observed"] for number in numbers]
    assert rates[0] == rates[1]
    averages = tmp_path / "averages.json"
    averages.write_text('{"regressions": [{"rule": "averages", "metrics": ["selection"]}]}')
    assert gate(capsys, "--run", after, "--baseline", before, "--config", str(averages))[0] == Exit.OK
    compared = ("--run", after, "--baseline", before, *LOW, "--fail-on-regression", "--worse-allowed", "0")
    status, shown = gate(capsys, *compared)
    assert status == Exit.FAILED
    (hidden,) = failed(shown, "tool_name_match")
    assert (hidden["observed"], hidden["example_count"]) == (3, 3)


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        (["--run", "999999"], Exit.CONFIGURATION),
        (["--run", "2", "--baseline", "999999"], Exit.CONFIGURATION),
        (["--run", "2", "--baseline", "yesterday"], Exit.CONFIGURATION),
        (["--run", "2", "--baseline", "1"], Exit.CONFIGURATION),
        (["--run", "2", "--baseline", "branch:never", "--fail-on-regression"], Exit.CONFIGURATION),
        (["--run", "2", "--server", "http://127.0.0.1:9"], Exit.UNREACHABLE),
        (["--run", "2", "--timeout", "0", "--consistency", "nine"], Exit.CONFIGURATION),
    ],
)
def test_each_fault_has_its_status(sample, asked, status):
    assert main(["gate", *asked]) == status


def test_a_viewer_s_token_cannot_hold_a_gate(sample, monkeypatch):
    monkeypatch.setenv("TOOLEVALS_TOKEN", token_of(sample, "shop-support", "vi@shop.example", "VIEWER"))
    assert main(["gate", "--run", "2"]) == Exit.CONFIGURATION


@pytest.mark.parametrize("job", ["github server", "gitlab agent-gate-on-server"])
def test_the_ci_examples_with_a_server_run(sample, tmp_path, job, monkeypatch):
    place, project = checkout(tmp_path), f"ci-{job.split()[0]}"
    sample.python(
        "from toolevals.workspace.models import User\n"
        "from toolevals.workspace.projects.services import project_create\n"
        f"project_create(actor=User.objects.get(email='otto@shop.example'), slug={project!r}, name='CI')"
    )
    environment = {"TOOLEVALS_URL": sample.url, "TOOLEVALS_PROJECT": project}
    environment |= {"TOOLEVALS_TOKEN": token_of(sample, project), "GITHUB_SHA": "3f9c2ab", "CI_COMMIT_SHA": "3f9c2ab"}
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert main(["import", "jsonl", str(FOLDER / "cases.jsonl"), "--dataset", "core", "--freeze", "first"]) == Exit.OK
    with running_forge() as forge:
        done = run(runnable(job), place, forge.environment(tmp_path) | forge.gitlab_environment() | environment)
        assert done.returncode == 0, done.stdout + done.stderr
        assert junit_faults((place / "gate.xml").read_bytes()) == []
        (comment,) = forge.comments
    assert f"[confusion matrix]({sample.url}/p/{project}/runs/1/matrix/" in comment["body"]


def keep(app: Any, name: str, minimum: float, baseline: str = "") -> None:
    """Keep a gate of one bound in the project, over the REST interface."""
    body = {"name": name, "gate": {"bounds": [{"metric": "outcome", "min": minimum}]}, "baseline": baseline}
    answer = httpx.put(
        f"{app.url}/api/v1/projects/shop-support/named-gates/{name}/",
        json=body,
        headers={"Authorization": f"Bearer {os.environ['TOOLEVALS_TOKEN']}"},
    )
    assert answer.is_success, answer.text


def test_a_kept_gate_is_held_by_its_name(sample, capsys):
    keep(sample, "release", 0.2)
    assert main(["gate", "--run", "2", "--name", "release"]) == Exit.OK
    said = capsys.readouterr().out
    assert "Gate passed. 1 passed." in said
    # The server keeps under which name the run was held.
    token = {"Authorization": f"Bearer {os.environ['TOOLEVALS_TOKEN']}"}
    held = httpx.get(f"{sample.url}/api/v1/projects/shop-support/runs/2/gates/", headers=token).json()["results"]
    assert [each["name"] for each in held][:1] == ["release"]
    # What the command adds is asked too, and the page's change of the gate is in force at once.
    assert gate(capsys, "--run", "2", "--name", "release", "--threshold", "selection=1")[0] == Exit.FAILED
    keep(sample, "release", 0.99)
    status, shown = gate(capsys, "--run", "2", "--name", "release")
    assert (status, [check["bound"] for check in shown["checks"]]) == (Exit.FAILED, [">= 0.99"])


def test_a_kept_gate_brings_its_baseline(sample, capsys):
    keep(sample, "no-worse", 0.1, baseline="1")
    for more in ([], ["--fail-on-regression", "--worse-allowed", "1000"]):
        status, shown = gate(capsys, "--run", "2", "--name", "no-worse", *more)
        assert (status, shown["baseline"]) == (Exit.OK, "run 1")


@pytest.mark.parametrize("name", ["never-kept", "../release", "re lease", "a/b?c"])
def test_a_gate_that_is_not_kept_is_a_wrong_option_and_the_kept_ones_are_named(sample, name, capsys):
    keep(sample, "nightly", 0.1)
    assert main(["gate", "--run", "2", "--name", name]) == Exit.CONFIGURATION
    said = capsys.readouterr().err
    assert f"no gate named {name!r} in this project; it keeps " in said
    assert "nightly" in said
