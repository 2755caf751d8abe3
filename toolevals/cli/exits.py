"""Tell what the command's exit status says."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """One meaning each, so that a CI job can tell them apart."""

    OK = 0
    CRASHED = 1
    FAILED = 2
    WARNING = 3
    CONFIGURATION = 4
    DATA = 5
    UNREACHABLE = 6
    TIMED_OUT = 7
    # As a shell says that Ctrl-C ended a command.
    INTERRUPTED = 130


class CommandError(Exception):
    """Ends the command with a sentence on standard error and a status."""

    def __init__(self, exit_status: Exit, message: str) -> None:
        super().__init__(message)
        self.exit_status = exit_status
