"""Says where uploads are kept: in the data folder, or in S3-compatible storage where a bucket is named."""

from __future__ import annotations

from importlib.util import find_spec

import environ
from django.core.exceptions import ImproperlyConfigured

from toolevals.json_types import JsonObject
from toolevals.settings.environment import PREFIX


def uploads_storage(env: environ.Env) -> JsonObject:
    """Return Django's settings of the storage. Raises ImproperlyConfigured where its packages are missing."""
    bucket, prefix = env.str("S3_BUCKET", ""), env.str("S3_PREFIX", "").strip("/")
    if not bucket:
        if prefix:
            raise ImproperlyConfigured(f"{PREFIX}S3_PREFIX is set without {PREFIX}S3_BUCKET: set both or none")
        return {"BACKEND": "toolevals.workspace.uploads.folder.FolderUploads"}
    if find_spec("storages") is None or find_spec("boto3") is None:
        raise ImproperlyConfigured(f"{PREFIX}S3_BUCKET needs more packages: pip install 'toolevals[s3]'")
    return {
        "BACKEND": "toolevals.workspace.uploads.s3.S3Uploads",
        "OPTIONS": {"bucket_name": bucket, "location": prefix},
    }
