"""Say where static files come from, and how they are stored.

They are stored compressed, and named after their content, so that browsers may keep them for good.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from django.contrib.staticfiles.finders import FileSystemFinder
from django.core.files.base import ContentFile, File
from django.core.files.storage import FileSystemStorage
from whitenoise.storage import CompressedManifestStaticFilesStorage

from toolevals.packed import ENDING, packed_path, read_bytes

# What Django puts into a name: a part of the hash of the content.
_HASHED: Final = re.compile(r"\.[0-9a-f]{12}(\.|$)")


class HashedStaticFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Follows the imports of ES modules too, so that a page never mixes modules of two versions."""

    support_js_module_import_aggregation = True

    def compress_files(self, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Compress what pages ask for: files named after their content. Those of plain names stay as they are.

        Compressing is the longest part of a first start.
        """
        yield from super().compress_files([path for path in paths if _HASHED.search(path)])


class PackedFiles(FileSystemStorage):
    """Gives the files that a wheel packs under their own names, without .gz."""

    def path(self, name: str) -> str:
        return str(packed_path(Path(super().path(name))))

    def listdir(self, path: str) -> tuple[list[str], list[str]]:
        folders, files = super().listdir(path)
        return folders, [name.removesuffix(ENDING) for name in files]

    def _open(self, name: str, mode: str = "rb") -> File[Any]:
        path = Path(self.path(name))
        return ContentFile(read_bytes(path), name) if path.suffix == ENDING else File(path.open(mode))


class PackedFinder(FileSystemFinder):
    """Finds the files of the folders of the settings, packed or not."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        for root, storage in self.storages.items():
            unpacking = PackedFiles(location=root)
            unpacking.prefix = storage.prefix  # type: ignore[attr-defined]
            self.storages[root] = unpacking
