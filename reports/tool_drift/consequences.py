"""Tell what other tools would mean for what people and runs said of the present ones: gold, and confused pairs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import F, Q

from labeling.expectations.offered_tools import Offers
from labeling.lint.gold import gold_misfits
from labeling.models import Example, Resolution, Revision, VersionEntry
from reports.matrix.analysis import Cell
from reports.matrix.queries import counted_matrix
from reports.matrix.state import MatrixState
from toolevals.grading.values import ToolSpec
from toolevals.json_types import JsonMapping, JsonObject
from toolevals.registry.models import RegistryVersion, ToolListEntry
from toolevals.registry.tool_drift import Drift, tools_at_risk
from toolevals.runs.models import Run
from toolevals.workspace.models import Project, within

# So many gold labels are held against the new tools; beyond it the page says that there are more.
MOST_GOLD: Final = 20_000
MOST_KEPT: Final = 2_000
_PAGE: Final = 500


def gold_effect(version: RegistryVersion, after: Sequence[ToolSpec], changes: Sequence[Drift]) -> JsonObject:
    """Return which gold validates against the tools that its example offers and would not against the new ones.

    Gold is looked at where the example offers a tool of the registry whose calls are at risk. What is returned is kept
    with the source.
    """
    at_risk = tools_at_risk(changes)
    named = {change.tool for change in changes}
    other = {tool.name: tool for tool in after}
    offers, read, misfits = Offers(), 0, list[JsonObject]()
    count = 0
    for page in _pages(version, at_risk):
        lists = offers.of(tools for _, _, _, tools in page)
        for example, gold, document, tools in page:
            read += 1
            offered = lists[tools]
            changed = [other.get(name) if name in named else tool for name, tool in offered.items()]
            problems = gold_misfits(document, [tool for tool in changed if tool is not None])
            if not problems or gold_misfits(document, list(offered.values())):
                continue
            count += 1
            if len(misfits) < MOST_KEPT:
                words = f"{problems[0].pointer} {problems[0].message}"
                misfits.append({"example": str(example), "gold": str(gold), "problem": words[:500]})
    return {"read": read, "is_whole": read < MOST_GOLD, "count": count, "misfits": misfits}


def _pages(version: RegistryVersion, at_risk: Collection[str]) -> Iterator[list[Any]]:
    """Yield (example, gold, expectation, tool list) of gold in force whose example offers a tool at risk."""
    if not at_risk:
        return
    own = ToolListEntry.objects.filter(
        tools__registry_versions__registry=version.registry_id, spec__name__in=sorted(at_risk)
    )
    lists = ToolListEntry.objects.filter(spec__in=own.values("spec")).values("tools")
    rows = (
        Revision.objects.filter(
            within(version.registry.project, "example__dataset"),
            example__current=F("pk"),
            resolution=Resolution.RESOLVED,
            gold__isnull=False,
            tools__in=lists,
        )
        .order_by("pk")
        .values_list("pk", "example", "gold", "gold__expectation", "tools")
    )
    after, left = None, MOST_GOLD
    while left > 0:
        page = list((rows.filter(pk__gt=after) if after else rows)[: min(_PAGE, left)])
        if not page:
            return
        after, left = page[-1][0], left - len(page)
        yield [row[1:] for row in page]


@dataclass(frozen=True, slots=True)
class Misfit:
    """An example in force whose gold would no longer validate, and why."""

    example: Example
    problem: str

    @property
    def dataset(self) -> str:
        return self.example.dataset.slug

    @property
    def external_id(self) -> str:
        return self.example.external_id


def misfits_of(project: Project, effect: JsonMapping | None) -> list[Misfit]:
    """Return the examples that were counted, without those that were reopened or got other gold since."""
    said: Mapping[str, Any] = {each["example"]: each for each in (effect or {}).get("misfits", ())}
    rows = Example.objects.filter(within(project, "dataset"), pk__in=list(said)).select_related("dataset", "current")
    found = {str(row.pk): row for row in rows}
    return [
        Misfit(row, each["problem"])
        for pk, each in said.items()
        if (row := found.get(pk)) is not None
        and row.current is not None
        and row.current.resolution == Resolution.RESOLVED
        and str(row.current.gold_id) == each["gold"]
    ]


@dataclass(frozen=True, slots=True)
class TouchedPair:
    """A confused pair of the newest graded run of which one tool, or both, changed."""

    run: int
    cell: Cell
    query: str

    @property
    def expected(self) -> str:
        return self.cell.expected

    @property
    def actual(self) -> str:
        return self.cell.actual

    @property
    def count(self) -> int:
        return self.cell.count


def touched_pairs(version: RegistryVersion, changes: Sequence[Drift]) -> list[TouchedPair]:
    """Return the confused pairs of the newest graded run with a registry's tools that the changes touch."""
    tools = {change.tool for change in changes}
    run = runs_with(version).filter(grading__finished_at__isnull=False).first() if tools else None
    if run is None or run.grading is None:
        return []
    state = MatrixState()
    return [
        TouchedPair(run.number, cell, state.cell_query(cell.expected, cell.actual))
        for cell in counted_matrix(run.grading, state).confusions
        if cell.expected in tools or cell.actual in tools
    ]


def runs_with(version: RegistryVersion) -> Any:
    """Return the runs of people whose agent is given tools of a version's registry, or whose dataset offers them."""
    registry = version.registry
    own = ToolListEntry.objects.filter(tools__registry_versions__registry=registry).values("spec")
    lists = ToolListEntry.objects.filter(spec__in=own).values("tools")
    entries = VersionEntry.objects.filter(revision__tools__in=lists).values("version")
    runs: Any = Run.objects.in_project(registry.project).of_people().select_related("grading")
    by_dataset = Q(agent__tools=None, dataset_version__in=entries, dataset_version__dataset__deleted_at=None)
    return runs.filter(Q(agent__tools__registry=registry) | by_dataset)
