"""Tells where the pages' templates and static files are: next to the packages here, within `toolevals` in a wheel.

The wheel also lists what an installation is made of: `parts`.
"""

import gzip
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

from setuptools import find_packages, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

PAGES = {"toolevals.templates": "templates", "toolevals.static": "static"}
# Larger static files are packed in the wheel; the server unpacks them: toolevals/settings/static_files.py.
PACKED_BYTES = 1_000


class BuildPacked(build_py):
    """Packs static files: every install holds them, and only a server reads them."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        for file in Path(self.build_lib, "toolevals", "static").rglob("*"):
            if file.is_file() and file.stat().st_size > PACKED_BYTES:
                packed = gzip.compress(file.read_bytes(), 9, mtime=0)
                file.with_name(f"{file.name}.gz").write_bytes(packed)
                file.unlink()


class ListedWheel(bdist_wheel):
    """Puts the list of parts where PEP 770 has it."""

    def write_wheelfile(self, wheelfile_base: str, *args: Any, **named: Any) -> None:
        super().write_wheelfile(wheelfile_base, *args, **named)
        folder = Path(wheelfile_base, "sboms")
        folder.mkdir()
        listed = json.dumps(parts(self.distribution.get_version()), separators=(",", ":"))
        (folder / "bom.cdx.json").write_text(listed, encoding="utf-8")


def parts(version: str) -> dict[str, Any]:
    """Return a bill of materials in CycloneDX: the packages that the server is tested with, and the pages' scripts.

    The versions are those of the hashed requirement files: an installation by pip may have newer ones.
    """
    locked = re.findall(r"^([\w.-]+)==([^\s;]+)", Path("requirements/run.txt").read_text("utf-8"), re.MULTILINE)
    vendored = json.loads(Path("static/vendor/manifest.json").read_text("utf-8"))
    # The others are for tests.
    served = [each for each in vendored["packages"] if each["files"][0]["to"].startswith("static/")]
    served += [each for bundle in vendored["bundles"] for each in bundle["packages"]]
    found = [_part("library", "pypi", name, number) for name, number in locked]
    found += [
        _part("library", "npm", each["name"], each["version"]) | {"licenses": [{"expression": each["license"]}]}
        for each in served
    ]
    own = _part("application", "pypi", "toolevals", version) | {"licenses": [{"expression": "Apache-2.0"}]}
    by_name = {part["purl"]: part for part in found}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": own},
        "components": [by_name[name] for name in sorted(by_name)],
    }


def _part(kind: str, registry: str, name: str, version: str) -> dict[str, Any]:
    where = f"pkg:{registry}/{quote(name)}@{quote(version)}"
    return {"type": kind, "name": name, "version": version, "purl": where}


setup(
    packages=[*find_packages(include=["toolevals*", "labeling*", "reports*"]), *PAGES],
    package_dir=PAGES,
    cmdclass={"build_py": BuildPacked, "bdist_wheel": ListedWheel},
)
