"""Installs the packages of Debian that the tests use, where that can be done without asking."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def install(*packages: str) -> None:
    """Install packages, as root on Debian; elsewhere, and where it fails, the step that needs them says so."""
    if os.geteuid() != 0 or not _is_here():
        return
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    apt_install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages]
    for command in (["apt-get", "update", "-qq"], apt_install):
        subprocess.run(command, env=environment, check=False, stdin=subprocess.DEVNULL)


def _is_here() -> bool:
    """Return whether this is Debian itself: elsewhere a package of the same name may be an empty shell."""
    try:
        return "ID=debian" in Path("/etc/os-release").read_text().splitlines()
    except OSError:
        return False
