"""Places that are named exist: rooms, wings, the steps of recipes, the files of walks, and names in strings."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator, Sequence
from functools import cache
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
LISTED = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
FILES = subprocess.run(LISTED, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
# Tests of places make some up; a package that others write is not ours.
MADE_UP = {
    f"tests/project/test_{name}.py" for name in ("changed", "imports", "places", "prose", "test_places", "wheel")
}
OTHERS = ("static/vendor/", "tests/project/before_one_migration/", "scripts/javascript/node_modules/")
_ROOMS = "toolevals|labeling|reports|tests|scripts|benchmarks"
NAMED_FILE = re.compile(
    rf"(?<![\w./:<-])((?:{_ROOMS}|docs|templates|static)/[\w./-]*\.(?:py|html|js|css|md|toml|json))\b"
)
NAMED_FOLDER = re.compile(rf"`((?:{_ROOMS}|docs|templates|static)/(?:[\w-]+/)*[\w-]+/?)`")
QUOTED_FILE = re.compile(r"`([\w/-]+\.(?:py|html|js|css))`")
# Names of two parts are also those of tasks and of tables; attributes of spans and forms of files begin with the
# name of the project.
DOTTED = re.compile(
    rf"(?<![\w./@-])((?!toolevals\.(?:judge|policy_file|rule|verdict)\.)(?:{_ROOMS})\.[a-z_]\w*(?:\.[A-Za-z_]\w*)+)(?![\w/(-])"
)
PROGRAM_IMPORT = re.compile(rf"\bfrom ((?:{_ROOMS})(?:\.\w+)*) import (\([^)]*\)|[\w, ]+)")
# Files of another project.
NO_FILES = {"peers/TOOL.py", "docs/build-eval.md"}
# Folders of code that is ours, in which no package lies.
FOLDERS = ("templates", "static", "scripts/dev", "benchmarks", "docs/decisions")


def test_every_place_that_is_named_exists() -> None:
    named = PLACE.findall(CONTRIBUTING + ARCHITECTURE)
    assert len(named) > 100
    assert sorted({place for place in named if not (ROOT / place).exists()}) == []


def test_every_file_that_is_named_exists() -> None:
    """A page, a comment and a string name files by their whole path, or by its end."""
    ends = {end for path in FILES for end in _ends(path)}
    folders = {str(parent) for path in FILES for parent in Path(path).parents}
    gone = set()
    for path, text in _texts(".py", ".md", ".toml", ".html", ".js"):
        named = {name for name in NAMED_FILE.findall(text) if name not in ends}
        if path.endswith(".md"):
            named |= {name for name in QUOTED_FILE.findall(text) if name not in ends}
        named |= {name for name in NAMED_FOLDER.findall(text) if name.rstrip("/") not in folders | ends}
        gone |= {f"{path}: {name}" for name in named - NO_FILES}
    assert sorted(gone) == []


def test_every_dotted_name_exists() -> None:
    """In strings, comments and pages: what is patched, called by its path, or pointed at."""
    gone = set()
    for path, text in _texts(".py", ".md", ".toml", ".html"):
        gone |= {f"{path}: {name}" for name in DOTTED.findall(text) if not _is_there(name.split("."))}
    assert sorted(gone) == []


def test_programs_in_strings_import_what_is_there() -> None:
    """Types and moves do not see them."""
    gone, count = set(), 0
    for path, text in _texts(".py"):
        if not path.startswith(("tests/", "benchmarks/", "scripts/")):
            continue
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or "import " not in node.value:
                continue
            for module, names in PROGRAM_IMPORT.findall(node.value):
                each = [name.split(" as ")[0] for name in re.findall(r"\w+(?: as \w+)?", names)]
                count += len(each)
                gone |= {f"{path}: {module}.{name}" for name in each if not _is_there([*module.split("."), name])}
    assert count > 200
    assert sorted(gone) == []


def test_a_name_that_is_gone_is_found() -> None:
    assert _is_there(["toolevals", "workspace", "models", "SweepTask"])
    assert _is_there(["labeling", "adjudicate", "resolution", "settle_due"])
    assert not _is_there(["labeling", "services", "settle_due"])
    assert not _is_there(["labeling", "adjudicate", "resolution", "settled"])


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


@pytest.mark.parametrize("walk", ["label", "prediction"])
def test_a_walk_has_fifteen_stops_at_most(walk: str) -> None:
    """Each stop is a function in its file."""
    text = ARCHITECTURE.partition(f"## The life of a {walk}\n")[2].partition("\n## ")[0]
    stops = re.findall(r"^\d+\. `([\w./-]+)`: `(\w+)` ", text, re.MULTILINE)
    assert 10 <= len(stops) == len(re.findall(r"^\d+\. ", text, re.MULTILINE)) <= 15
    defined = r"(?:^|\n)\s*(?:def|export const) {}\b"
    assert [name for place, name in stops if not re.search(defined.format(name), (ROOT / place).read_text())] == []


def test_common_changes_have_their_place() -> None:
    """Each row names a file that is there, and where it names something in a file, the file has it."""
    table = ARCHITECTURE.partition("## Common changes")[2]
    rows = re.findall(r"^\| ([^|-][^|]*) \| (.*) \|$", table, re.MULTILINE)[1:]
    assert len(rows) >= 20
    assert [change for change, where in rows if not PLACE.search(where)] == []
    named = re.findall(rf"`([\w-]+)` in {PLACE.pattern}", table)
    assert named
    assert [name for name, place in named if name not in (ROOT / place).read_text("utf-8")] == []


def _texts(*suffixes: str) -> Iterator[tuple[str, str]]:
    """Yield the files that speak of this project, with their text."""
    for path in FILES:
        if (
            path.endswith(suffixes)
            and path not in MADE_UP
            and not path.startswith(OTHERS)
            and "/migrations/" not in path
        ):
            yield path, (ROOT / path).read_text("utf-8")


def _ends(path: str) -> Iterator[str]:
    parts = path.split("/")
    for number in range(len(parts)):
        yield "/".join(parts[number:])


def _is_there(parts: Sequence[str]) -> bool:
    """Tell whether a dotted path names a module, or what a module has at its top. Classes are not looked into."""
    for number in range(len(parts), 0, -1):
        place = ROOT.joinpath(*parts[:number])
        if place.is_dir() or place.with_suffix(".py").exists():
            return number == len(parts) or parts[number] in _names(place)
    return False


@cache
def _names(place: Path) -> frozenset[str]:
    file = place.with_suffix(".py") if place.with_suffix(".py").exists() else place / "__init__.py"
    names = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))) if file.exists() else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name)
    return frozenset(names)
