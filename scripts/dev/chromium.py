"""Finds a Chromium for the browser tests, or installs one."""

from __future__ import annotations

import shutil
import subprocess

from scripts.dev import debian
from scripts.dev.environment import in_venv

# The headless shell draws the same pages for a third less of processor time.
SHELL = "chromium-headless-shell"
NAMES = (SHELL, "chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
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
    for name in (SHELL, "chromium"):
        if on_path() is None:
            debian.install(name, "fonts-dejavu-core")
    if not available():
        subprocess.run(in_venv("-m", "playwright", "install", "chromium"), check=False)
    return available()
