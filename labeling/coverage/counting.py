"""Count a dataset's examples by class of each stratum, and by tool with edge cases and errors."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache

from django.db.models import Case, Count, F, Value, When

from labeling.blindness import RESOLVED, is_resolved
from labeling.coverage.expected import ANY_CALL, NO_CALL
from labeling.coverage.index_gold_tools import gold_in_force, unread
from labeling.coverage.quotas import CLASSES, class_of
from labeling.models import Dataset, Example, ToolPart
from toolevals.grading.edge_cases import applicable_kinds
from toolevals.grading.values import ToolSpec
from toolevals.json_types import JsonObject
from toolevals.registry.models import ToolSpec as StoredSpec
from toolevals.registry.tool_lists import tools_in

WAITING = "waiting"
GOLD, SET_ASIDE = RESOLVED


AT_ONCE = 500


@dataclass(slots=True)
class ToolCounts:
    """Examples with gold that are about one tool, by class.

    `expected`: its gold calls it; `negative`: the request comes near it and no call is right, `estimated`
    of them by an estimate alone; `error_recovery`: the agent reacts to its error. `strata` counts those that call it;
    errors those in which it gave the error.
    """

    expected: int = 0
    negative: int = 0
    estimated: int = 0
    error_recovery: int = 0
    strata: dict[str, dict[str, int]] = field(default_factory=lambda: {stratum: {} for stratum in CLASSES})

    def add(self, stratum: str, name: str, count: int) -> None:
        """Count more examples of a class."""
        self.strata[stratum][name] = self.strata[stratum].get(name, 0) + count


@dataclass(slots=True)
class Counts:
    """A dataset's counts. `strata`: stratum -> class -> [with gold, waiting]; `unread`: gold not yet read."""

    size: int = 0
    gold: int = 0
    waiting: int = 0
    set_aside: int = 0
    unread: int = 0
    strata: dict[str, dict[str, list[int]]] = field(default_factory=lambda: {stratum: {} for stratum in CLASSES})
    tools: dict[str, ToolCounts] = field(default_factory=dict)

    def tool(self, name: str) -> ToolCounts:
        """Return the counts of a tool, made at the first call."""
        return self.tools.setdefault(name, ToolCounts())

    def to_document(self) -> JsonObject:
        """Return what `from_document` takes."""
        return asdict(self)

    @classmethod
    def from_document(cls, document: JsonObject) -> Counts:
        """Return the counts that `to_document` gave."""
        tools = {name: ToolCounts(**counts) for name, counts in document["tools"].items()}
        return cls(**{**document, "tools": tools})


def counts_told(counts: Counts, hidden: Collection[str]) -> Counts:
    """Return the counts without what they tell of `hidden` strata of examples that wait for labels."""

    def told(stratum: str, classes: dict[str, list[int]]) -> dict[str, list[int]]:
        if stratum not in hidden:
            return classes
        return {name: [have, 0] for name, (have, _) in classes.items() if have}

    return replace(counts, strata={stratum: told(stratum, classes) for stratum, classes in counts.strata.items()})


def coverage_count(dataset: Dataset, *, is_read: bool = False) -> Counts:
    """Count a dataset's examples now. Costs a scan of them: see `labeling.coverage.cache`.

    `is_read`: all of its gold is known to have been read.
    """
    counts = Counts(unread=0 if is_read else unread(dataset).count())
    _count_strata(dataset, counts)
    _count_expected(dataset, counts)
    _count_errors(dataset, counts)
    _count_negatives(dataset, counts)
    return counts


def _count_strata(dataset: Dataset, counts: Counts) -> None:
    state = Case(When(is_resolved("current"), then=F("current__resolution")), default=Value(WAITING))
    rows = Example.objects.of_dataset(dataset).order_by().annotate(state=state)
    for *values, found, number in rows.values_list(*CLASSES, "state").annotate(n=Count("pk")):
        counts.size += number
        if found == SET_ASIDE:
            counts.set_aside += number
            continue
        place = int(found == WAITING)
        counts.gold, counts.waiting = counts.gold + number * (1 - place), counts.waiting + number * place
        for stratum, value in zip(CLASSES, values, strict=True):
            if value:
                counts.strata[stratum].setdefault(class_of(stratum, value), [0, 0])[place] += number


def _count_expected(dataset: Dataset, counts: Counts) -> None:
    told = ("example__bucket", "example__difficulty", "example__edge_case", "gold__tools__kinds")
    rows = gold_in_force(dataset).filter(gold__tools__part=ToolPart.EXPECTED).order_by()
    for name, bucket, difficulty, edge, kinds, number in rows.values_list("gold__tools__tool", *told).annotate(
        n=Count("pk")
    ):
        tool = counts.tool(name)
        tool.expected += number
        for stratum, value in (("bucket", bucket), ("difficulty", difficulty)):
            if value:
                tool.add(stratum, class_of(stratum, value), number)
        exercised = {kind for kind in kinds.split(",") if kind} | ({class_of("edge_case", edge)} if edge else set())
        for kind in exercised:
            tool.add("edge_case", kind, number)


def _count_errors(dataset: Dataset, counts: Counts) -> None:
    rows = gold_in_force(dataset).filter(gold__tools__part=ToolPart.ANSWERED).order_by()
    told = ("gold__tools__tool", "example__bucket", "example__error_class")
    for name, bucket, error, number in rows.values_list(*told).annotate(n=Count("pk")):
        if error:
            counts.tool(name).add("error_class", class_of("error_class", error), number)
        if error or class_of("bucket", bucket) == "error_recovery":
            counts.tool(name).error_recovery += number


def _count_negatives(dataset: Dataset, counts: Counts) -> None:
    near = (ToolPart.NEAR, ToolPart.ESTIMATED)
    rows = gold_in_force(dataset).filter(gold__tools__part__in=near).order_by()
    for name, part, number in rows.values_list("gold__tools__tool", "gold__tools__part").annotate(n=Count("pk")):
        counts.tool(name).negative += number
        counts.tool(name).estimated += number if part == ToolPart.ESTIMATED else 0


def is_tool(name: str) -> bool:
    """Tell whether a class of the counts is a tool."""
    return name not in (NO_CALL, ANY_CALL)


def tools_to_cover(dataset: Dataset, counts: Counts) -> dict[str, frozenset[str]]:
    """Return the default tools and those that gold calls: name -> edge cases that the tool admits.

    Of a tool that is no default tool, the newest spec of that name in the project says which.
    """
    specs = {spec.name: spec for spec in tools_in(dataset.default_tools.tools)} if dataset.default_tools else {}
    others = {name for name, tool in counts.tools.items() if is_tool(name) and tool.expected} - specs.keys()
    specs |= _newest(dataset, others)
    return {name: _kinds(spec) for name, spec in specs.items()}


def _newest(dataset: Dataset, names: Iterable[str]) -> dict[str, ToolSpec]:
    wanted = sorted(names)
    newest: dict[str, object] = {}
    for start in range(0, len(wanted), AT_ONCE):
        stored = StoredSpec.objects.filter(project=dataset.project_id, name__in=wanted[start : start + AT_ONCE])
        newest |= dict(stored.order_by("id").values_list("name", "document"))
    return {name: ToolSpec.from_document(document) for name, document in newest.items()}


@lru_cache(maxsize=8192)
def _kinds(spec: ToolSpec) -> frozenset[str]:
    return frozenset(kind.value for kinds in applicable_kinds(spec).values() for kind in kinds)
