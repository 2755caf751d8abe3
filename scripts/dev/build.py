"""Builds the source archive and the wheel of what is committed, in `dist`, byte for byte the same: `./dev build`."""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from scripts.dev.environment import ROOT, DevError, ensure, in_venv, say

SDIST = "import sys; from setuptools.build_meta import build_sdist; build_sdist(sys.argv[1])"


def build(_: argparse.Namespace) -> int:
    """Build both from the last commit, and say what came out. Raises DevError."""
    ensure("dev")
    epoch = git("log", "-1", "--format=%ct").decode().strip()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        with tarfile.open(fileobj=io.BytesIO(git("archive", "HEAD"))) as archive:
            _extract(archive, source)
        for path in archives(source, ROOT / "dist", in_venv()[0], epoch):
            say(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(ROOT)}")
    return 0


def archives(source: Path, target: Path, python: str = sys.executable, epoch: str = "1767225600") -> tuple[Path, Path]:
    """Build the source archive from a copy of the project, and the wheel from that archive; return both.

    `epoch` is the time of every file in them, in seconds. What builds them is what `python` has installed: nothing is
    fetched. Raises DevError.
    """
    target.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {"SOURCE_DATE_EPOCH": epoch}
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder)
        _run([python, "-c", SDIST, str(made)], source, environment)
        (drawn,) = made.glob("*.tar.gz")
        sdist = _dated(drawn, target / drawn.name, int(epoch))
        with tarfile.open(sdist) as archive:
            _extract(archive, made)
        wheel = [python, "-m", "pip", "wheel", "--quiet", "--no-build-isolation", "--no-deps", "--no-index"]
        _run([*wheel, "--wheel-dir", str(made), str(made / drawn.name.removesuffix(".tar.gz"))], made, environment)
        (built,) = made.glob("*.whl")
        (target / built.name).write_bytes(built.read_bytes())
    return sdist, target / built.name


def git(*words: str) -> bytes:
    """Return what git prints. Raises DevError."""
    try:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise DevError("Only a git checkout is built: what is committed goes into a release.") from error


def _run(command: list[str], folder: Path, environment: dict[str, str]) -> None:
    done = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode:
        raise DevError(f"{done.stdout}\nThe build failed: see above.")


def _extract(archive: tarfile.TarFile, folder: Path) -> None:
    """Unpack an archive that was made here. Python has the filter since 3.11.4; before, it takes no such word."""
    if hasattr(tarfile, "data_filter"):
        archive.extractall(folder, filter="data")
    else:
        archive.extractall(folder)  # noqa: S202 - it was made here


def _dated(archive: Path, target: Path, epoch: int) -> Path:
    """Write a source archive again in a fixed order, with one time and no owner, so that it never differs."""
    with (
        tarfile.open(archive) as old,
        target.open("wb") as file,
        gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=epoch) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as new,
    ):
        for entry in sorted(old.getmembers(), key=lambda each: each.name):
            entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = epoch, 0, 0, "", ""
            entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
            entry.pax_headers = {}
            new.addfile(entry, old.extractfile(entry) if entry.isfile() else None)
    return target
