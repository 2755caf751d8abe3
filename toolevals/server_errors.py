"""Names why a server did not do what it was asked. It loads nothing, so that the command's start stays short."""

from __future__ import annotations


class ServerError(Exception):
    """Says why something was not done. As it is: the server refuses what was sent, or the work failed there."""


class ServerSettingsError(ServerError):
    """The address, the project or the token is wrong, or the token's role may not do it."""


class BadAddressError(ServerSettingsError):
    """A text that is no address of a server."""


class UnreachableError(ServerError):
    """The server is not there, cannot answer now, or went away before it had answered."""


class LateError(UnreachableError):
    """The server has the request, and did not answer, or did not finish the work, in time."""
