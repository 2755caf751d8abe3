"""The wheel, built once for all tests of a run, and an environment that it is installed into."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from scripts.dev.build import archives
from scripts.dev.environment import ROOT
from tests.fixtures.prepared import prepared_copy
from tests.project.files import project_files
from tests.servers.kept import alone
from tests.servers.process import free_port
from toolevals.serving.preparation import Preparation

PASSWORD = "correct horse battery"


class Built(NamedTuple):
    """The source archive and the wheel."""

    sdist: Path
    wheel: Path


def built_once(root: Path) -> Built:
    """Build both from a copy of the project's files with what is installed already; the first of all processes does."""
    folder = root / "wheel"
    with alone(root / "wheel.lock"):
        if not folder.exists():
            making = root / "wheel-making"
            shutil.rmtree(making, ignore_errors=True)
            source_copy(making / "source")
            archives(making / "source", making / "dist")
            making.rename(folder)
    (sdist,), (wheel,) = (folder / "dist").glob("*.tar.gz"), (folder / "dist").glob("*.whl")
    return Built(sdist, wheel)


def source_copy(folder: Path) -> None:
    """Copy the project's files, as a clone holds them."""
    vendored = [path for name in ("static", "toolevals/sample") for path in (ROOT / name).rglob("*")]
    for path in {*project_files(), *(path for path in vendored if path.is_file())}:
        target = folder / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())


class Machine:
    """A home and an empty environment with `pip`, away from any checkout; what is installed there needs no index."""

    def __init__(self, folder: Path, prepared: Path) -> None:
        self.home = folder / "home"
        self.data = self.home / ".local" / "share" / "toolevals"
        # Applying every migration takes a minute. It is not known here what was applied: the wheel looks for itself.
        # It finds compressed what is the same in it: that takes ten seconds of processor time.
        prepared_copy(prepared, self.data, sample=False)
        replace(Preparation.of(self.data), tables="").keep(self.data)
        python = folder / "environment" / "bin" / "python"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(python.parent.parent)], check=True)
        where = ["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
        packages = Path(subprocess.run([python, *where], capture_output=True, text=True, check=True).stdout.strip())
        pip = python.with_name("pip")
        pip.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pip --python "{python}" "$@"\n')
        pip.chmod(0o755)
        # What the wheel depends on is the suite's own.
        (packages / "suite.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
        self.command = python.with_name("toolevals")
        self.environment = {
            "PATH": f"{self.command.parent}:{os.defpath}",
            "HOME": str(self.home),
            "TOOLEVALS_PASSWORD": PASSWORD,
            **dict.fromkeys(("PIP_NO_DEPS", "PIP_NO_INDEX", "PIP_QUIET", "PIP_DISABLE_PIP_VERSION_CHECK"), "1"),
        }

    def shell(self, line: str, **options: Any) -> tuple[int, str]:
        """Run a line as a person's shell does; return its status and all that it prints."""
        done = subprocess.run(
            ["/bin/sh", "-c", line], cwd=self.home, env=self.environment, text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options,
        )  # fmt: skip
        return done.returncode, done.stdout

    @contextmanager
    def serving(self, line: str = "toolevals serve --no-sample") -> Iterator[tuple[str, str]]:
        """Serve on a port of its own; give the address and what was printed until it was there; stop as Ctrl-C does."""
        port = free_port()
        process = subprocess.Popen(
            ["/bin/sh", "-c", f"exec {line} --port {port}"],
            cwd=self.home,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            said = ""
            assert process.stdout is not None
            for printed in process.stdout:
                said += printed
                if printed.startswith("Create the first account with"):
                    break
            yield f"http://127.0.0.1:{port}", said
        finally:
            process.terminate()
            rest = process.communicate(timeout=60)[0]
        assert "Stopping" in rest
        assert process.returncode == 0


class Installed(Machine):
    """A machine on which the wheel is installed: its command."""

    def __init__(self, folder: Path, wheel: Path, prepared: Path) -> None:
        super().__init__(folder, prepared)
        # This machine serves what it compresses itself.
        replace(Preparation.of(self.data), static="").keep(self.data)
        shutil.rmtree(self.data / "static")
        status, said = self.shell(f"pip install {shlex.quote(str(wheel))}")
        assert status == 0, said

    def __call__(self, *words: str, status: int = 0, **options: Any) -> str:
        """Run the command, whose exit status must be this, and return all that it prints."""
        done = subprocess.run(
            [self.command, *words], cwd=self.home, env=self.environment, text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options,
        )  # fmt: skip
        assert done.returncode == status, done.stdout
        said: str = done.stdout
        return said
