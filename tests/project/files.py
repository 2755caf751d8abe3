"""The files that belong to the project."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from scripts.dev.environment import ROOT

VENDORED = ("static/vendor/", "tests/vendor/", "static/fonts/")


def project_files(*suffixes: str) -> list[Path]:
    """Return the project's own files with these suffixes; all of them when none is given."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        names = listed.stdout.splitlines()
    else:  # an unpacked archive
        names = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if path.is_file()]
    own = [name for name in names if not name.startswith((*VENDORED, ".venv/", ".git/"))]
    return [ROOT / name for name in own if (ROOT / name).exists() and (not suffixes or Path(name).suffix in suffixes)]


def lines_matching(paths: list[Path], pattern: str) -> list[str]:
    """Return `file:line: text` of every line in which the pattern occurs, whatever its case."""

    found = re.compile(pattern, re.IGNORECASE)
    return [
        f"{path.relative_to(ROOT)}:{number}: {text.strip()[:160]}"
        for path in paths
        for number, text in enumerate(path.read_text(errors="replace").splitlines(), 1)
        if found.search(text)
    ]
