"""Each test is where a stage of `./dev test` looks for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.dev.test_places import files_starting, misplaced


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in (
        ("tests/runs/test_plain.py", "def test_one(): pass\n"),
        ("tests/runs/test_served.py", "pytestmark = pytest.mark.servers\n"),
        ("tests/browser/test_page.py", "@pytest.mark.browser\ndef test_one(page): pass\n"),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_files_are_found_by_the_marks_that_they_write_out(root: Path):
    assert files_starting(root) == ["tests/browser/test_page.py", "tests/runs/test_served.py"]


@pytest.mark.parametrize(
    ("file", "marks"),
    [
        ("tests/grading/test_one.py", {"database"}),
        ("tests/presentation/figures/test_one.py", {"servers"}),
        ("tests/runs/test_plain.py", {"slow_lane"}),
        ("tests/runs/test_plain.py", {"servers"}),
        ("tests/runs/test_served.py", {"servers", "browser"}),
    ],
)
def test_a_test_that_no_stage_would_find_is_named(root: Path, file: str, marks: set[str]):
    assert misplaced(f"{file}::test_one", root / file, marks).startswith(f"{file}::test_one: ")


@pytest.mark.parametrize(
    ("file", "marks"),
    [
        ("tests/grading/test_one.py", {"thorough"}),
        ("tests/runs/test_plain.py", {"database", "only_sqlite"}),
        ("tests/runs/test_served.py", {"servers", "once"}),
        ("tests/browser/test_page.py", {"browser"}),
        ("tests/slow_lane/test_one.py", {"slow_lane"}),
    ],
)
def test_a_test_that_a_stage_finds_is_left_alone(root: Path, file: str, marks: set[str]):
    assert misplaced(f"{file}::test_one", root / file, marks) == ""
