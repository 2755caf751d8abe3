"""Runs `toolevals mcp`: an MCP server over pipes, which passes on to the server that login names, and back."""

from __future__ import annotations

import argparse
import json
import sys
import threading
from contextlib import suppress

from toolevals.cli.guard_mcp.pipes import TooLong, lines_of, write_all
from toolevals.cli.guard_mcp.servers import HttpServer
from toolevals.cli.output import CommandError, Exit, note
from toolevals.cli.server_options import add_server_options, project_of
from toolevals.cli.verbs import Verbs

# What was asked is still answered for so long after the client has ended.
GRACE_SECONDS = 30.0


def add_parser(verbs: Verbs) -> None:
    """Add the verb."""
    parser = verbs.add_parser(
        "mcp", epilog="For the configuration of an MCP client: the command is toolevals, its argument mcp."
    )
    add_server_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Pass messages on until the client ends."""
    client = project_of(arguments)
    try:
        import mcp  # noqa: F401 (found missing here, and not in the middle of a session)
    except ModuleNotFoundError as error:
        raise CommandError(Exit.CONFIGURATION, 'this needs the MCP library: pip install "toolevals[mcp]"') from error
    # A server that is not there and a token that is not known are said here, in words.
    client.request("GET", "")
    headers = {"Authorization": f"Bearer {client.token}"}
    with HttpServer(f"{client.server}/mcp", headers) as server:
        return _Session(server).run()


class _Session:
    def __init__(self, server: HttpServer) -> None:
        self._server = server
        self._open: set[object] = set()
        self._changed = threading.Condition()

    def run(self) -> int:
        threading.Thread(target=self._answer, daemon=True).start()
        for line in lines_of(sys.stdin.fileno()):
            if isinstance(line, TooLong):
                note("toolevals mcp: a message was dropped: it is too long")
                continue
            try:
                self._pass_on(line)
            except ValueError:
                note("toolevals mcp: a message was dropped: it is not an MCP message")
            except OSError:
                note(f"toolevals mcp: {self._server.why_ended()}")
                return Exit.CRASHED
        with self._changed:
            self._changed.wait_for(lambda: not self._open, GRACE_SECONDS)
        return Exit.OK

    def _pass_on(self, line: bytes) -> None:
        message = json.loads(line)
        if isinstance(message, dict) and "method" in message and message.get("id") is not None:
            with self._changed:
                self._open.add(message["id"])
        self._server.send(line)

    def _answer(self) -> None:
        for line in self._server.lines():
            assert isinstance(line, bytes)
            with suppress(OSError):
                write_all(sys.stdout.fileno(), line + b"\n")
            with self._changed:
                self._open.discard(json.loads(line).get("id"))
                self._changed.notify_all()
