"""Say how static files are stored.

Compressed, and named after their content, so that browsers may keep them for good.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from whitenoise.storage import CompressedManifestStaticFilesStorage

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
