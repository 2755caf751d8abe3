"""Compiles the hashed requirement files, and says whether they still agree with what they are compiled from."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from scripts.dev.environment import REQUIREMENTS, ROOT, UV_ENVIRONMENT, VENV, DevError, ensure, say

# The extras of the package that tests need.
EXTRAS = ("server", "sdk", "data", "s3", "sentry", "saml")
# Name of the file in requirements/ -> what it is compiled from. A later file agrees with the earlier ones.
SOURCES: dict[str, list[str]] = {
    "uv": ["requirements/uv.in"],
    "build": ["--group", "build"],
    "run": ["pyproject.toml", "--extra", "server"],
    "dev": [
        *("pyproject.toml", *(word for extra in EXTRAS for word in ("--extra", extra))),
        *("--group", "dev", "--constraints", "requirements/run.txt"),
    ],
}
HASH = re.compile(r"\s*\\?\n?\s*--hash=\S+")


def lock(arguments: argparse.Namespace) -> int:
    """Compile all of them, keeping the versions they name unless told otherwise."""
    ensure("dev")
    for name in SOURCES:
        compile_to(REQUIREMENTS / f"{name}.txt", name, arguments.options)
        say(f"requirements/{name}.txt")
    return 0


def compile_to(target: Path, name: str, options: Sequence[str] = ()) -> None:
    """Compile one; versions that `target` names already are kept. Raises DevError."""
    command = [str(VENV / "bin" / "uv"), "pip", "compile", "--quiet", "--universal", "--python-version", "3.11"]
    command += ["--generate-hashes", "--no-emit-index-url", "--no-annotate", "--no-header"]
    command += [*SOURCES[name], *options, "-o", str(target)]
    if subprocess.run(command, cwd=ROOT, env=os.environ | UV_ENVIRONMENT, check=False).returncode:
        raise DevError(f"requirements/{name}.txt could not be compiled: see above.")


def stale() -> list[str]:
    """Return the names of those that no longer follow from pyproject.toml. Raises DevError."""
    found = []
    for name in SOURCES:
        path = REQUIREMENTS / f"{name}.txt"
        with tempfile.TemporaryDirectory() as folder:
            fresh = Path(shutil.copy(path, folder))
            compile_to(fresh, name)
            # A release may gain files, and so hashes, at any time: that makes no lock stale.
            if pins(fresh.read_text()) != pins(path.read_text()):
                found.append(name)
    return found


def pins(text: str) -> list[str]:
    """Return the lines that name versions, without their hashes."""
    return [line for line in HASH.sub("", text).splitlines() if line.strip()]
