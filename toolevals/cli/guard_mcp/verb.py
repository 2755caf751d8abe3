"""Runs `toolevals guard-mcp`: a server of MCP to its client, which passes on to the server behind it what may pass."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

from toolevals.agents.options import is_address
from toolevals.cli.guard_mcp.pipes import TooLong, lines_of, write_all
from toolevals.cli.guard_mcp.policies import PUBLIC_KEY, PolicySource, policy_of_file, policy_of_project
from toolevals.cli.guard_mcp.proxy import Proxy
from toolevals.cli.guard_mcp.servers import GRACE_SECONDS, ChildServer, HttpServer, Server
from toolevals.cli.guard_mcp.session_guard import SessionGuard
from toolevals.cli.output import CommandError, Exit, note
from toolevals.cli.verbs import Verbs
from toolevals.grading.guard import Request
from toolevals.grading.reading.parsing import printable

# Of one line on standard error.
LONGEST_NOTE = 1_000


def add_parser(verbs: Verbs) -> None:
    """Add the verb."""
    parser = verbs.add_parser(
        "guard-mcp",
        usage="toolevals guard-mcp (--policy FILE | --project SLUG) [options] (-- SERVER ... | --url URL)",
        epilog="exit status: 0 the client has ended, 1 the server ended first. Refusals stand on standard error.",
    )
    parser.add_argument("server", nargs="*", metavar="SERVER", help="after --: the command that starts the server")
    parser.add_argument(
        "--url", default="", metavar="URL", help="of a server of streamable HTTP, in place of a command"
    )
    words = "variable whose value is sent to the URL as a bearer token (TOOLEVALS_MCP_TOKEN)"
    parser.add_argument("--token-from", default="TOOLEVALS_MCP_TOKEN", metavar="NAME", help=words)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--policy", type=Path, metavar="FILE", help="a policy's document")
    where.add_argument(
        "--project", default="", metavar="SLUG", help="server with the active policy; see toolevals login"
    )
    words = "slug of the project's policy; needed if several are active"
    parser.add_argument("--policy-name", default="", metavar="SLUG", help=words)
    words = f"the installation's, which signs the project's policy ({PUBLIC_KEY})"
    parser.add_argument("--public-key", default="", metavar="KEY", help=words)
    parser.add_argument("--key", default="", metavar="NAME", help="the key whose lists hold (rules `keys`)")
    parser.add_argument("--model", default="", metavar="NAME", help="the model behind the client, for such lists")
    parser.add_argument("--provider", default="", metavar="NAME", help="its provider")
    words = "what the policy calls the server (by default what it calls itself)"
    parser.add_argument("--server-name", default="", metavar="NAME", help=words)
    words = "a call after such a pause begins a new request of the user (by default the session is one request)"
    parser.add_argument("--pause", type=_seconds, metavar="SECONDS", help=words)
    words = "also say on standard error what rules in audit would refuse, and what rules could not tell"
    parser.add_argument("--audit", action="store_true", help=words)
    parser.set_defaults(run=run)


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError("must be a number of seconds above 0")
    return value


def run(arguments: argparse.Namespace) -> int:
    """Pass messages on until the client or the server ends."""
    if bool(arguments.server) == bool(arguments.url):
        raise CommandError(Exit.CONFIGURATION, "name one server: a command after --, or --url")
    guard = SessionGuard(
        _policies(arguments),
        about=Request(
            key=arguments.key, model=arguments.model, provider=arguments.provider, server=arguments.server_name
        ),
        pause=arguments.pause,
    )
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    with _server(arguments) as server:
        return Session(guard, server, audit=arguments.audit).run()


def _policies(arguments: argparse.Namespace) -> PolicySource:
    if arguments.policy:
        return policy_of_file(arguments.policy)
    return policy_of_project(arguments.project, arguments.policy_name, arguments.public_key)


def _stop(number: int, frame: FrameType | None) -> None:
    raise SystemExit(Exit.OK)


def _server(arguments: argparse.Namespace) -> Server:
    if arguments.url:
        return _http_server(arguments.url, os.environ.get(arguments.token_from, ""))
    try:
        return ChildServer(arguments.server)
    except (OSError, ValueError) as error:
        words = f"cannot start {arguments.server[0]}: {getattr(error, 'strerror', None) or error}"
        raise CommandError(Exit.CONFIGURATION, words) from error


def _http_server(url: str, token: str) -> HttpServer:
    if not is_address(url):
        words = f"{url!r} is not an address that starts with http:// or https://, without a password in it"
        raise CommandError(Exit.CONFIGURATION, words)
    try:
        import mcp  # noqa: F401 (found missing here, and not in the middle of a session)
    except ModuleNotFoundError as error:
        words = 'servers behind a URL need the MCP library: pip install "toolevals[mcp]"'
        raise CommandError(Exit.CONFIGURATION, words) from error
    return HttpServer(url, {"Authorization": f"Bearer {token}"} if token else {})


class Session:
    """Moves the messages of a session: a thread for what the client says, one for what the server says."""

    def __init__(self, guard: SessionGuard, server: Server, *, audit: bool = False) -> None:
        self._server = server
        self._client_ended = threading.Event()
        self._server_ended = threading.Event()
        self._ended = threading.Event()
        self._client_lock = threading.Lock()
        self._server_lock = threading.Lock()
        self._proxy = Proxy(guard, to_client=self._to_client, to_server=self._to_server, log=_log, audit=audit)

    def run(self) -> int:
        """Return the exit status when either side has ended."""
        # They may wait for what never comes, and end with the process.
        threading.Thread(target=self._hear_server, daemon=True).start()
        threading.Thread(target=self._hear_client, daemon=True).start()
        self._ended.wait()
        if self._client_ended.is_set():
            self._server.end_input()
            self._server_ended.wait(GRACE_SECONDS)
            return Exit.OK
        _log(self._server.why_ended())
        return Exit.CRASHED

    def _hear_client(self) -> None:
        proxy = self._proxy
        try:
            _take(lines_of(sys.stdin.fileno()), proxy.from_client, proxy.client_sent_too_much)
        except ClientGoneError:
            return
        finally:
            self._client_ended.set()
            self._ended.set()

    def _hear_server(self) -> None:
        proxy = self._proxy
        try:
            _take(self._server.lines(), proxy.from_server, proxy.server_sent_too_much)
            if not self._client_ended.is_set():
                proxy.server_ended(self._server.why_ended())
        except ClientGoneError:
            self._client_ended.set()
        finally:
            self._server_ended.set()
            self._ended.set()

    def _to_client(self, line: bytes) -> None:
        with self._client_lock:
            try:
                write_all(sys.stdout.fileno(), line.rstrip(b"\r\n") + b"\n")
            except OSError as error:
                raise ClientGoneError from error

    def _to_server(self, line: bytes) -> None:
        try:
            with self._server_lock:
                self._server.send(line)
        except OSError:
            # It takes no more, and so answers no more.
            self._proxy.server_ended(self._server.why_ended())
            self._ended.set()


class ClientGoneError(Exception):
    """No one reads what is said to the client."""


def _take(lines: Iterator[bytes | TooLong], take: Callable[[bytes], None], drop: Callable[[], None]) -> None:
    for line in lines:
        if isinstance(line, TooLong):
            drop()
        else:
            take(line)


def _log(words: str) -> None:
    """Say something on standard error, on one line: what stands in it comes from models and servers."""
    note(f"toolevals guard-mcp: {' '.join(printable(words).split())[:LONGEST_NOTE]}")
