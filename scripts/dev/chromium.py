"""A Chromium for the browser tests: found, or installed."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from scripts.dev.environment import in_venv

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
APT_INSTALL = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium", "fonts-dejavu-core"]
DOWNLOADED = """
import pathlib, sys
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    sys.exit(not pathlib.Path(playwright.chromium.executable_path).exists())
"""


def on_path() -> str | None:
    """Return the browser's program among the commands of this machine."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def available() -> bool:
    """Return whether there is a browser: one on the PATH, or the one that Playwright downloads."""
    return on_path() is not None or subprocess.run(in_venv("-c", DOWNLOADED), check=False).returncode == 0


def install() -> bool:
    """Install one, as root on Debian from the distribution, else by Playwright; return whether there is one now."""
    if os.geteuid() == 0 and debian():
        environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        for command in (["apt-get", "update", "-qq"], APT_INSTALL):
            subprocess.run(command, env=environment, check=False, stdin=subprocess.DEVNULL)
    if not available():
        subprocess.run(in_venv("-m", "playwright", "install", "chromium"), check=False)
    return available()


def debian() -> bool:
    """Return whether this is Debian itself: elsewhere the package of this name may be an empty shell."""
    try:
        return "ID=debian" in Path("/etc/os-release").read_text().splitlines()
    except OSError:
        return False
