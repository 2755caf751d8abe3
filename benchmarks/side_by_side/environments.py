"""Makes an environment for each tool, of hashed requirements: once, and again where they change."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.side_by_side.tools import Tool
from scripts.dev.environment import UV_ENVIRONMENT

# What their requirements are compiled for.
VERSION = "3.11"
STAMP = "requirements.sha256"


class CannotInstallError(Exception):
    """A tool cannot be installed here; the text says why."""


def python_for(tool: Tool, folder: Path, *, seconds: float) -> str:
    """Return the Python of a tool in `folder`, where its environment is made if need be. Raises CannotInstallError."""
    if tool.is_ours:
        return sys.executable
    python, stamp = folder / tool.key / "bin" / "python", folder / tool.key / STAMP
    wanted = hashlib.sha256(tool.requirements.read_bytes()).hexdigest()
    if python.exists() and stamp.exists() and stamp.read_text() == wanted:
        return str(python)
    sys.stderr.write(f"Installing {tool.title}\n")
    folder.mkdir(parents=True, exist_ok=True)
    _run([interpreter(), "-m", "venv", "--clear", str(folder / tool.key)], seconds)
    _run(installation(python, tool.requirements), seconds)
    # Written last: what was broken off is made again.
    stamp.write_text(wanted)
    return str(python)


def installation(python: Path, requirements: Path) -> list[str]:
    """Return the command that installs exactly these requirements: of uv, or of pip where uv is not there."""
    uv = Path(sys.executable).parent / "uv"
    if uv.exists():
        return [str(uv), "pip", "sync", "--quiet", "--require-hashes", "--python", str(python), str(requirements)]
    words = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "--no-deps"]
    return [str(python), *words, "-r", str(requirements)]


def interpreter() -> str:
    """Return a Python of VERSION. Raises CannotInstallError."""
    if f"{sys.version_info.major}.{sys.version_info.minor}" == VERSION:
        return sys.executable
    found = shutil.which(f"python{VERSION}")
    # A shim of a version that is not there is found, too, and does not start.
    if found and subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode == 0:
        return found
    raise CannotInstallError(f"needs Python {VERSION}, which is not on this machine")


def _run(command: list[str], seconds: float) -> None:
    # uv is told which Python it installs into, and no environment of its own.
    environment = os.environ | {name: value for name, value in UV_ENVIRONMENT.items() if name != "VIRTUAL_ENV"}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise CannotInstallError(f"was not installed within {seconds:g} seconds") from None
    if done.returncode:
        said = done.stderr.strip() or done.stdout.strip()
        raise CannotInstallError(f"could not be installed: {said[-300:]}")
