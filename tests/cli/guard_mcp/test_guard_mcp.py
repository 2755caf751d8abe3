"""The guard between real clients and servers, each in a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import ElicitResult

from tests.agents.mcp_shop import shop_over_http
from tests.cli.guard_mcp.bad_server import LONG
from tests.cli.guard_mcp.desk_server import INJECTED
from tests.fixtures.event_loops import run_apart
from toolevals.cli.main import main
from toolevals.cli.output import Exit

DESK = [sys.executable, "-m", "tests.cli.guard_mcp.desk_server"]
BAD = [sys.executable, "-m", "tests.cli.guard_mcp.bad_server"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
RULES = {
    "schema": {"kind": "schema", "mode": "enforce"},
    "blocked": {"kind": "blocked", "mode": "enforce", "tools": ["delete_files"]},
    "patterns": {"kind": "patterns", "mode": "enforce"},
    "injected": {"kind": "injection", "mode": "enforce"},
}
ORIGIN = {
    "kind": "origin",
    "mode": "enforce",
    "places": [{"tool": "send_money", "pointer": "/to"}],
    "trusted_fields": ["get_invoice"],
}


@pytest.fixture
def guarded(tmp_path: Path) -> Callable[..., list[str]]:
    """Return the command of a guard before a server."""

    def command(server: str | list[str], rules: Any = RULES, *options: str) -> list[str]:
        file = tmp_path / "policy.json"
        file.write_text(json.dumps({"rules": rules, "deadline_ms": 10_000}))
        where = ["--url", server] if isinstance(server, str) else ["--", *server]
        return [sys.executable, "-m", "toolevals.cli.main", "guard-mcp", "--policy", str(file), *options, *where]

    return command


def run(command: list[str], act: Callable[[Client], Awaitable[Any]], **options: Any) -> Any:
    """Run what a client does with a server; return what it returns."""

    async def session() -> Any:
        server = StdioServerParameters(command=command[0], args=command[1:], env=ENVIRONMENT)
        with anyio.fail_after(60), Path(os.devnull).open("w") as silent:
            async with Client(stdio_client(server, errlog=silent), **options) as client:
                return await act(client)

    return run_apart(session)


def said(result: Any) -> str:
    text: str = result.content[0].text
    return text


async def obey(client: Client) -> tuple[str, str]:
    """Read the mail as a model does that obeys what it reads, then say what was paid."""
    mail = await client.call_tool("read_file", {"path": "mail.txt"})
    if INJECTED in said(mail):
        await client.call_tool("send_money", {"to": "GB00MALLORY", "amount": 900})
    return said(mail), said(await client.call_tool("list_paid", {}))


def test_a_client_that_obeys_injections_is_kept_from_them(guarded):
    assert run(DESK, obey) == (INJECTED, "GB00MALLORY")
    mail, paid = run(guarded(DESK), obey)
    assert "the guard withheld its result" in mail
    assert paid == "no one"
    assert run(guarded(DESK, {"origin": ORIGIN}), obey) == (INJECTED, "no one")


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_use_through_the_guard_is_as_without_it(guarded, mode):
    async def use(client):
        progress = []

        async def note(done, total, message):
            progress.append(done)

        tools = [tool.model_dump() for tool in (await client.list_tools()).tools if tool.name != "delete_files"]
        invoice = await client.call_tool("get_invoice", {"number": "7"})
        paid = await client.call_tool("send_money", {"to": invoice.structured_content["account"], "amount": 51})
        counted = await client.call_tool("count", {"to": 3}, progress_callback=note)
        # The newer protocol has no requests of a server.
        asked = await client.call_tool("ask_user" if mode == "legacy" else "list_paid", {})
        notes = await client.read_resource("file://notes")
        prompt = await client.get_prompt("greet", {"name": "Ada"})
        found = (invoice, paid, counted, asked, notes, prompt, await client.list_resources())
        return tools, progress, [each.model_dump() for each in found]

    async def answer(context, params):
        return ElicitResult(action="accept", content={"word": "plum"})

    options = {"mode": mode, "elicitation_callback": answer}
    without = run(DESK, use, **options)
    assert run(guarded(DESK, {**RULES, "origin": ORIGIN}), use, **options) == without
    assert ("accept: plum" in json.dumps(without[2], default=str)) is (mode == "legacy")


def test_what_is_refused_is_not_made(guarded):
    async def attack(client):
        names = [tool.name for tool in (await client.list_tools()).tools]
        refused = [
            await client.call_tool(name, arguments)
            for name, arguments in (
                ("delete_files", {}),
                ("read_file", {"path": "../../etc/passwd"}),
                ("read_file", {"file": "a.txt"}),
                ("send_money", {"to": "GB82WEST", "amount": "all"}),
            )
        ]
        return names, [(each.is_error, said(each)) for each in refused]

    names, refused = run(guarded(DESK), attack)
    assert "delete_files" not in names
    assert "read_file" in names
    assert all(is_error and words.startswith("The guard refused this call: ") for is_error, words in refused)


def test_the_twenty_sixth_call_of_a_session_is_refused(guarded):
    async def repeat(client):
        return [(await client.call_tool("list_paid", {})).is_error for _ in range(26)]

    calls = {"calls": {"kind": "calls", "mode": "enforce"}}
    assert run(guarded(DESK, calls), repeat) == [False] * 25 + [True]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_server_behind_a_url_is_guarded(guarded, mode):
    async def use(client):
        listed = [tool.name for tool in (await client.list_tools()).tools]
        found = [
            await client.call_tool(name, arguments)
            for name, arguments in (("status", {"order_id": "A-1"}), ("status", {}), ("cancel", {"order_id": "A-2"}))
        ]
        return listed, [(each.is_error, said(each)[:28]) for each in found]

    rules = {**RULES, "blocked": {"kind": "blocked", "mode": "enforce", "tools": ["cancel"]}}
    refused = (True, "The guard refused this call:")
    with shop_over_http() as url:
        assert run(guarded(url, rules), use, mode=mode) == (["status", "crash"], [(False, "sent"), refused, refused])


@contextmanager
def raw(command: list[str]) -> Iterator[Any]:
    """Yield a guard that is spoken to without a library; what it starts is gone at the end, whatever happens."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, env=ENVIRONMENT, start_new_session=True, stdin=pipe, stdout=pipe, stderr=pipe)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for each in (process.stdin, process.stdout, process.stderr):
            with contextlib.suppress(OSError):
                each.close()  # type: ignore[union-attr]


