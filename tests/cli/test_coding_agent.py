"""A coding agent's stub walks from a confusion to the verdict on its pull request, by our doors and a local forge."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from scripts.dev.environment import ROOT
from tests.cli.forge import COMMIT, PULL_REQUEST, REPOSITORY, TOKEN, Forge, running_forge
from tests.cli.mcp_session import graded_sample, solved
from tests.cli.mcp_tasks import Ask
from toolevals.cli.output import Exit

pytestmark = pytest.mark.servers

FILE = "shop/tools.json"
GATE = """
bounds: [{metric: selection, min: 0.3}]
regressions: [{rule: cases, metrics: [selection], most: 2}]
"""


@dataclass
class Walk:
    """One walk: `write` makes the new description of a tool from what was read. `steps` records what was done."""

    address: str
    token: str
    checkout: Path
    write: Callable[[str, str], str]
    steps: list[str] = field(default_factory=list)
    found: dict[str, Any] = field(default_factory=dict)

    async def improve(self, ask: Ask) -> None:
        """Find the largest confusion of two tools, try another description, and compare."""

        async def noted(name: str, **arguments: Any) -> Any:
            if self.steps[-1:] != [name]:
                self.steps.append(name)
            return await ask(name, **arguments)

        registry = (await noted("show_project"))["registries"][0]["slug"]
        run = next(each for each in (await noted("list_runs"))["runs"] if each["registry"] == f"{registry}@2")["run"]
        cells = (await noted("find_confusions", run=run, most=20))["confusions"]
        worst = next(each for each in cells if "(none)" not in (each["expected"], each["called"]))
        pair = {name: worst[name] for name in ("expected", "called")}
        await noted("read_confusion", run=run, **pair)
        for case in (await noted("list_cases", run=run, **pair))["cases"][:5]:
            await noted("show_case", run=run, case=case["case"])
        await noted("pair_history", **pair)
        tool = await noted("show_tool", registry=registry, tool=pair["expected"])
        text = self.write(tool["history"][0]["description"], pair["called"])
        draft = await noted(
            "draft_version",
            registry=registry,
            descriptions=[{"tool": tool["tool"], "description": text}],
            note=f"{pair['called']} was called in its place",
        )
        asked = {"like_run": run, "registry_version": draft["version"]}
        await noted("estimate_run", **asked)
        started = await noted("start_run", **asked)
        while (work := await noted("wait_for_job", job=started["job"]))["state"] in ("queued", "running"):
            pass
        assert work["state"] == "succeeded"
        compared = await noted("compare_runs", baseline=run, candidate=started["run"])
        self.found = {"run": run, "new": started["run"], "tool": tool["tool"], "text": text, "compared": compared}

    def git(self, *words: str) -> str:
        command = ["git", "-c", "user.name=Agent", "-c", "user.email=agent@shop.example", *words]
        return subprocess.run(command, cwd=self.checkout, check=True, capture_output=True, text=True).stdout

    def open_pull_request(self, forge: Forge) -> int:
        """Commit the description on a branch, push it, and open a pull request."""
        self.steps.append("open a pull request")
        file = self.checkout / FILE
        tools = json.loads(file.read_text())
        for each in tools:
            if each["name"] == self.found["tool"]:
                each["description"] = self.found["text"]
        self.git("switch", "-c", "description")
        file.write_text(json.dumps(tools, indent=2))
        sentence = self.found["compared"]["sentence"]
        self.git("commit", "-am", f"Say when {self.found['tool']} is right\n\n{sentence}")
        # A push: the forge knows which files the branch changes.
        forge.changed = self.git("diff", "--name-only", "main").split()
        said = {"title": self.git("log", "-1", "--format=%s").strip(), "head": "description", "base": "main"}
        made = self.forge(forge).post("pulls", json=said | {"body": sentence}).raise_for_status()
        return int(made.json()["number"])

    def job(self, forge: Forge, folder: Path) -> int:
        """Run what the forge's job on the pull request runs."""
        self.steps.append("toolevals gate --github")
        known = {
            **os.environ,
            **forge.environment(folder),
            "GITHUB_WORKSPACE": str(self.checkout),
            "PYTHONPATH": str(ROOT),
            "TOOLEVALS_URL": self.address,
            "TOOLEVALS_PROJECT": "shop-support",
            "TOOLEVALS_TOKEN": self.token,
        }
        asked = ["gate", "--run", str(self.found["new"]), "--baseline", str(self.found["run"]), "--config", "gate.yaml"]
        command = [sys.executable, "-m", "toolevals.cli.main", *asked, "--github"]
        done = subprocess.run(command, cwd=self.checkout, env=known, capture_output=True, text=True, check=False)
        assert done.stderr.count("--github") == 0, done.stderr
        return done.returncode

    def verdict(self, forge: Forge) -> tuple[bool, str]:
        """Read the verdict where a team reads it: whether the gate is passed, and the sentence on what changed."""
        self.steps.append("read the comment")
        (comment,) = self.forge(forge).get(f"issues/{PULL_REQUEST}/comments").raise_for_status().json()
        lines = comment["body"].splitlines()
        bold = next(line.strip("*") for line in lines if line.startswith("**"))
        return lines[1].startswith("### ✅"), bold

    @staticmethod
    def forge(forge: Forge) -> httpx.Client:
        return httpx.Client(base_url=f"{forge.url}/repos/{REPOSITORY}/", headers={"Authorization": f"Bearer {TOKEN}"})


