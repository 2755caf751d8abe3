"""Adapts Kombu's Redis transport to workers that outlive a broker that is away for a while."""

from __future__ import annotations

from typing import Any

from kombu.transport import redis as kombu_redis
from redis.exceptions import ConnectionError as RedisConnectionError


class Channel(kombu_redis.Channel):
    """A channel that says so when its connection has been given up.

    A batch that ends while Redis is away is acknowledged on the connection that is no more. Kombu 5.7 fails there with
    an AttributeError, which no one expects and which ends the worker; an error of the connection is logged, and the
    worker goes on. The message stays with Redis, if at all, and finds its batch done when it comes again.
    """

    def _connparams(self, asynchronous: bool = False) -> dict[str, Any]:
        if self.connection.client is None:
            raise RedisConnectionError("the connection to the broker has been given up")
        parameters: dict[str, Any] = super()._connparams(asynchronous=asynchronous)  # type: ignore[misc]
        return parameters


class Transport(kombu_redis.Transport):
    """Kombu's Redis transport with that channel."""

    Channel = Channel
