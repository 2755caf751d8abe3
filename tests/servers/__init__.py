"""Real PostgreSQL and Redis for tests: on free loopback ports, in temporary folders, stopped by process id."""

from tests.servers.postgres import PostgresServer
from tests.servers.process import UnavailableError
from tests.servers.redis import RedisServer

__all__ = ["PostgresServer", "RedisServer", "UnavailableError"]
