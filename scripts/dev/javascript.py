"""Checks the scripts of the pages, where Node.js is there: `python -m scripts.dev.javascript`, a step of `./dev check`.

ESLint reads them for mistakes, and TypeScript's compiler for names, calls and values that do not fit; types come from
JSDoc. Both are installed from the hashed `scripts/javascript/package-lock.json`. Nothing of them is served.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from typing import Final

from scripts.dev.environment import ROOT, say

FOLDER: Final = ROOT / "scripts" / "javascript"
STAMP: Final = FOLDER / "node_modules" / "installed.txt"
SCRIPTS: Final = "static/js"


def available() -> bool:
    """Return whether Node.js and npm are on the path."""
    return shutil.which("node") is not None and shutil.which("npm") is not None


def install() -> bool:
    """Install what the lock file names, unless it is there already; return whether it is there."""
    digest = hashlib.sha256((FOLDER / "package-lock.json").read_bytes()).hexdigest()
    if STAMP.exists() and STAMP.read_text(encoding="utf-8") == digest:
        return True
    # Without a network this ends within a minute.
    patience = ["--fetch-retries", "1", "--fetch-timeout", "30000"]
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error", *patience]
    if subprocess.run(command, cwd=FOLDER, check=False).returncode:
        say("ESLint and TypeScript could not be installed: see above.")
        return False
    STAMP.write_text(digest, encoding="utf-8")
    return True


def main() -> int:
    """Run both; return 1 if one of them finds a fault or could not be installed."""
    if not install():
        return 1
    programs = FOLDER / "node_modules" / ".bin"
    commands = (
        [str(programs / "eslint"), "--config", str(FOLDER / "eslint.config.js"), "--max-warnings", "0", SCRIPTS],
        [str(programs / "tsc"), "--project", str(FOLDER)],
    )
    statuses = [subprocess.run(command, cwd=ROOT, check=False).returncode for command in commands]
    return int(any(statuses))


if __name__ == "__main__":
    sys.exit(main())
