"""`./dev test` counts tests, runs a few failed ones again and names flaky ones: tried with a small suite."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from scripts.dev import session as sessions
from scripts.dev.again import MOST, to_run_again
from scripts.dev.environment import ROOT
from scripts.dev.results import Failure
from scripts.dev.session import Session

# Passes at its second run.
UNSTEADY = """
    ran = pathlib.Path(__file__).with_name("{name}-ran")
    before = ran.exists()
    ran.touch()
    assert before, "the first time"
"""
HEAD = "import pathlib, pytest\n"
SETTINGS = "[pytest]\nmarkers =\n  browser: needs a browser\n  once: not again\n"


def case(name: str, body: str = "    pass\n", *marks: str) -> str:
    return "".join(f"@pytest.mark.{mark}\n" for mark in marks) + f"def test_{name}():\n{body.format(name=name)}\n"


FAILS = "    assert False, 'always'\n"
BREAKS_AT_FIRST = f"""
@pytest.fixture
def unsteady():{UNSTEADY.format(name="fixture")}

@pytest.mark.browser
def test_broken(unsteady):
    pass
"""


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]):
    """Return a function that runs a suite of these cases as a step: the session, its exit status, and what is said."""
    monkeypatch.setattr(sessions, "ROOT", tmp_path)
    monkeypatch.setattr(sessions, "in_venv", lambda *words: [sys.executable, *words])
    monkeypatch.setattr(sessions, "PYTEST", [*sessions.PYTEST, "-p", "tests.fixtures.marks", "-p", "no:cacheprovider"])
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("CI", raising=False)
    for name in ("PYTEST_XDIST_WORKER", "PYTEST_ADDOPTS"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "pytest.ini").write_text(SETTINGS)

    def run(*cases: str) -> tuple[Session, int, str]:
        (tmp_path / "test_shop.py").write_text("\n".join([HEAD, *cases]))
        session = Session()
        session.tests("a small suite")
        status = session.summary()
        return session, status, capfd.readouterr().out

    return run


def test_a_browser_test_that_passes_the_second_time_is_named_and_the_run_passes(ran):
    session, status, said = ran(case("steady"), case("unsteady", UNSTEADY, "browser"))
    assert status == 0
    assert session.results.line().startswith("2 passed in ")
    assert said.count("once more, alone: test_shop.py::test_unsteady") == 1
    end = said[said.index("--- flaky: test_shop.py::test_unsteady") :]
    assert "AssertionError: the first time" in end
    assert "flaky   test_shop.py::test_unsteady" in end
    assert end.rstrip().splitlines()[-1] == session.results.line()


def test_a_fixture_that_breaks_once_counts_as_one_test_that_passed(ran):
    session, status, _ = ran(BREAKS_AT_FIRST)
    assert (status, dict(+session.results.counts)) == (0, {"passed": 1})
    assert list(session.flaky) == ["test_shop.py::test_broken"]


def test_what_fails_twice_fails(ran):
    session, status, said = ran(case("wrong", FAILS, "browser"))
    assert (status, session.flaky) == (1, {})
    assert session.results.line().startswith("1 failed in ")
    assert "FAILED  test_shop.py::test_wrong" in said


def test_what_is_unsteady_beside_a_failure_is_named_and_the_run_fails(ran):
    session, status, _ = ran(case("wrong", FAILS, "browser"), case("unsteady", UNSTEADY, "browser"))
    assert status == 1
    assert list(session.flaky) == ["test_shop.py::test_unsteady"]
    assert session.results.line().startswith("1 failed, 1 passed in ")


@pytest.mark.parametrize("marks", [[], ["browser", "once"], ["once"]])
def test_other_tests_and_those_that_prove_that_nothing_is_lost_run_once(ran, marks):
    session, status, said = ran(case("unsteady", UNSTEADY, *marks))
    assert (status, session.flaky) == (1, {})
    assert "once more" not in said


def test_of_many_failing_tests_none_runs_again(ran):
    _, status, said = ran(*(case(f"unsteady_{number}", UNSTEADY, "browser") for number in range(MOST + 1)))
    assert status == 1
    assert "once more" not in said


def test_of_three_each_runs_again(ran):
    session, status, _ = ran(*(case(f"unsteady_{number}", UNSTEADY, "browser") for number in range(MOST)))
    assert status == 0
    assert len(session.flaky) == MOST


def test_the_slowest_tests_are_listed(ran):
    _, _, said = ran(*(case(f"number_{number}") for number in range(12)))
    listed = said[said.index("--- Slowest tests") : said.index("--- Summary")]
    assert listed.count("test_shop::test_number_") == 10


def test_a_process_that_died_names_no_test_that_could_run_again():
    died = Failure("failed", "tests.browser.test_reports::test_a", "worker 'gw0' crashed")
    assert to_run_again([died]) == []
