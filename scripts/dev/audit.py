"""Asks which packages of the requirement files have known vulnerabilities: `./dev audit`."""

from __future__ import annotations

import argparse
import os
import subprocess

from scripts.dev.environment import REQUIREMENTS, UV_ENVIRONMENT, VENV, ensure, say
from scripts.dev.locks import SOURCES

PIP_AUDIT = "pip-audit==2.10.1"


def audit(_: argparse.Namespace) -> int:
    """Run pip-audit; return a status other than 0 where a package has one, or could not be looked up."""
    ensure("dev")
    command = [str(VENV / "bin" / "uvx"), "--quiet", "--from", PIP_AUDIT, "pip-audit"]
    # What a service does not know is not known to be sound.
    command += ["--strict", "--disable-pip", "--require-hashes"]
    command += [word for name in SOURCES for word in ("--requirement", str(REQUIREMENTS / f"{name}.txt"))]
    if status := subprocess.run(command, env=os.environ | UV_ENVIRONMENT, check=False).returncode:
        say("A vulnerability is known, or a package could not be looked up: see above. This asks PyPI by the network.")
    return status
