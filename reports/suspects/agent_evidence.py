"""Tell what agents' cases say of each example of a dataset version: read grading by grading, a page at a time.

Evidence are the shown gradings of the dataset's newest runs as far as they compare with the same gold. Baseline agents
are not heard. A voice is a model, where the agent names one, else an agent's name: further prompts, commits and runs
of it are further trials of the same voice, because they err together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from labeling.expectations.offered_tools import Offers
from labeling.models import DatasetVersion, Gold, VersionEntry
from reports.cases.analysis import matcher_text, path_text, value_text
from reports.suspects.analysis import AGREEMENT, LEFT_OUT, ModelOpinion, Point, Trial, skilled
from toolevals.agents.replay import GOLD_REFUSED
from toolevals.grading.layers.recovery import TRANSIENT, trouble_in
from toolevals.grading.matching.compiled_calls import InexactError, exact_calls
from toolevals.grading.values import Expectation, ToolCall, Transcript
from toolevals.grading.values.canonical import canonical
from toolevals.grading.values.tools import tool_effect
from toolevals.grading.values.verdicts import NONE
from toolevals.json_types import JsonMapping
from toolevals.runs.models import CaseGrade, Connector, Episode, Grading, Run

# Tool -> "reads", "writes" or "unknown".
EffectOf = Callable[[str], str]


def points_of(detail: JsonMapping, effect: EffectOf) -> Iterator[Point]:
    """Yield what a case says against the gold that it failed.

    Among several calls one that only looks something up leaves no trace, so that its absence or presence says nothing.
    A tool in place of another is an answer where one call is expected and one is made; else it is a missed call.
    """
    pairs = detail["pairs"]
    due = sum(pair["expected"] != NONE for pair in pairs)
    made = sum(pair["actual"] != NONE for pair in pairs)
    for number, pair in enumerate(pairs):
        expected, actual = pair["expected"], pair["actual"]
        if expected == NONE:
            yield from _extra(detail, number, actual, due, effect)
        elif due == 1 and made <= 1 and actual != expected:
            yield Point(AGREEMENT, "the call", expected, _called(actual))
        elif due > 1 and effect(expected) == "reads":
            continue
        elif actual == expected:
            yield from _arguments(detail, number, expected)
        else:
            yield Point(LEFT_OUT, expected, str(number), "")


def _extra(detail: JsonMapping, number: int, tool: str, due: int, effect: EffectOf) -> Iterator[Point]:
    """Yield a call that is not expected: one that writes, or whatever is called where nothing is expected."""
    if tool == NONE or effect(tool) == "reads" or (due and effect(tool) == "unknown"):
        return
    said = sorted((each["path"], value_text(each["actual"])) for each in _differences(detail, number))
    arguments = ", ".join(f"{path_text(path)}={value}" for path, value in said)
    yield Point(AGREEMENT, "an unexpected call", "", f"{tool}({arguments})")


def _arguments(detail: JsonMapping, number: int, tool: str) -> Iterator[Point]:
    for each in _differences(detail, number):
        if each["kind"] == "same":
            continue
        expected = "nothing" if each["kind"] == "extra" else matcher_text(each["expected"])
        said = "nothing" if each["kind"] == "missing" else value_text(each["actual"])
        place = f"{path_text(each['path'])} of {tool}" + (f" (call {number + 1})" if number else "")
        yield Point(AGREEMENT, place, expected, said)


def _differences(detail: JsonMapping, number: int) -> Iterator[JsonMapping]:
    yield from (each for each in detail["differences"] if each.get("pair", 0) == number)


def _called(actual: str) -> str:
    return "no call" if actual == NONE else actual


# So many of a dataset's newest graded runs are heard.
RUNS: Final = 50
_PAGE: Final = 500
_COLUMNS: Final = (
    "pk",
    "transcript__entry__revision_id",
    "outcome",
    "execution",
)


@dataclass(frozen=True, slots=True)
class Heard:
    """An example of the version: its gold, and the tools that it offers."""

    gold: UUID
    tools: UUID


@dataclass(slots=True)
class Hearing:
    """The voices on each revision, by agent."""

    voices: dict[UUID, dict[str, ModelOpinion]] = field(default_factory=dict)

    def of(self, revision: UUID) -> list[ModelOpinion]:
        """Return the voices on a revision, by name."""
        return [voice for _, voice in sorted(self.voices.get(revision, {}).items())]

    def known(self) -> None:
        """Set every voice's skill, once all is heard."""
        skilled(self.of(revision) for revision in self.voices)

    def add(self, revision: UUID, agent: str, trial: Trial) -> None:
        """Take in one scored case."""
        self.voices.setdefault(revision, {}).setdefault(agent.casefold(), ModelOpinion(agent)).trials.append(trial)


def gradings_heard(version: DatasetVersion) -> list[Grading]:
    """Return the gradings that are evidence on a version, the newest run first."""
    runs = Run.objects.of_people().filter(dataset_version__dataset=version.dataset_id, grading__isnull=False)
    runs = runs.exclude(agent__connector=Connector.BASELINE)
    newest = runs.select_related("grading", "agent").order_by("-number")[:RUNS]
    gradings = []
    for run in newest:
        if (grading := run.grading) is not None:
            grading.run = run
            gradings.append(grading)
    return gradings