def careful(text: str, other: str) -> str:
    return f"{text} Also when only one thing of an order is asked about. Not {other} then."


def vague(text: str, other: str) -> str:
    return "Use this tool when information is needed."


@pytest.fixture(scope="module")
def sample(live_app_start):
    return graded_sample(live_app_start(sample=True))


@pytest.fixture
def checkout(sample, tmp_path):
    """A checkout whose file of tools is what the registry holds, and a gate."""
    address, token = sample
    path = f"{address}/api/v1/projects/shop-support/registries/shop-tools/versions/2/"
    tools = httpx.get(path, headers={"Authorization": f"Bearer {token}"}).raise_for_status().json()["tools"]
    place = tmp_path / "checkout"
    (place / FILE).parent.mkdir(parents=True)
    (place / FILE).write_text(json.dumps(tools, indent=2))
    (place / "gate.yaml").write_text(GATE)
    return place


@pytest.mark.parametrize("write", [careful, vague])
def test_from_a_confusion_to_the_verdict_on_the_pull_request(sample, checkout, tmp_path, write):
    address, token = sample
    walk = Walk(address, token, checkout, write)
    walk.git("init", "-q", "-b", "main")
    walk.git("add", ".")
    walk.git("commit", "-qm", "The shop's agent")
    solved(walk.address, walk.token, walk.improve)
    with running_forge() as forge:
        assert walk.open_pull_request(forge) == PULL_REQUEST
        status = walk.job(forge, tmp_path)
        passed, sentence = walk.verdict(forge)
    assert walk.steps == [
        *("show_project", "list_runs", "find_confusions", "read_confusion", "list_cases", "show_case", "pair_history"),
        *("show_tool", "draft_version", "estimate_run", "start_run", "wait_for_job", "compare_runs"),
        *("open a pull request", "toolevals gate --github", "read the comment"),
    ]
    # What the agent was told by MCP, the team is told on the pull request.
    outcome = walk.found["compared"]["changes"][0]
    assert sentence.partition(":")[0] == walk.found["compared"]["sentence"].partition(":")[0]
    assert f"outcome {100 * outcome['after']:.1f} %" in sentence
    assert passed is (status == Exit.OK) is (write is careful)
    ((commit, said),) = forge.statuses
    assert (commit, said["state"]) == (COMMIT, "success" if passed else "failure")
    # The tool is annotated at the line of the file on which it stands.
    (check,) = forge.checks.values()
    noted = {each["title"].partition(":")[0]: each for each in check["output"]["annotations"]}
    about = noted[walk.found["tool"]]
    assert about["path"] == FILE
    assert f'"name": "{walk.found["tool"]}"' in (checkout / FILE).read_text().splitlines()[about["start_line"] - 1]
    assert write is careful or about["annotation_level"] == "warning"
