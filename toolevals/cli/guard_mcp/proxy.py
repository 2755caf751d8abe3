"""Takes each message between a client and a server, and decides what becomes of it.

Calls of tools, their results and lists of tools are looked into. All else passes as it was written.
"""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, Final

import orjson

from toolevals.cli.guard_mcp.session_guard import SessionCall, SessionGuard, sentences
from toolevals.grading.guard import Decision, Reason
from toolevals.grading.reading.parsing import printable
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping, JsonObject, JsonValue

LONGEST_MESSAGE: Final = 16 * 1024 * 1024
"""The most bytes of one message."""
# Requests without an answer, pages of a list of tools, and its tools.
MOST_PENDING: Final = 10_000
MOST_PAGES: Final = 200
MOST_TOOLS: Final = 10_000
LIST_SECONDS: Final = 10.0
"""A call waits for the server's list of tools for so many seconds."""

NOT_JSON, INVALID_REQUEST, INVALID_PARAMS, FAILED = -32700, -32600, -32602, -32000
TOO_LONG: Final = f"A message is longer than {LONGEST_MESSAGE:,} bytes, which is the most that is taken."
Send = Callable[[bytes], None]


@dataclass(frozen=True, slots=True)
class Pending:
    """A request of the client that the server has not answered."""

    id: JsonValue
    method: str
    call: SessionCall | None = None


@dataclass(slots=True)
class ToolList:
    """The server's list of tools, as the guard asks for it: with the id of the page that is awaited."""

    known: threading.Event = field(default_factory=threading.Event)
    asked: str = ""
    meta: JsonObject = field(default_factory=dict)
    tools: list[JsonValue] = field(default_factory=list)
    pages: int = 0


