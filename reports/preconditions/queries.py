"""Read what gold and traces tell of the order of calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, Literal
from uuid import UUID

from django.db.models import Exists, OuterRef

from labeling.models import DatasetVersion, VersionEntry
from toolevals.grading.guard import Policy as Rules
from toolevals.grading.guard.preconditions import (
    LearntPrecondition,
    OrderedCall,
    called_before,
    learnt_preconditions,
)
from toolevals.grading.guard.rules.calls import OrderRule
from toolevals.grading.layers.troubles import trouble_in
from toolevals.grading.reading.parsing import transcript_in
from toolevals.grading.values import Expectation
from toolevals.grading.values.expectations import AnyOrder, OneOfCalls
from toolevals.grading.values.tools import tool_effect
from toolevals.registry.models import Policy, ToolList
from toolevals.registry.policies.queries import tools_of
from toolevals.registry.tool_lists import tools_in
from toolevals.traces.blindness import closed_to
from toolevals.traces.models import SpanVerdict, ToolUse, Trace
from toolevals.traces.reading.filters import ERRORS
from toolevals.workspace.models import Project, Role

SourceName = Literal["gold", "traces"]
SOURCES: Final[tuple[SourceName, ...]] = ("gold", "traces")
# Of gold so many examples are read, and so many of the newest traces that went well.
MOST_GOLD: Final = 2_000
MOST_TRACES: Final = 2_000
# A pattern of names in a policy is none of a single tool, and a longer name is none that a policy holds.
_LONGEST_NAME: Final = 200


@dataclass(frozen=True, slots=True)
class SeenConversation:
    """A conversation of gold or of a trace: for each tool that it wrote with, what came before. `pk` is its id."""

    pk: UUID
    name: str
    dataset: str
    before: dict[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A pair that was learnt; `rule` is the rule of the policy's newest version that has it, empty where none has."""

    pair: LearntPrecondition
    rule: str


@dataclass(frozen=True, slots=True)
class PairConversation:
    """A conversation in which a tool was called, and whether the other always came before it."""

    source: SourceName
    seen: SeenConversation
    is_before: bool


def suggestions(policy: Policy, role: Role) -> list[Suggestion]:
    """Return the preconditions that gold and traces suggest for a policy, the surest first.

    Traces that are closed to the role are not read.
    """
    pairs = learnt_preconditions(*((each.before for each in conversations(policy, role, source)) for source in SOURCES))
    newest = policy.versions.order_by("-number").first()
    assert newest is not None  # A policy is made with its first version.
    known = _known(Rules.from_document(newest.document))
    return [Suggestion(pair, known.get((pair.tool, pair.after), "")) for pair in pairs]


def conversations(policy: Policy, role: Role, source: SourceName) -> Iterator[SeenConversation]:
    """Yield the conversations of a source in which a tool that writes was called, the newest first."""
    writes = _writes(policy)
    found = _gold(policy.project, writes) if source == "gold" else _traces(policy.project, role, writes)
    return (each for each in found if each.before)


def conversations_of(policy: Policy, role: Role, source: SourceName, tool: str, after: str) -> list[PairConversation]:
    """Return the conversations of a source in which a tool was called, the newest first."""
    return [
        PairConversation(source, each, after in each.before[tool])
        for each in sorted(conversations(policy, role, source), key=lambda each: each.pk, reverse=True)
        if tool in each.before
    ]


def _known(rules: Rules) -> dict[tuple[str, str], str]:
    """Return the preconditions of a policy's rules that are not off, each with its rule."""
    return {
        (each.tool, after): name
        for name, rule in sorted(rules.rules.items())
        if rule.mode != "off" and isinstance(rule.rule, OrderRule)
        for each in rule.rule.preconditions
        for after in each.after
    }


def _writes(policy: Policy) -> Callable[[str], bool]:
    tools = tools_of(policy)
    offered = {tool.name: tool for tool in tools_in(ToolList.objects.get(pk=tools))} if tools else {}
    return lambda name: tool_effect(name, offered.get(name)) == "writes"


def _gold(project: Project, writes: Callable[[str], bool]) -> Iterator[SeenConversation]:
    """Yield gold of the newest version of each dataset: the first accepted answer, after what was said before."""
    newest: dict[UUID, DatasetVersion] = {}
    for version in DatasetVersion.objects.in_project(project):
        newest.setdefault(version.dataset_id, version)
    entries = VersionEntry.objects.filter(version__in=newest.values(), gold__isnull=False).order_by(
        "-version", "position"
    )
    rows = entries.values_list(
        "revision__example_id",
        "revision__example__external_id",
        "version__dataset__slug",
        "revision__input",
        "gold__expectation",
    )
    for pk, name, dataset, given, expectation in rows[:MOST_GOLD]:
        calls = [*_given(given), *_expected(Expectation.from_kept(expectation))]
        yield SeenConversation(pk, name, dataset, called_before(_named(calls), writes))


def _given(document: Any) -> Iterator[OrderedCall]:
    transcript = transcript_in(document.get("messages", []))
    results = {id(result.call): result for result in transcript.results if result.call is not None}
    for call in transcript.calls:
        result = results.get(id(call))
        trouble = trouble_in(result.content, is_error=result.is_error, call=result.call) if result else None
        yield OrderedCall(call.name or "", failed=trouble is not None and trouble.error_class in ERRORS)


def _expected(expectation: Expectation) -> Iterator[OrderedCall]:
    """Yield the expected calls that have a place; of those in any order no one knows which came before."""
    for step in expectation.alternatives[0].ordered if expectation.alternatives else ():
        group = step.calls if isinstance(step, AnyOrder) else (step,)
        for each in group:
            if not isinstance(each, OneOfCalls):
                yield OrderedCall(each.tool, is_placed=len(group) == 1)


def _traces(project: Project, role: Role, writes: Callable[[str], bool]) -> Iterator[SeenConversation]:
    """Yield the newest traces that came whole, without an error, and that no rule, policy or judge failed."""
    failed = SpanVerdict.objects.filter(project=project, trace=OuterRef("pk"), status__in=("failed", "errored"))
    good = Trace.objects.in_project(project).summed_up().filter(error="", is_cut=False)
    newest = good.exclude(Exists(failed)).exclude(closed_to(project, role)).order_by("-pk")
    names = {each.pk: str(each) for each in newest.only("name", "trace_id")[:MOST_TRACES]}
    uses = ToolUse.objects.filter(trace__in=list(names)).order_by("-trace", "number")
    rows = uses.values_list("trace", "tool", "error_class")
    for trace, group in groupby(rows, key=itemgetter(0)):
        calls = [OrderedCall(tool, failed=error in ERRORS) for _, tool, error in group]
        yield SeenConversation(trace, names[trace], "", called_before(_named(calls), writes))


def _named(calls: Iterable[OrderedCall]) -> list[OrderedCall]:
    """Return calls whose tool has a name that a policy can hold for itself alone."""
    return [each for each in calls if 0 < len(each.tool) <= _LONGEST_NAME and not set("*?") & set(each.tool)]
