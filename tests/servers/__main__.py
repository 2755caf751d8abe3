"""Run a command with `DATABASE_URL` and `REDIS_URL` of real servers: `python -m tests.servers COMMAND...`.

A statement that takes two minutes fails, unless `PGOPTIONS` says otherwise.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from tests.servers import PostgresServer, RedisServer, UnavailableError

NOT_AVAILABLE = 69
PATIENCE = "-c statement_timeout=2min"
# Tests roll back what they write: a daemon that looked meanwhile would tell the planner of tables without a row.
NO_DAEMON = "autovacuum=off"


def main(command: list[str]) -> int:
    """Return the command's exit status, or 69 when a server cannot be had."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        with PostgresServer(NO_DAEMON) as postgres, RedisServer() as broker:
            here = {"DATABASE_URL": postgres.url(), "REDIS_URL": broker.url}
            environment = {"PGOPTIONS": PATIENCE} | os.environ | here
            return subprocess.run(command, env=environment, check=False).returncode
    except UnavailableError as error:
        sys.stderr.write(f"{error}\n")
        return NOT_AVAILABLE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
