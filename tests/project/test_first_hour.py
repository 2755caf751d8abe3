"""The commands of docs/first-hour.md, as they stand there, on a machine with nothing on it but Python."""

from __future__ import annotations

import csv
import os
import re
import shutil
import time
from pathlib import Path

import httpx
import pytest

from tests.fixtures.first_hour import FILES, PAGE, SERVER, Commands, commands, refused
from tests.fixtures.prepared import prepared_root
from tests.presentation.junit_structure import junit_faults
from tests.project.installed import PASSWORD, Built, Machine

# Held by name: it is kept on a page before, and the test in the browser runs it.
BY_NAME = "--name release"


def test_every_file_of_the_page_is_named_there() -> None:
    text = PAGE.read_text()
    assert [path.name for path in FILES.iterdir() if f"(examples/hour/{path.name})" not in text] == []


def test_the_mended_files_differ_from_the_faulty_one_in_what_the_page_says() -> None:
    faulty, mended, gold = (
        (FILES / name).read_text().splitlines() for name in ("examples.csv", "examples-mended.csv", "gold.csv")
    )
    differing = [number for number, pair in enumerate(zip(faulty, mended, strict=True), 1) if len(set(pair)) == 2]
    assert differing == [error.line for error in refused()] == [5, 10, 11]
    unlabelled = [row["id"] for row in csv.DictReader(mended) if not row["tool"]]
    assert len(unlabelled) == 6
    assert [a.partition(",")[0] for a, b in zip(mended, gold, strict=True) if a != b] == unlabelled
    assert all(row["tool"] for row in csv.DictReader(gold))


class Hour:
    """What one person does at a terminal, timed by the clock and by the processor time of the commands."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.address = SERVER
        self.took: list[tuple[float, float, str]] = []

    def run(self, block: Commands, **options: str) -> str:
        """Run a block as it stands, but for the server's port. Its status must be the one that the page promises."""
        before, since = os.times(), time.perf_counter()
        status, said = self.machine.shell(f"set -e\n{block.lines.replace(SERVER, self.address)}", **options)
        after = os.times()
        worked = after.children_user + after.children_system - before.children_user - before.children_system
        self.took.append((time.perf_counter() - since, worked, block.lines.splitlines()[-1]))
        assert status == block.status, f"{block.lines}\n{said}"
        return said

    def token(self, email: str, project: str) -> str:
        """Create a token on the project's page, as a browser sends it."""
        with httpx.Client(base_url=self.address, follow_redirects=True) as browser:
            for path, entered in (
                ("/sign-in/", {"email": email, "password": PASSWORD}),
                (f"/p/{project}/tokens/", {"name": "terminal", "role": "30", "days": "30"}),
            ):
                browser.get(path)
                sent = entered | {"csrfmiddlewaretoken": browser.cookies["csrftoken"]}
                answer = browser.post(path, data=sent, headers={"Referer": f"{self.address}{path}"})
        found = re.search(r"<code>(te_[^<]+)</code>", answer.text)
        assert found is not None, answer.text
        return found[1]


@pytest.mark.servers
def test_the_commands_of_the_page_lead_from_the_wheel_to_a_gate(
    built: Built, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    machine = Machine(tmp_path, prepared_root(tmp_path_factory))
    shutil.copytree(built.wheel.parent, machine.home / "dist")
    hour = Hour(machine)
    install, serve, owner, tools, faulty, mended, grade, failing, passes, fails, file, by_name = commands()
    hour.run(install)
    assert (machine.home / "hour" / "openapi.yaml").read_text() == (FILES / "openapi.yaml").read_text()
    since = time.perf_counter()
    with machine.serving(serve.lines) as (hour.address, printed):
        hour.took.append((time.perf_counter() - since, 0, serve.lines))
        assert "create-owner you@example.org" in printed
        assert "ada@example.org owns the installation and the project desk." in hour.run(owner)
        token = hour.token("ada@example.org", "desk")
        said = hour.run(tools, input=f"{token}\n")
        assert "library@1: 6 tools" in said
        said = hour.run(faulty)
        for error in refused():
            assert f"{error.line}, {f'/{error.field}, ' * bool(error.field)}{error.message}" in said
        assert "added 20" in hour.run(mended)
        said = hour.run(grade)
        assert "gold changed 6" in said
        assert "desk version 1: 20 examples" in said
        assert "20 read as pydantic_ai" in said
        assert "outcome      17 of 20, 85.0%" in said
        hour.run(failing)
        with (machine.home / "failing.csv").open(newline="") as rows:
            names = [row["id"] for row in csv.DictReader(rows)]
        assert sorted(names) == ["desk-06", "desk-14", "desk-15"]
        assert "Gate passed. 1 passed." in hour.run(passes)
        said = hour.run(fails)
        assert "Examples: desk-06, desk-14, desk-15." in said
        assert "Gate passed. 2 passed." in hour.run(file)
        assert junit_faults((machine.home / "gate.xml").read_bytes()) == []
        assert BY_NAME in by_name.lines
    for seconds, worked, line in hour.took:
        print(f"{seconds:6.1f} s, {worked:5.1f} s of processor time: {line}")  # noqa: T201 - shown by -s
