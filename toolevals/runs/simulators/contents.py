"""Tell what a simulator is made of, by kind.

`{"results": [...]}` for scripted results, `{"files": {"simulator.py": "..."}}` for code, the options of
`toolevals.agents.http_simulator` for a service, and those of `toolevals.agents.options` for an MCP server.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from django.conf import settings

from toolevals.agents.code import Limits, NoSandboxError, files_in, tools_of_code
from toolevals.agents.http_simulator import HttpOptions
from toolevals.agents.options import McpOptions
from toolevals.agents.scripted import Simulation
from toolevals.agents.worlds import WorldDiedError
from toolevals.grading.values.canonical import digest
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping, JsonObject
from toolevals.registry.mcp_servers import mcp_access, mcp_tools
from toolevals.runs.models import SimulatorKind
from toolevals.workspace.models import Project


def code_digest(files: Mapping[str, str]) -> str:
    """Return the name by content of a simulator's code: what an operator declares trusted."""
    return digest({"files": dict(files)})


def is_trusted(files: Mapping[str, str]) -> bool:
    """Tell whether this very code is ours, or declared trusted."""
    if "*" in settings.TRUSTED_SIMULATORS:
        return True
    name = code_digest(files)
    return name in settings.TRUSTED_SIMULATORS or name in map(_shipped_digest, settings.SHIPPED_SIMULATORS)


def limits() -> Limits:
    """Return what the installation's simulators may use."""
    return Limits(memory=settings.SIMULATOR_MEMORY_MB << 20, seconds=settings.SIMULATOR_SECONDS)


@cache
def _shipped_digest(folder: Path) -> str:
    return code_digest(files_in(folder))


MAIN = "simulator.py"
MAX_FILES = 200
MAX_CHARACTERS = 20_000_000
# Plain names in plain folders: nothing that leads out of the simulator's own.
_PATH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}(/[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}){0,7}")


def content_read(kind: str, said: JsonMapping) -> JsonObject:
    """Return the content of a simulator of this kind, as it is kept. Raises InvalidDocument."""
    if kind not in _READERS:
        raise InvalidDocument.at("/kind", f"must be one of {', '.join(_READERS)}")
    try:
        return _READERS[kind](said)
    except InvalidDocument as error:
        raise error.below("/content") from None


def answered_tools(project: Project, kind: str, content: JsonMapping) -> list[str] | None:
    """Return the tools that a simulator answers, None where only asking it tells.

    Code is run and an MCP server asked to tell. Raises InvalidDocument where that fails.
    """
    if kind == SimulatorKind.HTTP:
        return content["tools"] or None
    if kind == SimulatorKind.MCP:
        return _tools_of_server(project, content)
    if kind == SimulatorKind.SCRIPTED:
        return list(dict.fromkeys(result["tool"] for result in content["results"]))
    try:
        tools = tools_of_code(content["files"], limits=limits(), trusted=is_trusted(content["files"]))
    except (NoSandboxError, WorldDiedError) as error:
        raise InvalidDocument.at("/content/files", str(error)) from None
    if not tools:
        raise InvalidDocument.at("/content/files", "The code has no tools: no public function and no TOOLS.")
    return tools


def may_be_asked(project: Project, kind: str, content: JsonMapping) -> None:
    """Find out, without asking anyone, whether a simulator may be. Raises InvalidDocument."""
    if kind != SimulatorKind.MCP:
        return
    try:
        mcp_access(project, McpOptions.from_document(content))
    except InvalidDocument as error:
        raise error.below("/content") from None


def content_keyed(kind: str, content: JsonMapping) -> HttpOptions | McpOptions | None:
    """Return what names a secret and its address in a simulator's content; None where its kind has no secret."""
    if kind == SimulatorKind.HTTP:
        return HttpOptions.from_document(content)
    return McpOptions.from_document(content) if kind == SimulatorKind.MCP else None


def _scripted(said: JsonMapping) -> JsonObject:
    _only(said, "results")
    results = said.get("results")
    if not results:
        raise InvalidDocument.at("/results", "must hold a result")
    Simulation.from_document({"results": results})
    return {"results": results}


def _code(said: JsonMapping) -> JsonObject:
    _only(said, "files")
    files = said.get("files")
    if not isinstance(files, Mapping) or not all(isinstance(text, str) for text in files.values()):
        raise InvalidDocument.at("/files", "must be texts by file name")
    if MAIN not in files:
        raise InvalidDocument.at("/files", f"must hold {MAIN}")
    wrong = [name for name in files if not _PATH.fullmatch(name)]
    if wrong:
        raise InvalidDocument(
            [
                Problem("/files", f"{name[:100]!r} is not a plain path of names up to 100 characters")
                for name in wrong[:20]
            ]
        )
    folders = {name.rpartition("/")[0] for name in files}
    if taken := [name for name in files if any(f"{folder}/".startswith(f"{name}/") for folder in folders)]:
        raise InvalidDocument([Problem("/files", f"{name[:100]!r} is a file and a folder") for name in taken[:20]])
    if len(files) > MAX_FILES or sum(map(len, files.values())) > MAX_CHARACTERS:
        raise InvalidDocument.at("/files", f"are too many: {MAX_FILES} files and {MAX_CHARACTERS:,} characters fit")
    return {"files": dict(files)}


def _only(said: JsonMapping, *names: str) -> None:
    unknown = [name for name in said if name not in names]
    if unknown:
        raise InvalidDocument([Problem(f"/{name}", "is not part of such a simulator") for name in unknown])


def _tools_of_server(project: Project, content: JsonMapping) -> list[str]:
    try:
        return [tool["name"] for tool in mcp_tools(project, McpOptions.from_document(content))["tools"]]
    except InvalidDocument as error:
        raise error.below("/content") from None


def _mcp(said: JsonMapping) -> JsonObject:
    return McpOptions.from_document(said).to_document()


_READERS: Mapping[str, Callable[[JsonMapping], JsonObject]] = {
    SimulatorKind.SCRIPTED: _scripted,
    SimulatorKind.CODE: _code,
    SimulatorKind.HTTP: lambda said: HttpOptions.from_document(said).to_document(),
    SimulatorKind.MCP: _mcp,
}
