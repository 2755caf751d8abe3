"""A check begins with the tests of what was changed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from scripts.dev import session as sessions
from scripts.dev.changed import MOST_FILES, changed_tests
from scripts.dev.session import Session

FILES = (
    "toolevals/grading/reading/parsing/names.py",
    "toolevals/grading/values/matchers.py",
    "labeling/label/services.py",
    "scripts/dev/locks.py",
    "tests/grading/reading/parsing/test_names.py",
    "tests/grading/reading/parsing/test_names_laws.py",
    "tests/grading/test_numbers_laws.py",
    "tests/labeling/test_labels.py",
    "tests/labeling/test_labels_api.py",
    "tests/project/test_locks.py",
    "tests/grading/test_other.py",
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in FILES:
        write(tmp_path, name)
    git(tmp_path, "init", "--quiet")
    commit(tmp_path)
    return tmp_path


def write(root: Path, name: str, text: str = "") -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text)


def git(root: Path, *words: str) -> None:
    who = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)


def commit(root: Path) -> None:
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "Commit")


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        ("toolevals/grading/reading/parsing/names.py", ["tests/grading/reading/parsing/test_names.py"]),
        ("toolevals/grading/values/numbers.py", ["tests/grading/test_numbers_laws.py"]),
        ("labeling/label/services.py", ["tests/labeling/test_labels.py", "tests/labeling/test_labels_api.py"]),
        ("scripts/dev/locks.py", ["tests/project/test_locks.py"]),
        ("tests/grading/test_other.py", ["tests/grading/test_other.py"]),
        ("toolevals/grading/without_tests.py", []),
        ("manage.py", []),
    ],
)
def test_tests_are_found_by_the_name_of_a_module(tree: Path, changed: str, tests: list[str]) -> None:
    write(tree, changed, "pass\n")
    assert changed_tests(tree) == tests
    commit(tree)
    # Nothing is changed since: the last commit counts.
    assert changed_tests(tree) == tests


def test_what_was_deleted_is_not_run_and_few_files_are(tree: Path) -> None:
    (tree / "tests/grading/test_other.py").unlink()
    assert changed_tests(tree) == []
    for number in range(MOST_FILES + 5):
        write(tree, f"tests/grading/test_{number}.py")
    assert len(changed_tests(tree)) == MOST_FILES


def test_without_a_repository_nothing_is_known(tmp_path: Path) -> None:
    assert changed_tests(tmp_path) == []


@pytest.mark.parametrize("may_be_none", [True, False])
def test_a_step_may_be_left_without_a_test_where_that_is_said(
    tmp_path: Path, may_be_none: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "ROOT", tmp_path)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    empty = tmp_path / "test_none.py"
    empty.write_text("")
    session = Session()
    session.tests("nothing", "-p", "no:cacheprovider", str(empty), may_be_none=may_be_none)
    assert [well for _, well, _ in session.steps] == [may_be_none]
