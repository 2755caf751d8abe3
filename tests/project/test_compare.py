"""`./dev bench --compare`: what is called slower, and the commit that is checked out for it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from benchmarks._compare import (
    Better,
    Figure,
    Measured,
    RevisionError,
    Tree,
    changes,
    checked_out,
    commit_of,
    compare,
    figures_of,
    measured,
    pairs_asked,
    report,
)
from scripts.dev.__main__ import parser
from scripts.dev.environment import ROOT

FAKE = """
import json, pathlib, sys
value = float(pathlib.Path("value").read_text())
row = {"suite": "made_up", "name": "work", "value": value, "unit": "s", "better": "lower", "ok": True}
print(json.dumps(row | {"arguments": sys.argv[1:]}))
"""


def pairs(times: float, noise: float, *, count: int = 8, seed: int = 1) -> list[tuple[float, float]]:
    random = Random(seed)
    return [(random.gauss(1, noise), times * random.gauss(1, noise)) for _ in range(count)]


@pytest.mark.parametrize(
    ("times", "better", "verdict"),
    [(1.3, "lower", "slower"), (0.7, "lower", "faster"), (1.3, "higher", "faster"), (0.7, "higher", "slower")],
)
def test_more_than_the_noise_is_named(times: float, better: Better, verdict: str) -> None:
    [change] = changes([Figure("work", better, pairs(times, 0.02))])
    assert change.verdict == verdict
    assert change.low < change.ratio < change.high


def test_a_change_within_the_noise_is_not_named() -> None:
    [change] = changes([Figure("work", "lower", pairs(1.05, 0.2))])
    assert change.verdict == "not told from noise"


def test_an_exact_change_too_small_to_matter_is_not_named() -> None:
    [change] = changes([Figure("bytes", "lower", [(1000.0, 1001.0)] * 5)])
    assert change.low == pytest.approx(1.001)
    assert change.verdict == "not told from noise"


def test_equal_versions_are_rarely_called_changed() -> None:
    alarms = 0
    for seed in range(200):
        figures = [Figure(f"{place}", "lower", pairs(1, 0.1, seed=1000 * seed + place)) for place in range(20)]
        alarms += any(change.verdict != "not told from noise" for change in changes(figures))
    # One in twenty comparisons, whatever their number of figures: 10 of 200, and 25 are beyond chance.
    assert alarms < 25


@pytest.mark.parametrize(
    ("values", "problem"),
    [([(1.0, 1.0)] * 2, "2 pairs"), ([(1.0, 1.0), (1.0, 0.0), (1.0, 1.0)], "not above zero")],
)
def test_what_cannot_be_compared_says_why(values: list[tuple[float, float]], problem: str) -> None:
    figure = Figure("memory", "lower", values)
    assert problem in str(figure.problem)
    assert changes([figure]) == []


def test_a_pair_counts_only_where_both_sides_have_the_row() -> None:
    found = figures_of([({"a": 1.0}, {"a": 2.0}), ({"a": 1.0}, {"b": 2.0})], {"a": "lower", "b": "lower"})
    assert found == [Figure("a", "lower", [(1.0, 2.0)])]


def side(value: float, error: str = "") -> Measured:
    return Measured({"work": value}, {"work": "lower"}, {"made_up": error} if error else {})


@pytest.mark.parametrize(
    ("before", "now", "status"),
    [(side(1), side(1), 0), (side(1), side(2), 1), (side(2), side(1), 0), (side(1, "x"), side(1, "x"), 0)],
)
def test_the_exit_status_says_what_became_slower(before: Measured, now: Measured, status: int) -> None:
    assert report([(before, now)] * 3, as_json=True) == status


def test_a_suite_that_can_be_measured_no_more_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert report([(side(1), side(1, "it broke"))] * 3, as_json=True) == 1
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert last == {"name": "made_up, now", "verdict": "not compared", "reason": "it broke"}


def test_both_sides_say_why_a_suite_broke(capsys: pytest.CaptureFixture[str]) -> None:
    report([(side(1, "no module"), side(1, "no data"))] * 3, as_json=True)
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {each["name"]: each["reason"] for each in said[1:]} == {
        "made_up, before": "no module",
        "made_up, now": "no data",
    }


def test_nothing_in_common_is_no_success_and_ends_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert report([(Measured(), side(1))] * 3, as_json=False) == 2
    turns: list[str] = []

    def turn(tree: Tree, _: object) -> Measured:
        turns.append(tree.commit)
        return side(1) if tree.folder == ROOT else Measured({"other": 1.0}, {"other": "lower"}, {})

    monkeypatch.setattr("benchmarks._compare.measured", turn)
    assert compare("HEAD", ["made_up"], pairs=5, own_suites=True, as_json=True) == 2
    assert len(turns) == 2


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    (root / "benchmarks").mkdir(parents=True)
    (root / "requirements").mkdir()
    (root / "requirements" / "dev.txt").write_text("same\n")
    (root / "benchmarks" / "__main__.py").write_text("print('{}')\n")
    (root / "value").write_text("1")
    git(root, "init", "--quiet")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "first")
    (root / "benchmarks" / "__main__.py").write_text(FAKE)
    (root / "value").write_text("2")
    return root


def test_a_commit_is_measured_by_the_suites_of_the_checkout_and_removed(repository: Path) -> None:
    with checked_out("HEAD", own_suites=False, root=repository) as tree:
        assert (tree.folder / "value").read_text() == "1"
        assert measured(tree, ["made_up"]) == Measured({"made_up: work": 1.0}, {"made_up: work": "lower"}, {})
    assert not tree.folder.exists()
    listed = subprocess.run(["git", "worktree", "list"], cwd=repository, capture_output=True, text=True, check=True)
    assert len(listed.stdout.splitlines()) == 1
    with checked_out("HEAD", own_suites=True, root=repository) as tree:
        assert (tree.folder / "benchmarks" / "__main__.py").read_text() == "print('{}')\n"


def test_a_comparison_that_is_ended_leaves_nothing_behind(tmp_path: Path) -> None:
    code = """