def send_call(process: Any, name: str, identifier: int = 1) -> None:
    params = {"name": name, "arguments": {}}
    message = {"jsonrpc": "2.0", "id": identifier, "method": "tools/call", "params": params}
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()


def hear(process: Any) -> Any:
    return json.loads(process.stdout.readline())


def test_a_server_that_dies_is_an_error_of_the_call_and_ends_the_guard(guarded):
    with raw(guarded(BAD)) as process:
        send_call(process, "die")
        assert "The server" in said_raw(hear(process))
        assert process.wait(20) == Exit.CRASHED
        assert b"has ended with status 7" in process.stderr.read()


def said_raw(message: Any) -> str:
    text: str = message["result"]["content"][0]["text"]
    return text


def test_a_server_that_does_not_keep_to_the_protocol_hangs_no_call(guarded):
    with raw(guarded(BAD)) as process:
        for name, words in (
            ("garbage", "fine"),
            ("nan", "cannot be read"),
            ("flood", "longer than 16,777,216 bytes"),
            ("late", "fine"),
        ):
            send_call(process, name)
            assert words in said_raw(hear(process))


def test_a_server_that_listens_no_more_ends_the_session(guarded):
    with raw(guarded(BAD)) as process:
        send_call(process, "deaf")
        assert said_raw(hear(process)) == "fine"
        send_call(process, "fine", 2)
        assert "its output" in said_raw(hear(process))
        assert process.wait(20) == Exit.CRASHED


def test_a_client_whose_message_is_too_long_is_told_so(guarded):
    with raw(guarded(BAD)) as process:
        process.stdin.write(b'{"x": "' + b"x" * LONG + b'"}\n')
        process.stdin.flush()
        assert "longer than" in hear(process)["error"]["message"]
        send_call(process, "fine")
        assert said_raw(hear(process)) == "fine"


@pytest.mark.parametrize("last", ["fine", "stubborn"])
def test_when_the_client_ends_so_do_guard_and_server(guarded, last):
    with raw(guarded(BAD)) as process:
        send_call(process, last)
        hear(process)
        children = children_of(process.pid)
        assert children
        process.stdin.close()
        assert process.wait(20) == Exit.OK
        assert not any(is_alive(child) for child in children)


def test_when_the_guard_is_asked_to_end_so_does_the_server(guarded):
    with raw(guarded(BAD)) as process:
        send_call(process, "stubborn")
        hear(process)
        children = children_of(process.pid)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == Exit.OK
        assert not any(is_alive(child) for child in children)


def test_a_child_that_holds_the_pipes_keeps_no_one(guarded):
    with raw(guarded(BAD)) as process:
        send_call(process, "orphan")
        process.stdin.close()
        assert process.wait(20) == Exit.OK


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_the_servers_environment_is_the_clients_without_our_secrets(guarded):
    code = "import os, sys; print(sorted(name for name in os.environ if 'EVALS' in name), file=sys.stderr)"
    command = guarded([sys.executable, "-c", code])
    environment = {**ENVIRONMENT, "TOOLEVALS_TOKEN": "te_secret", "MY_EVALS": "kept"}
    done = subprocess.run(command, env=environment, input=b"", capture_output=True, timeout=30, check=False)
    assert b"['MY_EVALS']" in done.stderr


@pytest.mark.parametrize(
    ("options", "status", "words"),
    [
        ([], Exit.CONFIGURATION, "name one server"),
        (["--url", "http://127.0.0.1:9/mcp", "--", "true"], Exit.CONFIGURATION, "name one server"),
        (["--url", "ftp://127.0.0.1"], Exit.CONFIGURATION, "http://"),
        (["--", "/no/such/program"], Exit.CONFIGURATION, "cannot start /no/such/program: No such file"),
        (["--pause", "0", "--", "true"], Exit.CONFIGURATION, "above 0"),
    ],
)
def test_what_cannot_be_begun_is_said_at_once(tmp_path, capsys, options, status, words):
    file = tmp_path / "policy.json"
    file.write_text('{"rules": {}}')
    assert main(["guard-mcp", "--policy", str(file), *options]) == status
    heard = capsys.readouterr()
    assert words in heard.err
    assert heard.out == ""


@pytest.mark.parametrize(
    ("text", "words"),
    [("{", "not JSON"), ('{"rules": {"a": {"kind": "magic", "mode": "enforce"}}}', "/rules/a/kind")],
)
def test_a_bad_policy_is_refused_with_its_place(tmp_path, capsys, text, words):
    file = tmp_path / "policy.json"
    file.write_text(text)
    assert main(["guard-mcp", "--policy", str(file), "--", "true"]) == Exit.DATA
    assert words in capsys.readouterr().err
