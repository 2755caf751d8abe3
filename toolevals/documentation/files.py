"""Find the documents: those of a checkout, or those that the wheel has put below the environment's `share`.

Pages and files are known by name only. A name that is not in these tables has no file, whatever it looks like.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Final

from toolevals.packed import ENDING

# Of every address of the documents, below the root of the installation.
PREFIX: Final = "docs/"
INDEX: Final = "README"
SERVED: Final[Mapping[str, str]] = {
    ".png": "image/png",
    **dict.fromkeys((".py", ".yaml", ".yml", ".json", ".jsonl", ".csv"), "text/plain; charset=utf-8"),
}
_CHECKOUT: Final = Path(__file__).resolve().parents[2]
_IN_WHEEL: Final = ("doc", "toolevals", "docs", f"{INDEX}.md")
_PACKED: Final = (*_IN_WHEEL[:-1], f"{INDEX}.md{ENDING}")


@cache
def folder() -> Path | None:
    """Return the folder of the documents; None where this installation has none."""
    if (_CHECKOUT / "pyproject.toml").is_file() and (_CHECKOUT / "docs" / f"{INDEX}.md").is_file():
        return _CHECKOUT / "docs"
    try:
        files = distribution("toolevals").files or ()
    except PackageNotFoundError:
        return None
    for file in files:
        if file.parts[-4:] in (_IN_WHEEL, _PACKED):
            return Path(str(file.locate())).resolve().parent
    return None


@cache
def pages() -> Mapping[str, Path]:
    """Return every page by its name: its path below the folder, without `.md`. `packed.read_text` reads it."""
    found = folder()
    paths = sorted(path for ending in (".md", f".md{ENDING}") for path in found.rglob(f"*{ending}")) if found else []
    return {path.relative_to(found).as_posix().removesuffix(ENDING)[:-3]: path for path in paths if found}


@cache
def files() -> Mapping[str, Path]:
    """Return every picture and example by its path below the folder."""
    found = folder()
    paths = sorted(path for path in found.rglob("*") if path.suffix in SERVED) if found else []
    return {path.relative_to(found).as_posix(): path for path in paths if found}


def page_address(name: str, root: str) -> str:
    """Return the address of a page: that of a folder's index is the folder's. `root` is where the installation is."""
    if name == INDEX:
        return f"{root}{PREFIX}"
    return f"{root}{PREFIX}{name.removesuffix(f'/{INDEX}')}/"


def page_named(address: str) -> str | None:
    """Return the name of the page at an address below the prefix; None where there is none."""
    name = address.strip("/") or INDEX
    return next((each for each in (name, f"{name}/{INDEX}") if each in pages()), None)
