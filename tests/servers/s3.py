"""An S3 server that keeps everything in memory: `moto`, in a process of its own."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.servers.process import Server


class S3Server(Server):
    """Takes any key; after a kill it comes back empty."""

    name = "s3"

    def __init__(self) -> None:
        super().__init__()
        self._numbers = itertools.count(1)

    @property
    def environment(self) -> dict[str, str]:
        """Return the variables by which every program of Amazon's finds the server."""
        return {
            "AWS_ENDPOINT_URL_S3": f"http://127.0.0.1:{self.port}",
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_DEFAULT_REGION": "us-east-1",
        }

    def client(self) -> Any:
        """Return a client of it."""
        import boto3

        here = self.environment
        return boto3.client(
            "s3",
            endpoint_url=here["AWS_ENDPOINT_URL_S3"],
            aws_access_key_id="testing",
            aws_secret_access_key="testing",
            region_name="us-east-1",
        )

    def bucket_create(self) -> str:
        """Make a bucket and return its name."""
        name = f"bucket-{next(self._numbers)}"
        self.client().create_bucket(Bucket=name)
        return name

    def keys(self, bucket: str) -> list[str]:
        """Return the names of all that a bucket holds."""
        return [each["Key"] for each in self.client().list_objects_v2(Bucket=bucket).get("Contents", ())]

    def command(self) -> Sequence[str | Path]:
        """Run in the foreground."""
        return [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)]

    def answers(self) -> bool:
        """Return whether it lists its buckets."""
        import httpx

        try:
            return httpx.get(self.environment["AWS_ENDPOINT_URL_S3"], timeout=5).status_code == 200
        except httpx.HTTPError:
            return False
