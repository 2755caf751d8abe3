"""Read which agents solve which examples: of the shown gradings of some runs, from their packed cases."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final
from uuid import UUID

from labeling.conversation.turns import snippet
from labeling.models import Dataset, VersionEntry
from reports.analyses.solved import Agent, RunTrials, Solved
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.runs.counts.packed_cases import Packed
from toolevals.runs.counts.packing import packed_cases
from toolevals.runs.models import CaseGrade, Grading, PackedCases, Run
from toolevals.workspace.models import Project

# At most so many trials are read for one page, the newest runs first, and so many runs where none are named.
MOST_TRIALS: Final = 2_000_000
MOST_UNASKED: Final = 50


@dataclass(frozen=True, slots=True)
class SolvedRuns:
    """The runs of one dataset that are looked at, newest first, and the numbers of those left out, as too many."""

    dataset: Dataset | None
    runs: tuple[Run, ...]
    left_out: tuple[int, ...]


def solved_runs(project: Project, dataset: str, numbers: Sequence[int], experiment: str = "") -> SolvedRuns:
    """Return the graded runs that are asked for, by default the newest of the dataset with the newest run.

    Of runs that are named, those of another dataset than the newest one's are left out, and so are baseline agents.
    """
    runs = Run.objects.in_project(project).of_people().of_experiment(experiment).filter(grading__isnull=False)
    runs = runs.select_related("agent", "dataset_version__dataset", "grading").order_by("-number")
    if numbers:
        runs = runs.filter(number__in=numbers)
    if dataset:
        runs = runs.filter(dataset_version__dataset__slug=dataset)
    elif newest := runs.first():
        runs = runs.filter(dataset_version__dataset=newest.dataset_version.dataset_id)
    found: list[Run] = []
    left: list[Run] = []
    trials = 0
    for place, run in enumerate(runs):
        trials += run.size * run.trials
        fits = trials <= MOST_TRIALS and (numbers or place < MOST_UNASKED)
        (found if fits else left).append(run)
    chosen = found[0].dataset_version.dataset if found else None
    known = {run.number for run in (*found, *left)}
    missing = [number for number in dict.fromkeys(numbers) if number not in known]
    return SolvedRuns(chosen, tuple(found), (*(run.number for run in left), *missing))


def solved_matrix(runs: Sequence[Run], layer: str, *, by_run: bool) -> Solved:
    """Return the matrix of runs by a verdict: a column for each agent, or for each run."""
    positions = {version: _positions(version) for version in {run.dataset_version_id for run in runs}}
    names = {example: name for held in positions.values() for example, name in held.values()}
    examples = sorted(names.items(), key=lambda each: (each[1], each[0]))
    places = {example: place for place, (example, _) in enumerate(examples)}
    kept = {each.grading_id: each for each in _kept(runs)}
    read = [(run, _trials(run, layer, kept, positions[run.dataset_version_id], places)) for run in runs]
    if by_run:
        agents = [
            Agent(f"run{run.number}", run.agent.name, f"run {run.number}", (found,), run.agent_id)
            for run, found in read
        ]
        return Solved(examples, tuple(agents))
    grouped = groupby(
        sorted(read, key=lambda each: (str(each[0].agent_id), -each[0].number)), lambda each: each[0].agent_id
    )
    agents = []
    for agent, group in grouped:
        own = list(group)
        run = own[0][0]
        agents.append(Agent(f"agent-{agent}", run.agent.name, _detail(run), tuple(each for _, each in own), agent))
    return Solved(examples, tuple(sorted(agents, key=lambda agent: -agent.numbers[0])))


def example_snippets(dataset: Dataset, examples: Sequence[UUID]) -> dict[UUID, str]:
    """Return what the user said last in each of some examples, by their ids."""
    snippets: dict[UUID, str] = {}
    rows = VersionEntry.objects.filter(version__dataset=dataset, revision__example__in=examples).order_by(
        "version__number"
    )
    for example, document in rows.values_list("revision__example_id", "revision__input"):
        snippets[example] = snippet(document)
    return snippets


def case_of_example(grading: Grading, example: UUID, layer: str) -> UUID | None:
    """Return the case that stands for an example in a grading: the first trial that failed, else the first."""
    cases = CaseGrade.objects.filter(
        grading=grading, transcript__run=grading.run_id, transcript__entry__revision__example=example
    )
    trials = list(cases.order_by("transcript__trial").values_list("pk", layer))
    return next((pk for pk, status in trials if status == "failed"), trials[0][0] if trials else None)


_Entries = Mapping[int, tuple[UUID, str]]


def _positions(version: UUID) -> _Entries:
    """Return the example and its name at each position of a version."""
    rows = VersionEntry.objects.filter(version=version).order_by()
    columns = rows.values_list("position", "revision__example_id", "revision__example__external_id")
    return {position: (example, name) for position, example, name in columns}


def _kept(runs: Sequence[Run]) -> Sequence[PackedCases]:
    gradings = [run.grading_id for run in runs]
    return list(PackedCases.objects.filter(grading__in=gradings).only("document", "numbers"))


def _trials(
    run: Run, layer: str, kept: Mapping[UUID, PackedCases], entries: _Entries, places: Mapping[UUID, int]
) -> RunTrials:
    assert run.grading is not None
    row = kept.get(run.grading.pk)
    run.grading.run = run
    packed = Packed.from_document(row.document, bytes(row.numbers), run.trials) if row else packed_cases(run.grading)
    column = VERDICT_NAMES.index(layer)
    letters = [packed.letters_of(number)[column] for number in range(len(packed.verdicts) + 1)]
    passed, failed, held = (
        array("I", bytes(4 * len(places))),
        array("I", bytes(4 * len(places))),
        bytearray(len(places)),
    )
    # Of each trial, where its example stands.
    at = [places[entries[position][0]] for position in run.positions for _ in range(run.trials)]
    for place, number in zip(at, packed.outcomes, strict=True):
        letter = letters[number]
        if letter == "p":
            passed[place] += 1
        elif letter == "f":
            failed[place] += 1
        if number:
            held[place] = 1
    return RunTrials(run.number, passed, failed, held)


def _detail(run: Run) -> str:
    agent = run.agent
    said = (agent.model, agent.prompt_version, agent.commit[:10])
    return ", ".join(dict.fromkeys(each for each in said if each and each != agent.name))
