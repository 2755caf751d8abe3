"""Makes the virtual environment `.venv`, from the hashed requirement files."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Literal, NoReturn

ROOT = Path(__file__).resolve().parent.parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "installed.json"
REQUIREMENTS = ROOT / "requirements"
# No Python is downloaded, and certificates are the system's, as every other program here takes them.
UV_ENVIRONMENT = {"UV_PYTHON_DOWNLOADS": "never", "UV_SYSTEM_CERTS": "1", "VIRTUAL_ENV": str(VENV)}


class DevError(Exception):
    """Something that a person can put right; the text says what to do."""


def say(line: str) -> None:
    """Write one line at once, so that it stands in order with what child processes write."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def in_venv(*words: str) -> list[str]:
    """Return the command that runs the environment's Python with these words."""
    return [str(PYTHON), *words]


def become(command: list[str]) -> NoReturn:
    """Go on as this command, in the project's folder."""
    os.chdir(ROOT)
    os.execv(command[0], command)


def keep_bytecode() -> None:
    """Let every Python that is started keep what it compiles in `.venv`, whatever the environment says.

    A check starts hundreds of them, and compiling takes longer than most of what they then do.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(VENV / "bytecode")


def ensure(kind: Literal["run", "dev"]) -> None:
    """Make the environment hold exactly what the requirement file names; at once when it does already."""
    wanted = digest(kind)
    if installed().get(kind) == wanted and healthy():
        return
    writable(ROOT)
    if not healthy():
        say("Making .venv")
        make()
    say(f"Installing requirements/{kind}.txt")
    install(REQUIREMENTS / f"{kind}.txt")
    command_line()
    # What tests need includes what the application needs.
    stamp = {"run": digest("run"), "dev": wanted} if kind == "dev" else {"run": wanted}
    STAMP.write_text(json.dumps(stamp))


def digest(kind: str) -> str:
    """Return the hash of a requirement file."""
    return hashlib.sha256((REQUIREMENTS / f"{kind}.txt").read_bytes()).hexdigest()


def installed() -> dict[str, str]:
    """Return which requirement files the environment was installed from: name -> hash."""
    try:
        stamp: dict[str, str] = json.loads(STAMP.read_text())
    except (OSError, ValueError):
        return {}
    return stamp


def healthy() -> bool:
    """Return whether the environment's Python starts and has pip; a system upgrade may have taken it away."""
    try:
        return subprocess.run(in_venv("-c", "import pip"), capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def writable(folder: Path) -> None:
    """Raise DevError unless files can be made in the folder."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        probe = folder / f".writable-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise DevError(
            f"Cannot write in {folder} ({error.strerror}). Copy the project to a folder of your own."
        ) from error


def make() -> None:
    """Make the virtual environment. Raises DevError."""
    if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise DevError(
            f"This Python ({sys.executable}) lacks the venv module. "
            f"On Debian or Ubuntu: apt-get install python{version}-venv"
        )
    result = subprocess.run([sys.executable, "-m", "venv", "--clear", str(VENV)], check=False)
    if result.returncode:
        raise DevError(f"{sys.executable} could not make .venv: see above.")


def install(requirements: Path) -> None:
    """Install exactly these requirements with uv, or with pip where uv cannot do it. Raises DevError."""
    pip = in_venv("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "--no-deps")
    if subprocess.run([*pip, "-r", str(REQUIREMENTS / "uv.txt")], check=False).returncode == 0:
        sync = [str(VENV / "bin" / "uv"), "pip", "sync", "--quiet", "--require-hashes", "--python", str(PYTHON)]
        if subprocess.run([*sync, str(requirements)], env=os.environ | UV_ENVIRONMENT, check=False).returncode == 0:
            return
    say("uv cannot install them here; trying pip")
    if subprocess.run([*pip, "-r", str(requirements)], check=False).returncode:
        raise DevError(
            "The packages could not be installed: see above. Does this machine reach a Python package index?"
        )


def command_line() -> None:
    """Put the `toolevals` command into the environment, running from this folder."""
    launcher = VENV / "bin" / "toolevals"
    launcher.write_text(
        f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(ROOT))} exec {shlex.quote(str(PYTHON))} -m toolevals.cli.main "$@"\n'
    )
    launcher.chmod(0o755)
