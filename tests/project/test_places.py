"""CONTRIBUTING and the architecture name places that exist: rooms, wings, the steps of recipes, the files of walks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts.dev.architecture import PAGE, drawn_page, levels
from scripts.dev.environment import ROOT

CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
ARCHITECTURE = PAGE.read_text("utf-8")
TOPS = ("toolevals", "labeling", "reports", "tests", "docs", "scripts", "benchmarks")
PLACE = re.compile(rf"`((?:{'|'.join(TOPS)})/[\w./-]*)`")
# A step names a file and, after it, what stands in it.
STEP = re.compile(r"^\d+\. `([\w./-]+)`:((?:.|\n(?!\d+\. |\n))*)", re.MULTILINE)
TABLE = re.compile(r"`([A-Z][A-Z_]+)`|`(_TABLE)`")
RECIPES = {
    title: text
    for title, _, text in (
        part.partition("\n")
        for part in CONTRIBUTING.partition("## Recipes")[2].partition("\n## ")[0].split("\n### ")[1:]
    )
}
# Folders of code that is ours, in which no package lies.
FOLDERS = ("templates", "static", "scripts/dev", "benchmarks", "docs/decisions")


def test_every_place_that_is_named_exists() -> None:
    named = PLACE.findall(CONTRIBUTING + ARCHITECTURE)
    assert len(named) > 100
    assert sorted({place for place in named if not (ROOT / place).exists()}) == []


def test_there_are_thirteen_recipes() -> None:
    words = ["importer", "exporter", "layer", "grader", "page of a run", "connector", "setting", "verb", "matcher"]
    words += ["metric of gates", "change of a table", "column of a report", "rule of the guard"]
    assert len(RECIPES) == 13
    assert [word for word in words if not any(word in title for title in RECIPES)] == []


@pytest.mark.parametrize("title", RECIPES)
def test_a_recipe_names_its_steps(title: str) -> None:
    """Every step is a place, and the table that it names is in that file."""
    steps = STEP.findall(RECIPES[title])
    assert len(steps) == len(re.findall(r"^\d+\. ", RECIPES[title], re.MULTILINE)) >= 3
    for place, text in steps:
        path = ROOT / place
        assert path.exists(), place
        if path.suffix in (".py", ".json"):
            tables = [first or second for first, second in TABLE.findall(text)]
            assert [table for table in tables if table not in path.read_text("utf-8")] == [], place


def test_counts_of_files_are_those_of_the_recipes() -> None:
    """A sentence says how many files a layer and a page touch: the recipe has as many steps, and a migration."""
    layer, page = RECIPES["A layer"], RECIPES["A page of a run"]
    assert len(STEP.findall(layer)) + 1 <= 8
    assert f"touches {len(STEP.findall(layer)) + 1} files with its migration" in " ".join(layer.split())
    code = [place for place, _ in STEP.findall(page) if not place.startswith(("tests", "docs"))]
    assert len(STEP.findall(page)) <= 12
    assert f"touches {len(code)} files outside tests and docs" in " ".join(page.split())


def test_every_room_is_named() -> None:
    packages = [path.parent for path in (ROOT / "toolevals").glob("*/__init__.py")]
    rooms = [str(path.relative_to(ROOT)) for path in packages] + ["labeling", "reports", *FOLDERS]
    assert [room for room in rooms if f"`{room}`" not in CONTRIBUTING] == []


def test_the_wings_stand_in_the_order_of_the_contract() -> None:
    table = CONTRIBUTING.partition("### The wings of the core")[2].partition("\n### ")[0]
    written = re.findall(r"^\| (\d+) \| `(\w+)` \|", table, re.MULTILINE)
    ordered = reversed(levels("The wings of the core import one way"))
    wings = {wing.rpartition(".")[2]: str(number) for number, level in enumerate(ordered, 1) for wing in level}
    assert {wing: number for number, wing in written} == wings
    assert [number for number, _ in written] == sorted((number for number, _ in written), key=int)
    folders = {path.parent.name for path in Path(ROOT / "toolevals" / "grading").glob("*/__init__.py")}
    assert folders == set(wings)


def test_the_pictures_are_drawn_from_the_contracts() -> None:
    assert drawn_page(ARCHITECTURE) == ARCHITECTURE, "run python -m scripts.dev.architecture"


def test_common_changes_have_their_place() -> None:
    """Each row names a file that is there, and where it names something in a file, the file has it."""
    table = ARCHITECTURE.partition("## Common changes")[2]
    rows = re.findall(r"^\| ([^|-][^|]*) \| (.*) \|$", table, re.MULTILINE)[1:]
    assert len(rows) >= 20
    assert [change for change, where in rows if not PLACE.search(where)] == []
    named = re.findall(rf"`([\w-]+)` in {PLACE.pattern}", table)
    assert named
    assert [name for name, place in named if name not in (ROOT / place).read_text("utf-8")] == []
