"""Runs a simulator's code, as a process. It knows the standard library alone, for its sandbox holds nothing else.

`python driver.py CONFIGURATION`, then a request a line on standard input and a reply a line on standard output, all of
them JSON. The first line says `{"tools": [...]}`. Requests and replies:

    {"do": "begin", "state": null or an object}        {}
    {"do": "call", "tool": "...", "arguments": {...}}  {"result": ...}, {"error": "..."} or {"missing": true}
    {"do": "initial"}                                  {"state": {...}}, with which worlds begin
    {"do": "changes"}                                  {"patch": [...]}, a JSON Patch to what it is now

`{"broken": "..."}` is a mistake in the code itself; `{"died": "memory", "detail": "..."}` is this process's last line.
"""

from __future__ import annotations

import errno
import importlib.util
import io
import json
import os
import resource
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn, TypeAlias


def _beside(name: str) -> ModuleType:
    """Load a file that is next to this one, where no package is."""
    specification = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert specification is not None and specification.loader is not None  # noqa: PT018 - the file is there
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


states = _beside("states")
JsonMapping: TypeAlias = Mapping[str, Any]
JsonObject: TypeAlias = dict[str, Any]
MODULE = "simulator"
ERROR_LENGTH = 4_000
# What a simulator has no business with, by the name under which Python announces it, and what it then died of.
FORBIDDEN = {
    "os.exec": "processes",
    "os.fork": "processes",
    "os.forkpty": "processes",
    "os.posix_spawn": "processes",
    "os.spawn": "processes",
    "os.system": "processes",
    "subprocess.Popen": "processes",
    "socket.__new__": "network",
    "socket.getaddrinfo": "network",
    "socket.gethostbyname": "network",
}
FULL = {errno.ENOSPC: "disk", errno.EFBIG: "disk", errno.EDQUOT: "disk", errno.EMFILE: "files"}


class Program:
    """A simulator's tools, and the state of one world at a time."""

    def __init__(self, module: ModuleType) -> None:
        self.tools = _tools(module)
        self.own = states.SharedState(json.loads(json.dumps(getattr(module, "STATE", {}), allow_nan=False)))
        self._shared = self.own
        self.state: Any = None

    def begin(self, state: JsonMapping | None) -> None:
        """Start another world, in a given state or in the simulator's own."""
        self._shared = self.own if state is None else states.SharedState(state)
        self.state = self._shared.begin()

    def changes(self) -> list[JsonObject]:
        """Return what became of the state since. Raises what `SharedState.end` raises."""
        changes: list[JsonObject] = self._shared.changes(self.state)
        return changes

    def call(self, tool: str, arguments: JsonMapping) -> Any:
        """Return what a tool returns; raises what it raises."""
        return self.tools[tool](self.state, **arguments)


def _tools(module: ModuleType) -> dict[str, Callable[..., Any]]:
    """Return the callables of `TOOLS`, else every public function that the module itself defines."""
    said = getattr(module, "TOOLS", None)
    if said is not None:
        return {str(name): tool for name, tool in said.items()}
    return {
        name: tool
        for name, tool in vars(module).items()
        if callable(tool)
        and not name.startswith("_")
        and not isinstance(tool, type)
        and getattr(tool, "__module__", "") == module.__name__
    }


class Output(io.TextIOBase):
    """The output of the code's prints: they go nowhere, and have an end."""

    def __init__(self, most: int, full: Callable[[], NoReturn]) -> None:
        self.left = self._most = most
        self._full = full

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.left -= len(text)
        if self.left < 0:
            self._full()
        return len(text)

    def renew(self) -> None:
        """Forget what was printed."""
        self.left = self._most


