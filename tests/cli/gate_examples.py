"""The examples in docs/examples/gate: their CI files read, their commands run as CI would."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from scripts.dev.environment import ROOT

FOLDER = ROOT / "docs" / "examples" / "gate"
# Not to be had here: a package index, and the hosts of the code.
_NOT_HERE = "pip install"


def scripts() -> dict[str, list[str]]:
    """Return the commands of each job, by CI and job."""
    github = yaml.safe_load((FOLDER / "github.yml").read_text())
    gitlab = yaml.safe_load((FOLDER / "gitlab.yml").read_text())
    steps = {f"github {name}": job["steps"] for name, job in github["jobs"].items()}
    found = {name: [step["run"] for step in each if "run" in step] for name, each in steps.items()}
    return found | {f"gitlab {name}": job["script"] for name, job in gitlab.items()}


def runnable(job: str) -> str:
    """Return a job's commands that can be run here, as one script that stops at the first failure."""
    return "set -e\n" + "\n".join(each for each in scripts()[job] if not each.startswith(_NOT_HERE))


def checkout(folder: Path) -> Path:
    """Return a copy of the examples, with a baseline, and the command on the path beside it."""
    place = Path(shutil.copytree(FOLDER, folder / "checkout"))
    command = folder / "bin"
    command.mkdir()
    for name, words in (("toolevals", "-m toolevals.cli.main"), ("python", "")):
        file = command / name
        file.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        file.chmod(0o755)
    run("python agent.py cases.jsonl > baseline.jsonl", place)
    return place


def run(script: str, place: Path, environment: Mapping[str, str] | None = None) -> Any:
    """Run a script in the checkout."""
    path = f"{place.parent / 'bin'}:{os.environ['PATH']}"
    known = {"PATH": path, "PYTHONPATH": str(ROOT), "HOME": str(place.parent), **(environment or {})}
    return subprocess.run(
        ["/bin/sh", "-c", script], cwd=place, env=known, capture_output=True, text=True, check=False, timeout=300
    )
