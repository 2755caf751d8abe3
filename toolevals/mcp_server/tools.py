"""List the tools of the server, each a function of the REST interface: its annotations are its schemas.

The first parameter is the interface; no client sees it. `TOOLS` is their order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from toolevals.grading.values import ToolSpec
from toolevals.json_types import JsonObject
from toolevals.mcp_server import acting, comparing, looking
from toolevals.sdk.annotations import Schemas, hints_of
from toolevals.sdk.specs import spec_of


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: `answers` is the schema of its answer; `reads` says that it changes nothing.

    `addresses` names those of the REST interface that it asks: their access rules are its own.
    """

    title: str
    function: Callable[..., Any]
    spec: ToolSpec
    answers: JsonObject
    reads: bool
    addresses: tuple[str, ...]


def _tool(title: str, function: Callable[..., Any], *addresses: str, reads: bool = True) -> Tool:
    made = spec_of(function, hidden=("rest",))
    schemas = Schemas()
    answers = schemas.schema(hints_of(function)["return"])
    spec = ToolSpec(name=made.name, description=made.description, input_schema=made.input_schema)
    return Tool(title, function, spec, answers, reads, addresses)


TOOLS: Final = (
    _tool(
        "Show the project",
        looking.show_project,
        "workspace-api:project",
        "labeling-api:datasets",
        "labeling-api:versions",
        "registry-api:registries",
        "runs-api:experiments",
    ),
    _tool("List runs", looking.list_runs, "runs-api:runs"),
    _tool("Find confusions", looking.find_confusions, "reports-api:matrix"),
    _tool("Read a confusion", looking.read_confusion, "reports-api:cell"),
    _tool("List cases", looking.list_cases, "reports-api:graded-cases"),
    _tool("Show a case", looking.show_case, "runs-api:case"),
    _tool("Show a tool and its history", looking.show_tool, "registry-api:versions", "registry-api:version"),
    _tool("History of a pair", comparing.pair_history, "runs-api:runs", "reports-api:matrix"),
    _tool(
        "Compare two runs", comparing.compare_runs, "reports-api:compare", "reports-api:compare-cases"
    ),
    _tool("Draft a registry version", acting.draft_version, "registry-api:versions", reads=False),
    _tool("Estimate a run", acting.estimate_run, "runs-api:repeat-estimate"),
    _tool("Start a run", acting.start_run, "runs-api:repeat", reads=False),
    _tool("Wait for a job", acting.wait_for_job, "workspace-api:job"),
    _tool(
        "Check a run by a gate",
        acting.check_gate,
        "reports-api:run-gates",
        "reports-api:gate",
        "workspace-api:job",
        reads=False,
    ),
    _tool("Suggest what to label next", looking.suggest_labels, "labeling-api:coverage"),
    _tool("Search the documents", looking.search_docs),
)  # fmt: skip
BY_NAME: Final[Mapping[str, Tool]] = {tool.spec.name: tool for tool in TOOLS}
