"""Makes the signing key of an installation that was given none: once, kept in the data folder."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def secret_key(data_dir: Path) -> str:
    """Return the key in `data_dir`, making it at the first call; two processes that race agree on one."""
    path = data_dir / "secret-key"
    data_dir.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        fresh = path.with_suffix(f".{os.getpid()}")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(48))
        try:
            os.link(fresh, path)
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
    return path.read_text()