class Driver:
    """Reads requests and answers them until there are no more."""

    def __init__(self, said: JsonMapping) -> None:
        self._said = said
        self._requests = os.fdopen(os.dup(0), "rb")
        self._replies = os.dup(1)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(nowhere, standard)
        self._output = Output(said["output"], lambda: self.die("output", "printed too much"))
        sys.stdout = sys.stderr = self._output

    def serve(self) -> None:
        """Load the code, say which tools it has, then do as told."""
        self._allow_time()
        try:
            sys.path.insert(0, self._said["folder"])
            program = Program(importlib.import_module(MODULE))
        except BaseException as error:  # noqa: BLE001 - whatever the code raises is its own
            self._raised(error)
            self._reply({"broken": f"it cannot be loaded: {_described(error)}"})
            return
        self._reply({"tools": list(program.tools)})
        for line in self._requests:
            self._allow_time()
            self._output.renew()
            self._reply(self._answer(program, json.loads(line)))

    def _answer(self, program: Program, request: JsonMapping) -> JsonObject:
        if request["do"] == "begin":
            program.begin(request["state"])
            return {}
        if request["do"] == "initial":
            return {"state": program.own.initial}
        if request["do"] == "changes":
            try:
                return {"patch": program.changes()}
            except (states.NotJSONError, states.BreachedError) as error:
                return {"broken": _described(error)}
        if request["tool"] not in program.tools:
            return {"missing": True}
        try:
            return {"result": program.call(request["tool"], request["arguments"])}
        except BaseException as error:  # noqa: BLE001 - a tool that raises has answered
            self._raised(error)
            return {"error": _described(error)}

    def _raised(self, error: BaseException) -> None:
        """End here if what was raised says that a limit was reached, or that the code wants to end."""
        if isinstance(error, MemoryError):
            self.die("memory")
        if isinstance(error, OSError) and error.errno in FULL:
            self.die(FULL[error.errno], str(error.strerror))
        if isinstance(error, RuntimeError) and "start new thread" in str(error):
            self.die("processes", "a thread")
        if not isinstance(error, Exception):
            self.die("exit", _described(error))

    def _reply(self, reply: JsonMapping) -> None:
        try:
            text = json.dumps(reply, allow_nan=False)
        except MemoryError:
            self.die("memory")
        except (TypeError, ValueError, RecursionError) as error:
            text = json.dumps({"broken": f"it gave what JSON cannot say: {_described(error)}"})
        most = self._said["output" if reply.keys().isdisjoint(("state", "patch")) else "state_output"]
        if len(text) > most:
            self.die("output", "returned too much")
        self._write(text)

    def _write(self, text: str) -> None:
        rest = memoryview(text.encode() + b"\n")
        while rest:
            rest = rest[os.write(self._replies, rest) :]

    def die(self, cause: str, detail: str = "") -> NoReturn:
        """Say what ended this process, and end it."""
        self._write(json.dumps({"died": cause, "detail": detail}))
        os._exit(1)

    def forbid(self) -> None:
        """Reserve nothing but memory for the code, and end where it reaches for more.

        The sandbox keeps files and networks away, and these limits what is left. The hook only puts a name to it.
        """
        memory = self._said["memory"]
        for name, most in (("AS", memory), ("NPROC", 0), ("NOFILE", 64), ("FSIZE", memory), ("CORE", 0)):
            kind = getattr(resource, f"RLIMIT_{name}")
            resource.setrlimit(kind, (most, most))
        sys.addaudithook(self._announced)

    def _announced(self, event: str, _: tuple[object, ...]) -> None:
        if event in FORBIDDEN:
            self.die(FORBIDDEN[event], event)

    def _allow_time(self) -> None:
        """Let the kernel end this process when what comes next takes too much of the processor."""
        usage = resource.getrusage(resource.RUSAGE_SELF)
        most = int(usage.ru_utime + usage.ru_stime + self._said["seconds"]) + 1
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (most, hard))


def _described(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"[:ERROR_LENGTH]
    except Exception:  # noqa: BLE001 - the code's own exceptions may fail even here
        return type(error).__name__


def main() -> None:
    """Give up what this process was born with, then serve."""
    said = json.loads(sys.argv[1])
    if said["user"] is not None:
        os.setgroups([])
        os.setresgid(*[said["user"]] * 3)
        os.setresuid(*[said["user"]] * 3)
    driver = Driver(said)
    if said["confined"]:
        driver.forbid()
    driver.serve()


if __name__ == "__main__":
    main()
