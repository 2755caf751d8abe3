"""Bundle a script from pinned npm packages: the modules that are used, and nothing else.

Every package whose code is in the bundle is pinned in the manifest and fetched as an archive of its own; nothing is
installed and no package runs a script. esbuild, as WebAssembly, writes the same bytes on every machine; it needs
`node`.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

ENTRY = "entry.js"
LICENCE = re.compile(r"^(licen[cs]e|copying)(\.md|\.txt)?$", re.IGNORECASE)
# What describes an attribute to its readers: text alone, which nothing reads when a chart is drawn.
STRING = r"""(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\$]|\\.)*`)"""
SUM = rf"{STRING}(?:\s*\+\s*{STRING})*"
DESCRIPTION = re.compile(
    rf"(?<=[{{,\n\s])description:\s*(?:\[\s*(?:{SUM}\s*,?\s*)*\]\.join\({STRING}\)|{SUM})\s*(?=[,}}\n])"
)


def without_descriptions(source: str) -> str:
    """Return a module in which the attributes are described by nothing."""
    return DESCRIPTION.sub("description: ''", source)


def bundled(
    bundle: dict[str, Any], packages: dict[str, dict[str, bytes]], builder: dict[str, bytes], folder: Path
) -> bytes:
    """Return the script. `packages` hold the files of each package by name; `folder` is empty and may be filled.

    Raises SystemExit where a package is in the bundle and not in the manifest, or the other way round.
    """
    for name, files in packages.items():
        _lay(files, folder / "node_modules" / name)
    for path in sorted((folder / "node_modules" / bundle["described_by"]).rglob("*.js")):
        path.write_text(without_descriptions(path.read_text()))
    core = folder / "node_modules" / bundle["core"]
    core.write_text(_without(core.read_text(), bundle["left_out"]))
    for empty in bundle["empty"]:
        _lay({empty: b""}, folder / "node_modules")
    tool = folder / "builder"
    _lay(builder, tool)
    (folder / ENTRY).write_text(_entry(bundle))
    target = folder / "bundle.js"
    words = ["--bundle", "--minify", "--format=iife", f"--global-name={bundle['global']}", "--target=es2017"]
    words += ["--define:global=window", "--define:define.amd=false", "--loader:.css=empty", "--charset=utf8"]
    words += ["--legal-comments=none", "--log-level=error", f"--metafile={folder / 'meta.json'}", f"--outfile={target}"]
    subprocess.run(["node", str(tool / "bin" / "esbuild"), ENTRY, *words], check=True, cwd=folder)
    _require_used(json.loads((folder / "meta.json").read_text()), set(packages))
    return _head(bundle).encode() + target.read_bytes()


def licences(bundle: dict[str, Any], packages: dict[str, dict[str, bytes]]) -> bytes:
    """Return the licences of all packages in the bundle, one after the other."""
    parts = []
    for package in bundle["packages"]:
        texts = [text.decode() for name, text in sorted(packages[package["name"]].items()) if LICENCE.match(name)]
        said = texts[0].strip() if texts else f"Its licence is {package['license']}; the package holds no text of it."
        parts.append(f"{package['name']} {package['version']}\n\n{said}\n")
    return f"\n{'-' * 72}\n\n".join(parts).encode()


def _entry(bundle: dict[str, Any]) -> str:
    traces = ", ".join(f"require({json.dumps(name)})" for name in bundle["registered"])
    return f"const core = require({json.dumps(bundle['core'])});\ncore.register([{traces}]);\nmodule.exports = core;\n"


def _without(core: str, names: list[str]) -> str:
    """Return the core without registering some of its components."""
    for name in names:
        line = re.compile(rf"^ *require\('\./components/{re.escape(name)}'\),.*\n", re.MULTILINE)
        core, found = line.subn("", core)
        if found != 1:
            raise SystemExit(f"The core does not register {name} as it did: read it and change the manifest.")
    return core


def _head(bundle: dict[str, Any]) -> str:
    of = ", ".join(f"{package['name']} {package['version']}" for package in bundle["packages"])
    return f"/* {of}: see LICENSE */\n"


def _lay(files: dict[str, bytes], folder: Path) -> None:
    for name, content in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def _require_used(meta: dict[str, Any], pinned: set[str]) -> None:
    (output,) = (value for name, value in meta["outputs"].items() if name.endswith(".js"))
    found = set()
    for path in output["inputs"]:
        parts = path.partition("node_modules/")[2].split("/")
        if len(parts) > 1:
            found.add("/".join(parts[: 2 if parts[0].startswith("@") else 1]))
    if found - {"maplibre-gl"} != pinned:
        raise SystemExit(f"The bundle holds {sorted(found)}; the manifest pins {sorted(pinned)}.")
