"""Say how static files are stored.

Compressed, and named after their content, so that browsers may keep them for good.
"""

from __future__ import annotations

from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedStaticFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Follows the imports of ES modules too, so that a page never mixes modules of two versions."""

    support_js_module_import_aggregation = True
