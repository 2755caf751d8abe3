"""Tells where the pages' templates and static files are: next to the packages here, within `toolevals` in a wheel."""

import gzip
from pathlib import Path

from setuptools import find_packages, setup
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


setup(
    packages=[*find_packages(include=["toolevals*", "labeling*", "reports*"]), *PAGES],
    package_dir=PAGES,
    cmdclass={"build_py": BuildPacked},
)
