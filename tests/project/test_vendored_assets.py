"""Test what is vendored is what the manifest says, with its licence beside it."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

import brotli
import pytest

from scripts.dev.environment import ROOT
from scripts.vendor_bundle import without_descriptions
from scripts.vendor_styles import rules_in_use

MANIFEST: dict[str, Any] = json.loads((ROOT / "static" / "vendor" / "manifest.json").read_text())
PACKAGES: list[dict[str, Any]] = MANIFEST["packages"]
BUNDLES: list[dict[str, Any]] = MANIFEST["bundles"]
FILES = [file for each in (*PACKAGES, *BUNDLES) for file in each["files"]]
# Of Plotly, as a browser gets it: 284,724 bytes when this was written.
MOST_PACKED = 300_000


@pytest.mark.parametrize("file", FILES, ids=lambda file: file["to"])
def test_a_file_is_as_recorded(file: dict[str, str]) -> None:
    assert hashlib.sha256((ROOT / file["to"]).read_bytes()).hexdigest() == file["sha256"]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package["name"])
def test_a_package_is_pinned_and_brings_its_licence(package: dict[str, Any]) -> None:
    assert package["version"]
    assert package["integrity"].startswith("sha512-")
    assert any(file["from"] == "LICENSE" for file in package["files"])


def test_nothing_else_is_vendored() -> None:
    folders = [ROOT / "static" / "vendor", ROOT / "tests" / "vendor"]
    there = {str(path.relative_to(ROOT)) for folder in folders for path in folder.rglob("*") if path.is_file()}
    assert there == {file["to"] for file in FILES} | {"static/vendor/manifest.json"}


def test_no_file_points_to_a_source_map_that_is_not_there() -> None:
    assert [file["to"] for file in FILES if b"sourceMappingURL=" in (ROOT / file["to"]).read_bytes()] == []


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda bundle: bundle["global"])
def test_a_bundle_pins_all_that_it_holds_with_their_licences(bundle: dict[str, Any]) -> None:
    (licence,) = (ROOT / file["to"] for file in bundle["files"] if file["from"] == "LICENSE")
    text = licence.read_text()
    for package in (*bundle["packages"], bundle["builder"]):
        assert package["version"]
        assert package["integrity"].startswith("sha512-")
    assert [name for name in (p["name"] for p in bundle["packages"]) if f"{name} " not in text] == []


def test_a_bundle_holds_the_traces_that_are_drawn_and_evaluates_no_text() -> None:
    (script,) = (ROOT / file["to"] for file in BUNDLES[0]["files"] if file["from"] == "bundle")
    text = script.read_text()
    assert re.search(r"\beval\(|new Function\(", text) is None
    assert len(brotli.compress(text.encode())) < MOST_PACKED
    figures = (ROOT / "toolevals" / "presentation" / "figures").glob("*.py")
    drawn = {name.lower() for path in figures for name in re.findall(r"\bgo\.([A-Z]\w+)\(", path.read_text())}
    drawn -= {"layout", "figure"}
    # Scatter is in the core of every bundle.
    assert drawn == {"scatter"} | {name.rpartition("/")[2] for name in BUNDLES[0]["registered"]}


def test_descriptions_go_and_code_stays() -> None:
    source = """a = {valType: 'number', description: 'It\\'s a "number".', editType: 'calc'};
b = {description: ['Sets', 'it.'].join(' '), dflt: 1, description: "One" + ' two' };
const {description} = c; d.description = 'kept'; e = {description: f(1)};"""
    assert (
        without_descriptions(source)
        == """a = {valType: 'number', description: '', editType: 'calc'};
b = {description: '', dflt: 1, description: ''};
const {description} = c; d.description = 'kept'; e = {description: f(1)};"""
    )


def test_a_stylesheet_is_cut_to_elements_and_the_classes_in_use():
    whole = (
        b'@charset "UTF-8";/*! MIT */a,.btn:hover,.carousel a{x:y}.carousel{x:y}'
        b"@media (min-width:1px){.btn{a:b}.col{a:b}}@media print{.col{a:b}}@keyframes spin{to{a:b}}"
        b"p:not(.btn,.col),i{z:1}"
    )
    kept = b'@charset "UTF-8";/*! MIT */a,.btn:hover{x:y}@media (min-width:1px){.btn{a:b}}i{z:1}'
    assert rules_in_use(whole) == kept
