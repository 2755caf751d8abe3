"""What is vendored is what the manifest says, with its licence beside it."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from scripts.dev.environment import ROOT

PACKAGES: list[dict[str, Any]] = json.loads((ROOT / "toolevals" / "static" / "vendor" / "manifest.json").read_text())[
    "packages"
]
FILES = [file for package in PACKAGES for file in package["files"]]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file["to"])
def test_a_file_is_as_recorded(file: dict[str, str]) -> None:
    assert hashlib.sha256((ROOT / file["to"]).read_bytes()).hexdigest() == file["sha256"]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package["name"])
def test_a_package_is_pinned_and_brings_its_licence(package: dict[str, Any]) -> None:
    assert package["version"]
    assert package["integrity"].startswith("sha512-")
    assert any(file["from"] == "LICENSE" for file in package["files"])


def test_nothing_else_is_vendored() -> None:
    folders = [ROOT / "toolevals" / "static" / "vendor", ROOT / "tests" / "vendor"]
    there = {str(path.relative_to(ROOT)) for folder in folders for path in folder.rglob("*") if path.is_file()}
    assert there == {file["to"] for file in FILES} | {"toolevals/static/vendor/manifest.json"}


def test_no_file_points_to_a_source_map_that_is_not_there() -> None:
    assert [file["to"] for file in FILES if b"sourceMappingURL=" in (ROOT / file["to"]).read_bytes()] == []