class Proxy:
    """The messages of one session. Both directions may come from threads of their own.

    `log` is told of each refusal, and with `audit` also of what rules in audit would refuse or could not tell.
    """

    def __init__(
        self,
        guard: SessionGuard,
        *,
        to_client: Send,
        to_server: Send,
        log: Callable[[str], None],
        audit: bool = False,
        list_seconds: float = LIST_SECONDS,
    ) -> None:
        self._guard = guard
        self._to_client = to_client
        self._to_server = to_server
        self._log = log
        self._audit = audit
        self._list_seconds = list_seconds
        self._names_server = not guard.about.server
        self._lock = threading.Lock()
        self._pending: dict[str, Pending] = {}
        self._tasks: dict[str, SessionCall] = {}
        self._list = ToolList()
        # The ids of our own requests.
        self._own = f"toolevals-{uuid.uuid4().hex}-"
        self._numbers = count()

    def from_client(self, line: bytes) -> None:
        """Take a message of the client."""
        try:
            message = load_json(line, max_bytes=LONGEST_MESSAGE)
        except InvalidDocument as error:
            self._log(f"a message of the client was refused: {error}")
            self._answer_error(None, NOT_JSON, f"The message cannot be read: {error}")
            return
        for each, written in _each(message, line):
            self._take_of_client(each, written)

    def _take_of_client(self, message: JsonValue, line: bytes) -> None:
        if not isinstance(message, dict) or not isinstance(message.get("method", ""), str):
            self._answer_error(None, INVALID_REQUEST, "The message is not JSON-RPC request.")
        elif "method" not in message:
            # An answer to a request of the server.
            self._to_server(line)
        elif "id" not in message:
            if message["method"] == "tools/call":
                self._log("a call without an id was refused")
            else:
                self._to_server(line)
        else:
            self._take_request(message, line)

    def _take_request(self, message: JsonObject, line: bytes) -> None:
        identifier, method = message["id"], message["method"]
        if not isinstance(identifier, str | int | float) or isinstance(identifier, bool):
            self._answer_error(None, INVALID_REQUEST, "The id is neither text nor a number.")
            return
        with self._lock:
            if _key(identifier) in self._pending or len(self._pending) >= MOST_PENDING:
                words = "The id is that of a request without an answer, or too many requests have none."
                self._answer_error(identifier, INVALID_REQUEST, words)
                return
        params = message.get("params")
        given = params if isinstance(params, dict) else {}
        if method in ("tools/call", "tools/list"):
            self._ask_for_tools(given)
        if method == "tools/call":
            self._take_call(identifier, given, line)
            return
        task = given.get("taskId")
        call = self._tasks.get(task) if method.startswith("tasks/") and isinstance(task, str) else None
        self._pass_request(Pending(identifier, method, call), line)

    def _pass_request(self, pending: Pending, line: bytes) -> None:
        with self._lock:
            self._pending[_key(pending.id)] = pending
        self._to_server(line)

    def _take_call(self, identifier: JsonValue, params: JsonObject, line: bytes) -> None:
        name, arguments = params.get("name"), params.get("arguments")
        if not isinstance(name, str) or not isinstance(arguments, dict | None):
            words = "The call has no name, or its arguments are not an object."
            self._answer_error(identifier, INVALID_PARAMS, words)
            return
        self._list.known.wait(self._list_seconds)
        with self._lock:
            decision, call = self._guard.check_call(name, arguments or {})
        self._tell(f"the call of {name}", decision)
        if call is None:
            self._answer(identifier, refusal(f"The guard refused this call: {sentences(decision.reasons)}"))
        else:
            self._pass_request(Pending(identifier, "tools/call", call), line)

    def _ask_for_tools(self, params: JsonMapping) -> None:
        """Ask the server for its tools, unless that was done; `params` are those of a request of the client."""
        with self._lock:
            if self._list.asked:
                return
            meta = params.get("_meta")
            kept = {name: value for name, value in meta.items() if name != "progressToken"} if meta else {}
            self._list.meta = {"_meta": kept} if kept else {}
            request = self._next_page()
        self._to_server(request)

    def _next_page(self, cursor: str = "") -> bytes:
        self._list.asked = f"{self._own}{next(self._numbers)}"
        params = {**self._list.meta, **({"cursor": cursor} if cursor else {})}
        return _written({"jsonrpc": "2.0", "id": self._list.asked, "method": "tools/list", "params": params})

    def from_server(self, line: bytes) -> None:
        """Take a message of the server."""
        try:
            message = load_json(line, max_bytes=LONGEST_MESSAGE)
        except InvalidDocument as error:
            self._take_unreadable(line, error)
            return
        for each, written in _each(message, line):
            self._take_of_server(each, written)

    def _take_of_server(self, message: JsonValue, line: bytes) -> None:
        if not isinstance(message, dict):
            self._log("a message of the server was dropped: it is not JSON-RPC message")
        elif "method" in message:
            self._to_client(line)
            if message["method"] == "notifications/tools/list_changed":
                self._ask_again()
        elif str(message.get("id")).startswith(self._own):
            self._take_page(message)
        else:
            self._take_answer(message, line)

    def _take_unreadable(self, line: bytes, error: InvalidDocument) -> None:
        """Drop a line. Where it is an answer that we do not take, such as one with NaN, the client is told so."""
        self._log(f"a line of the server was dropped: {str(error)[:300]}")
        try:
            message = json.loads(line)
            key = _key(message["id"])
        except (ValueError, TypeError, LookupError, RecursionError):
            return
        with self._lock:
            pending = self._pending.pop(key, None)
        if pending is not None:
            self._answer_failed(pending, f"The server's answer cannot be read: {error}")

    def _ask_again(self) -> None:
        with self._lock:
            if not self._list.asked:
                return
            earlier, self._list = self._list, ToolList(meta=self._list.meta)
            request = self._next_page()
        # A call that waits for the earlier list goes on.
        earlier.known.set()
        self._to_server(request)

    def _take_page(self, message: JsonObject) -> None:
        result = message.get("result")
        page = result if isinstance(result, dict) else {}
        with self._lock:
            if message["id"] != self._list.asked:
                # The list was changed since.
                return
            tools, cursor = page.get("tools"), page.get("nextCursor")
            self._list.tools += tools if isinstance(tools, list) else []
            self._list.pages += 1
            is_short = self._list.pages < MOST_PAGES and len(self._list.tools) < MOST_TOOLS
            request = self._next_page(cursor) if isinstance(cursor, str) and cursor and is_short else b""
            if not request:
                self._guard.offer(self._list.tools[:MOST_TOOLS])
                self._list.known.set()
        if request:
            self._to_server(request)

    def _take_answer(self, message: JsonObject, line: bytes) -> None:
        identifier = message.get("id")
        with self._lock:
            pending = self._pending.pop(_key(identifier), None)
        if pending is None:
            if identifier is None and "result" not in message:
                self._to_client(line)
            else:
                # A client may take an id for another that we do not, "1" for 1: what was not checked does not pass.
                self._log("an answer of the server was dropped: no request has its id")
        elif pending.call is not None:
            self._take_result(pending, pending.call, message, line)
        elif pending.method == "tools/list":
            self._take_list(message, line)
        else:
            if pending.method in ("initialize", "server/discover") and self._names_server:
                self._guard.about = replace(self._guard.about, server=_server_name(message))
            self._to_client(line)

    def _take_list(self, message: JsonObject, line: bytes) -> None:
        result = message.get("result")
        tools = result.get("tools") if isinstance(result, dict) else None
        if not isinstance(result, dict) or not isinstance(tools, list):
            self._to_client(line)
            return
        shown = [tool for tool in tools if self._is_listed(tool)]
        if len(shown) == len(tools):
            self._to_client(line)
        else:
            self._to_client(_written({**message, "result": {**result, "tools": shown}}))

    def _is_listed(self, tool: Any) -> bool:
        if not isinstance(tool, dict) or not isinstance(tool.get("name"), str):
            self._log("a tool without a name was not listed")
            return False
        with self._lock:
            decision = self._guard.listed(tool)
        self._tell(f"the tool {tool['name']}", decision)
        return decision.allowed

    def _take_result(self, pending: Pending, call: SessionCall, message: JsonObject, line: bytes) -> None:
        result = message.get("result")
        is_error = not isinstance(result, dict) or result.get("isError") is True or "task" in result
        with self._lock:
            answer = {name: value for name, value in message.items() if name not in ("jsonrpc", "id")}
            asked = answer if "error" in message else result
            decision = self._guard.check_result(call, asked, is_error=is_error, size=len(line))
            if isinstance(result, dict):
                self._note_unfinished(call, result)
        self._tell(f"the result of {call.past.name}", decision)
        if decision.allowed:
            self._to_client(line)
        else:
            words = f"The call was made, and the guard withheld its result: {sentences(decision.reasons)}"
            self._answer(pending.id, refusal(words))

    def _note_unfinished(self, call: SessionCall, result: JsonObject) -> None:
        """Keep in mind that a result comes later, as that of a task, or that the call will be made once more."""
        task = result.get("task")
        if isinstance(task, dict) and isinstance(task.get("taskId"), str) and len(self._tasks) < MOST_PENDING:
            self._tasks[task["taskId"]] = call
        if result.get("resultType") == "input_required":
            self._guard.take_back(call)

    def server_sent_too_much(self) -> None:
        """Take note that a message of the server was dropped for its length: it may answer any request."""
        self._log(f"a message of the server was dropped: {TOO_LONG}")
        self._fail_pending(f"{TOO_LONG} The server sent such a message; it may be the answer.")

    def client_sent_too_much(self) -> None:
        """Take note that a message of the client was dropped for its length."""
        self._log(f"a message of the client was refused: {TOO_LONG}")
        self._answer_error(None, INVALID_REQUEST, TOO_LONG)

    def server_ended(self, words: str) -> None:
        """Tell the client, for each request without an answer, that there will be none."""
        self._list.known.set()
        self._fail_pending(words)

    def _fail_pending(self, words: str) -> None:
        with self._lock:
            pending, self._pending = list(self._pending.values()), {}
        for each in pending:
            self._answer_failed(each, words)

    def _answer_failed(self, pending: Pending, words: str) -> None:
        if pending.method == "tools/call":
            self._answer(pending.id, refusal(words))
        else:
            self._answer_error(pending.id, FAILED, words)

    def _answer(self, identifier: JsonValue, result: JsonObject) -> None:
        self._to_client(_written({"jsonrpc": "2.0", "id": identifier, "result": result}))

    def _answer_error(self, identifier: JsonValue, code: int, words: str) -> None:
        error = {"code": code, "message": printable(words)[:2_000]}
        self._to_client(_written({"jsonrpc": "2.0", "id": identifier, "error": error}))

    def _tell(self, what: str, decision: Decision) -> None:
        self._tell_reasons(f"refused {what}", decision.reasons)
        if self._audit:
            self._tell_reasons(f"would refuse {what}", decision.would_refuse)
            known = {*decision.reasons, *decision.would_refuse}
            self._tell_reasons(f"cannot report {what}", (each for each in decision.unanswered if each not in known))

    def _tell_reasons(self, what: str, reasons: Iterable[Reason]) -> None:
        for reason in reasons:
            self._log(f"{what}: rule {reason.rule}: {reason.sentence}")


def refusal(words: str) -> JsonObject:
    """Return the result of a call that a model reads as a failure, with what it can do about it."""
    return {"content": [{"type": "text", "text": printable(words)}], "isError": True, "resultType": "complete"}


def _each(message: JsonValue, line: bytes) -> list[tuple[JsonValue, bytes]]:
    """Return the messages of a line, which may be a batch, each with how it is written."""
    return [(each, _written(each)) for each in message] if isinstance(message, list) else [(message, line)]


def _written(message: JsonValue) -> bytes:
    try:
        return orjson.dumps(message)
    except TypeError:
        # An integer of more than 64 bits.
        return json.dumps(message).encode()


def _key(identifier: JsonValue) -> str:
    return json.dumps(identifier)


def _server_name(message: JsonObject) -> str:
    result = message.get("result")
    info = result.get("serverInfo") if isinstance(result, dict) else None
    name = info.get("name") if isinstance(info, dict) else None
    return name if isinstance(name, str) else ""