import os, signal, sys
from pathlib import Path
import benchmarks._compare as compared
def turn(number, before, now, suites):
    Path(sys.argv[1]).write_text(str(before.folder))
    os.kill(os.getpid(), signal.SIGTERM)
compared._turn = turn
compared.compare("HEAD", ["made_up"], pairs=3, own_suites=True, as_json=True)
"""
    told = tmp_path / "folder"
    done = subprocess.run([sys.executable, "-c", code, str(told)], cwd=ROOT, check=False)
    assert done.returncode == 128 + signal.SIGTERM
    assert not Path(told.read_text()).exists()


def test_a_suite_that_prints_nothing_is_told_with_its_reason(repository: Path) -> None:
    (repository / "benchmarks" / "__main__.py").write_text("raise SystemExit('no data')\n")
    with pytest.raises(RevisionError, match="no data"):
        measured(Tree(repository, "python3", "abc"), ["made_up"])


@pytest.mark.parametrize("revision", ["no-such", "--help", "HEAD; true", ""])
def test_what_is_no_commit_is_refused(repository: Path, revision: str) -> None:
    with pytest.raises(RevisionError, match="is not a commit"):
        commit_of(revision, repository)


def test_fewer_than_three_pairs_are_refused() -> None:
    assert pairs_asked("3") == 3
    with pytest.raises(ValueError, match="at least"):
        pairs_asked("2")


@pytest.mark.parametrize("words", [[], ["--compare", "HEAD", "grading"], ["grading", "--json"], ["--help"]])
def test_every_word_after_the_verb_is_for_the_measurements(words: list[str]) -> None:
    assert parser().parse_args(["bench", *words]).options == words