def hear(version: DatasetVersion, gradings: list[Grading], progress: Callable[[int], None] = lambda _: None) -> Hearing:
    """Return what the cases of these gradings say of the version's examples.

    `progress` is told from time to time how many cases are read; it may raise to stop.
    """
    heard, hearing, done = _examples(version.pk), Hearing(), 0
    golds = {version.pk: {revision: each.gold for revision, each in heard.items()}}
    effects = _Effects(heard)
    for grading in gradings:
        compared = grading.dataset_version_id
        if compared not in golds:
            golds[compared] = {revision: each.gold for revision, each in _examples(compared).items()}
        for rows in _pages(grading):
            mine = [row for row in rows if row[1] in heard and golds[compared].get(row[1]) == heard[row[1]].gold]
            _add(hearing, grading, mine, heard, effects)
            done += len(rows)
            progress(done)
    hearing.known()
    return hearing


def voice_of(run: Run) -> str:
    """Return the name of the voice that a run's agent speaks with."""
    return run.agent.model or run.agent.name


def _examples(version: UUID) -> dict[UUID, Heard]:
    rows = VersionEntry.objects.filter(version=version).order_by()
    return {
        revision: Heard(gold, tools)
        for revision, gold, tools in rows.values_list("revision_id", "gold_id", "revision__tools_id").iterator()
    }


def _pages(grading: Grading) -> Iterator[list[Any]]:
    """Yield the scored cases, some at a time, and those whose gold could not be executed."""
    cases = CaseGrade.objects.filter(grading=grading, outcome__in=("passed", "failed")).order_by("pk")
    rows = cases.values_list(*_COLUMNS)
    page = list(rows[:_PAGE])
    while page:
        yield page
        page = list(rows.filter(pk__gt=page[-1][0])[:_PAGE])


def _add(hearing: Hearing, grading: Grading, rows: list[Any], heard: Mapping[UUID, Heard], effects: _Effects) -> None:
    failed = [pk for pk, _, outcome, execution in rows if outcome == "failed" and execution != "passed"]
    unsure = [pk for pk, *_, execution in rows if execution == "unscored" and grading.simulator_id]
    details = dict(CaseGrade.objects.filter(pk__in={*failed, *unsure}).values_list("pk", "detail"))
    failures = set(Episode.objects.filter(case__in=[row[0] for row in rows]).values_list("case", flat=True))
    troubled = _refusals([row[:2] for row in rows if row[0] in failures], heard, effects)
    agent = voice_of(grading.run)
    for pk, revision, outcome, execution in rows:
        refused = troubled.get(pk, ()) if pk not in unsure else (*troubled.get(pk, ()), *_gold_refused(details[pk]))
        points = frozenset(points_of(details[pk], effects.of(revision))) if pk in failed else frozenset()
        passed = outcome == "passed"
        same = not passed and execution == "passed"
        trial = Trial(str(pk), grading.run.number, passed and not refused, same, points, tuple(refused))
        hearing.add(revision, agent, trial)


def _gold_refused(detail: JsonMapping) -> Iterator[str]:
    reason = detail["verdicts"]["execution"]["reason"]
    if reason.startswith(GOLD_REFUSED):
        yield reason.removeprefix(GOLD_REFUSED).strip()


def _refusals(
    cases: Sequence[tuple[UUID, UUID]], heard: Mapping[UUID, Heard], effects: _Effects
) -> dict[UUID, tuple[str, ...]]:
    """Return, for (case, revision), the gold's own calls that tools refused in the case, as texts with the error."""
    expected = dict(
        Gold.objects.filter(pk__in={heard[revision].gold for _, revision in cases}).values_list("pk", "expectation")
    )
    rows = CaseGrade.objects.filter(pk__in=[pk for pk, _ in cases], transcript__document__isnull=False)
    documents = dict(rows.values_list("pk", "transcript__document"))
    refusals = {}
    for pk, revision in cases:
        gold = expected[heard[revision].gold]
        if pk in documents and (refused := tuple(refused_calls(documents[pk], gold, effects.of(revision)))):
            refusals[pk] = refused
    return refusals


def refused_calls(document: Any, expectation: Any, effect: EffectOf) -> Iterator[str]:
    """Yield the calls of an expectation that a transcript made to the letter and that only ever failed in it.

    Failures to reach the tool (timeouts, 5xx) are no refusals; a look-up among several calls may well find nothing.
    """
    expected = _expected_keys(Expectation.from_document(expectation), effect)
    answers: dict[str, list[str | None]] = {}
    for result in Transcript.from_document(document).results if expected else ():
        if result.call is None or (key := _key(result.call)) not in expected:
            continue
        trouble = trouble_in(result.content, is_error=result.is_error)
        if trouble is None or trouble.error_class not in TRANSIENT:
            answers.setdefault(key, []).append(trouble.excerpt if trouble and trouble.is_error else None)
    for key, said in answers.items():
        if None not in said:
            yield f"“{said[0]}” is the answer to {key}"


def _expected_keys(expectation: Expectation, effect: EffectOf) -> set[str]:
    try:
        alternatives = exact_calls(expectation)
    except InexactError:
        return set()
    return {_key(call) for calls in alternatives for call in calls if len(calls) == 1 or effect(call.name) != "reads"}


def _key(call: ToolCall) -> str:
    return f"{call.name}({canonical(dict(call.arguments))[1:-1]})"


class _Effects:
    """The effects of tools, reading or writing: as their owner says, else by their names."""

    def __init__(self, heard: Mapping[UUID, Heard]) -> None:
        self._heard = heard
        self._offers = Offers()

    def of(self, revision: UUID) -> EffectOf:
        """Return the function that tells it for the tools that a revision offers."""
        tools = self._heard[revision].tools
        specs = self._offers.of([tools])[tools]
        return lambda tool: tool_effect(tool, specs.get(tool))
