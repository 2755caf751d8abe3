"""Fetch the front end's vendored files from npm packages: `scripts/vendor_assets.py [--record]`.

`toolevals/static/vendor/manifest.json` pins the version of each package, the SHA-512 of its archive and the SHA-256 of
each file laid out. Without options the files are fetched again and must come out as recorded. After a version was
changed by hand in the manifest, `--record` writes the new ones. Archives come through the `npm` client: no address is
written here.
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

ROOT = Path(__file__).resolve().parent.parent
MANIFEST = ROOT / "toolevals" / "static" / "vendor" / "manifest.json"
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
    "plotly stylesheet": plotly_stylesheet,
}


def lay_out(package: dict[str, Any], *, record: bool) -> None:
    """Fetch one package and write its files; raise SystemExit where a checksum differs."""
    title = f"{package['name']} {package['version']}"
    with tempfile.TemporaryDirectory() as folder:
        archive = packed(package["name"], package["version"], Path(folder))
        check(package, "integrity", integrity(archive), title, record=record)
        (path,) = Path(folder).glob("*.tgz")
        contents = members(path)
    for file in package["files"]:
        content = TREATMENTS[file["treatment"]](contents[file["from"]])
        check(file, "sha256", hashlib.sha256(content).hexdigest(), f"{title}: {file['to']}", record=record)
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
    if arguments.record:
        MANIFEST.write_text(json.dumps(manifest, indent=2) + "\n")


if __name__ == "__main__":
    main()
