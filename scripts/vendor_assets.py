"""Fetch the front end's vendored files from npm packages: `python -m scripts.vendor_assets [--record]`.

`static/vendor/manifest.json` pins the version of each package, the SHA-512 of its archive and the SHA-256 of
each file laid out. What is made of several packages is a bundle there: see `scripts.vendor_bundle`. Without options the
files are fetched again and must come out as recorded. After a version was changed by hand in the manifest, `--record`
writes the new ones. Archives come through the `npm` client: no address is written here.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scripts.vendor_bundle import bundled, licences
from scripts.vendor_styles import rules_in_use

ROOT = Path(__file__).resolve().parent.parent
MANIFEST = ROOT / "static" / "vendor" / "manifest.json"
SOURCE_MAP = re.compile(rb"\n?(?://[#@] sourceMappingURL=\S+|/\*[#@] sourceMappingURL=.*?\*/)\s*")
PLOTLY_RULES = re.compile(r'\{"X,X div":.*?"\}(?=;for\()', re.DOTALL)
PLOTLY_RULE = re.compile(r"""(?:"([^"]+)"|\b(Y)):(?:"([^"]*)"|'([^']*)')""")
PLOTLY_ROOTS = str.maketrans({"X": ".js-plotly-plot .plotly", "Y": ".plotly-notifier"})


def packed(name: str, version: str, folder: Path) -> bytes:
    """Return the archive of one npm package."""
    command = ["npm", "pack", f"{name}@{version}", "--ignore-scripts", "--silent", "--pack-destination", str(folder)]
    subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)
    (archive,) = folder.glob("*.tgz")
    return archive.read_bytes()


def integrity(archive: bytes) -> str:
    """Return an archive's checksum as npm writes it."""
    return "sha512-" + base64.b64encode(hashlib.sha512(archive).digest()).decode()


def members(archive: Path) -> dict[str, bytes]:
    """Return the files of a package by their path in it."""
    with tarfile.open(archive) as tar:
        files = {member.name: tar.extractfile(member) for member in tar.getmembers() if member.isfile()}
        return {name.partition("/")[2]: file.read() for name, file in files.items() if file}


def without_source_map(content: bytes) -> bytes:
    """Return the file without its link to a source map, which is not vendored."""
    return SOURCE_MAP.sub(b"\n", content)


def plotly_stylesheet(bundle: bytes) -> bytes:
    """Return the rules that Plotly would inject into the page, which the Content-Security-Policy forbids.

    Plotly inserts each rule before the last one, so they are written in reverse. A page links the stylesheet as
    `<link rel="stylesheet" id="plotly.js-style-global" class="no-inline-styles">`, and Plotly leaves it alone.
    """
    table = PLOTLY_RULES.search(bundle.decode())
    if table is None:
        raise SystemExit("Plotly's style rules are not where they were: read the bundle and change PLOTLY_RULES.")
    rules = [
        f"{(selector or notifier).translate(PLOTLY_ROOTS)} {{{double or single}}}"
        for selector, notifier, double, single in PLOTLY_RULE.findall(table[0])
    ]
    pixelated = ".heatmaplayer image {image-rendering: pixelated}"  # Plotly sets it by a style attribute
    return "\n".join(
        ["/* The rules that plotly.js injects, from its bundle. MIT. */", *reversed(rules), pixelated, ""]
    ).encode()


TREATMENTS: dict[str, Callable[[bytes], bytes]] = {
    "as it is": lambda content: content,
    "without source map": without_source_map,
    "without source map, rules in use": lambda content: rules_in_use(without_source_map(content)),
}


def fetched(package: dict[str, Any], *, record: bool) -> dict[str, bytes]:
    """Return the files of one package by their path in it; raise SystemExit where its checksum differs."""
    with tempfile.TemporaryDirectory() as folder:
        archive = packed(package["name"], package["version"], Path(folder))
        check(package, "integrity", integrity(archive), f"{package['name']} {package['version']}", record=record)
        (path,) = Path(folder).glob("*.tgz")
        return members(path)


def lay_out(package: dict[str, Any], *, record: bool) -> None:
    """Fetch one package and write its files; raise SystemExit where a checksum differs."""
    contents = fetched(package, record=record)
    for file in package["files"]:
        write(file, TREATMENTS[file["treatment"]](contents[file["from"]]), record=record)


def lay_out_bundle(bundle: dict[str, Any], *, record: bool) -> None:
    """Fetch the packages of a bundle, make it and write its files; raise SystemExit where a checksum differs."""
    builder = fetched(bundle["builder"], record=record)
    packages = {package["name"]: fetched(package, record=record) for package in bundle["packages"]}
    with tempfile.TemporaryDirectory() as folder:
        script = bundled(bundle, packages, builder, Path(folder))
    contents = {"bundle": script, "plotly stylesheet": plotly_stylesheet(script), "LICENSE": licences(bundle, packages)}
    for file in bundle["files"]:
        write(file, contents[file["from"]], record=record)


def write(file: dict[str, Any], content: bytes, *, record: bool) -> None:
    """Write one file of the manifest; raise SystemExit where its checksum differs."""
    check(file, "sha256", hashlib.sha256(content).hexdigest(), file["to"], record=record)
    target = ROOT / file["to"]
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)


def check(entry: dict[str, Any], key: str, found: str, title: str, *, record: bool) -> None:
    """Compare a checksum with the recorded one, or record it."""
    if record:
        entry[key] = found
    elif entry[key] != found:
        raise SystemExit(f"{title} has another checksum than the manifest: {found}, recorded {entry[key]}.")


def main() -> None:
    """Lay out every package."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", action="store_true", help="write the checksums found into the manifest")
    arguments = parser.parse_args()
    manifest = json.loads(MANIFEST.read_text())
    for package in manifest["packages"]:
        lay_out(package, record=arguments.record)
        sys.stdout.write(f"{package['name']} {package['version']}\n")
    for bundle in manifest["bundles"]:
        lay_out_bundle(bundle, record=arguments.record)
        sys.stdout.write(f"{bundle['global']} of {bundle['packages'][0]['version']}\n")
    if arguments.record:
        MANIFEST.write_text(json.dumps(manifest, indent=2) + "\n")


if __name__ == "__main__":
    main()
