"""Runs everything that says whether the project is sound: `./dev test`, `./dev check`, `./dev fmt`."""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from collections.abc import Sequence

from scripts.dev import chromium, debian, javascript, locks
from scripts.dev.changed import changed_tests
from scripts.dev.environment import ROOT, DevError, ensure, in_venv, keep_bytecode, say
from scripts.dev.session import POOL, Session, run
from scripts.dev.test_places import CORE, SLOW_LANE, files_starting

PYTHON_PATHS = ["toolevals", "labeling", "reports", "tests", "scripts", "benchmarks", "manage.py"]
TYPES = ["types", "-m", "mypy", *PYTHON_PATHS]
# Tests hold words of many languages.
SPELLED = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs", *(path for path in PYTHON_PATHS if path != "tests")]
# Who has nothing left to do takes over what waits for another.
PARALLEL = ["-n", "2", "--dist", "worksteal"]
# A test waits while PostgreSQL works for it, and PostgreSQL while the test does: one more than there are cores.
ON_SERVER = ["-n", "3", "--dist", "worksteal"]
# The tests of a file share what they put into a database, and the longest files come first: tests/fixtures/order.py.
# These tests wait for half of their time, for a process, a page or a lease: more of them run at once than there are
# cores. With four the stage takes longer, and pages are too slow for tests that type into them.
WAITING = ["-n", "3", "--dist", "loadfile", "--no-loadscope-reorder"]
# Of each law. `./dev test` takes ten times as many.
FEW_DRAWS = "8"
IN_PROCESS = "not servers and not browser"
WITH_BROWSERS = "(servers or browser) and not slow_lane"
# Loading all files takes each process of a stage many seconds.
WITHOUT_CORE = [f"--ignore={folder}" for folder in CORE]


def test(_: argparse.Namespace) -> int:
    """Run everything."""
    # What the machine lacks is fetched while processors have other work.
    sandbox = POOL.submit(sandbox_install)
    ensure("dev")
    keep_bytecode()
    sandbox.result()
    # Where the stages find the data folders that one of them has prepared: tests/fixtures/prepared.py.
    with tempfile.TemporaryDirectory(prefix="toolevals-prepared-") as prepared:
        os.environ["PREPARED_FOLDERS"] = prepared
        return all_stages(Session())


def all_stages(session: Session) -> int:
    """Run every stage and say how it went; return the exit status."""
    session.step("requirement files follow from pyproject.toml", locks_fresh)
    browser = POOL.submit(lambda: chromium.available() or chromium.install())
    javascript_there = POOL.submit(javascript_install)
    # In one process: all of these tests watch one application.
    slow_lane_shown = session.tests_meanwhile("tests in the slow lane", "-m", "slow_lane", SLOW_LANE, needs=browser)
    session.tests("tests on SQLite", *PARALLEL, "-m", f"{IN_PROCESS} and not only_postgresql")
    # The tests on SQLite leave no processor idle, and those after them do.
    commands = (types_once(), *static_checks(javascript_there.result()))
    static_shown = [session.meanwhile(*command, when_idle=True) for command in commands]
    on_postgresql = f"database and {IN_PROCESS} and not only_sqlite"
    session.tests("tests on PostgreSQL and Redis", *ON_SERVER, *WITHOUT_CORE, "-m", on_postgresql, servers=True)
    if browser.result():
        slow_lane_shown()
        session.tests("tests with servers, workers and browsers", *WAITING, "-m", WITH_BROWSERS, *files_starting())
    else:
        session.tests("tests with servers and workers", *WAITING, "-m", "servers and not browser", *files_starting())
        session.not_run.append("tests in a browser: no Chromium, and it could not be installed; see above")
    for show in static_shown:
        show()
    return session.summary()


def types_once() -> list[str]:
    """Return the check of types. Where nothing is kept of one before, nothing is kept for the next: that takes time."""
    kept = (ROOT / ".mypy_cache").exists()
    return TYPES if kept else [*TYPES, f"--cache-dir={os.devnull}"]


def check(_: argparse.Namespace) -> int:
    """Run what takes less than a minute: tests of the core, and first those of what changed."""
    ensure("dev")
    keep_bytecode()
    session = Session()
    types_shown = session.meanwhile(*TYPES)
    for command in static_checks(javascript_install()):
        session.command(*command)
    alone = f"not database and {IN_PROCESS} and not thorough"
    os.environ["LAWS_DRAWS"] = FEW_DRAWS
    if tests := changed_tests():
        session.tests("unit tests of what changed", *PARALLEL, "-m", alone, *tests, may_be_none=True)
    session.tests("unit tests of the core", *PARALLEL, "-m", alone, *CORE)
    types_shown()
    return session.summary()


def fmt(_: argparse.Namespace) -> int:
    """Format the code."""
    ensure("dev")
    commands = (["ruff", "format", "."], ["ruff", "check", "--fix", "."], ["scripts.dev.template_lines"])
    return max(run(in_venv("-m", *words)) for words in commands)


def sandbox_install() -> None:
    """Install what shuts in the code of simulators, where it is not there."""
    if shutil.which("bwrap") is None:
        debian.install("bubblewrap")


def javascript_install() -> bool:
    """Install what reads the scripts of the pages; return whether it is there, and say so where it is not."""
    there = javascript.available() and javascript.install()
    if not there:
        say("The scripts of the pages are not checked: that takes Node.js, and npm to fetch ESLint and TypeScript.")
    return there


def static_checks(javascript_there: bool) -> list[Sequence[str]]:
    """Return what reads the code without running it, but for types: the title and the words of each command."""
    commands: list[Sequence[str]] = [
        ("format", "-m", "ruff", "format", "--check", "."),
        ("lint", "-m", "ruff", "check", "."),
        ("spelling", "-m", "codespell_lib", *SPELLED),
        ("words", "-m", "scripts.dev.prose"),
        ("import rules", "-c", "from importlinter.cli import lint_imports_command as run; run()"),
    ]
    # Nothing that runs needs Node.js: a machine without it checks all the rest.
    return [*commands, ("JavaScript", "-m", "scripts.dev.javascript")] if javascript_there else commands


def locks_fresh() -> bool:
    """Return whether the requirement files follow from pyproject.toml, and name those that do not."""
    try:
        stale = locks.stale()
    except DevError as error:
        say(str(error))
        return False
    for name in stale:
        say(f"requirements/{name}.txt does not follow from its source any more: run ./dev lock")
    return not stale
