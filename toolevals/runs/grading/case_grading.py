"""Grade a part of a run: compile each expectation once, grade every trial with it, write all verdicts at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from types import MappingProxyType
from typing import Any, NamedTuple
from uuid import UUID

from uuid_utils.compat import uuid7

from labeling.models import VersionEntry
from toolevals.grading.engine.grading import CompiledCase, compile_case, grade
from toolevals.grading.reading.examples import first_words
from toolevals.grading.values import Expectation, ToolSpec, Transcript
from toolevals.grading.values.canonical import exact
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.grading.values.verdicts import EXPECTED, CaseGrade, Verdict
from toolevals.json_types import JsonObject
from toolevals.registry.models import ToolList
from toolevals.registry.tool_lists import tools_in
from toolevals.runs import models
from toolevals.runs.aggregates.tool_spending import MEASURED_COLUMNS, MeasuredBatch
from toolevals.runs.grading.case_rows import (
    CASE_COLUMNS,
    FAULT_COLUMNS,
    FINDING_COLUMNS,
    JUDGED_COLUMNS,
    PAIR_COLUMNS,
    judged_rows,
    rows_of,
)
from toolevals.runs.grading.episode_rows import ANSWER_COLUMNS, EPISODE_COLUMNS, AnsweredBatch, episode_rows
from toolevals.runs.grading.graded_case import Graded, Told, answer_of
from toolevals.runs.grading.kept_grades import KeptGrade, kept_grades
from toolevals.runs.grading.policies import guards_of, with_policy
from toolevals.runs.queries import entries_between, grading_at_work, tools_offered
from toolevals.runs.simulators.opening import effects_of
from toolevals.workspace.bulk import rows_insert
from toolevals.workspace.jobs.leases import Lease

READ_AT_ONCE = 250
NOT_IN_VERSION = "This dataset version no longer contains the example as the agent saw it."


def cases_grade(lease: Lease) -> None:
    """Grade the batch's transcripts. Reading and grading take no lock; one short transaction writes and completes."""
    grading = grading_at_work(lease.payload["grading"])
    cases: list[tuple[Any, ...]] = []
    pairs: list[tuple[Any, ...]] = []
    faults: list[tuple[Any, ...]] = []
    findings: list[tuple[Any, ...]] = []
    episodes: list[tuple[Any, ...]] = []
    answers = AnsweredBatch()
    measured = MeasuredBatch(grading)
    kept = kept_grades(grading, lease.payload)
    judged: list[tuple[Any, ...]] = []
    places, replays = (lease.payload["start"], lease.payload["stop"]), "ask" not in lease.payload
    graded = graded_cases(grading, *places, kept=kept, waiting=lease.note, replays=replays)
    for case in graded:
        # Where a judge is asked more of what is kept, that writes all verdicts of judges.
        if replays and case.transcript_id in kept:
            judged += judged_rows(grading, case)
        (facts,), *others = rows_of(case)
        cases.append((case.id, grading.pk, case.transcript_id, *facts))
        for rows, more in zip((pairs, faults, findings), others, strict=True):
            if more:
                rows += [(grading.pk, case.id, *row) for row in more]
        episodes += episode_rows(grading, case)
        answers.add(case)
        measured.add(case)
    with lease.finish():
        rows_insert(models.CaseGrade, CASE_COLUMNS, cases)
        rows_insert(models.AlignedPair, PAIR_COLUMNS, pairs)
        rows_insert(models.ArgumentFault, FAULT_COLUMNS, faults)
        rows_insert(models.CaseFinding, FINDING_COLUMNS, findings)
        rows_insert(models.Episode, EPISODE_COLUMNS, episodes)
        rows_insert(models.ToolAnswers, ANSWER_COLUMNS, answers.rows(grading, lease.payload["start"]))
        rows_insert(models.JudgedCase, JUDGED_COLUMNS, judged)
        rows_insert(models.MeasuredCalls, MEASURED_COLUMNS, measured.rows(lease.payload["start"]))


def graded_cases(
    grading: models.Grading,
    start: int,
    stop: int,
    *,
    kept: Mapping[UUID, KeptGrade] = MappingProxyType({}),
    waiting: Callable[[str], None] = lambda _: None,
    replays: bool = True,
) -> Iterator[Graded]:
    """Yield the grades of the transcripts at these positions, in the order of the dataset version, then by trial.

    `kept` are grades, by the transcript's id, that are taken as they are. `waiting` is as for `simulator_opened`; where
    all are kept, nothing `replays`.
    """
    examples = _examples(grading, start, stop)
    run, cut_off = grading.run, grading.run.cut_off
    compiler = Compiler(run.agent)
    guards = guards_of(grading)
    with effects_of(grading.simulator if replays else None, waiting) as effects:
        for entry, transcripts in _documents(run, examples):
            example = examples[entry]
            strata = example.bucket, example.difficulty
            goal = first_words(example.input)
            compiled = compiler.case(example.tools, *example.due) if example.due else None
            same_answers: dict[str, tuple[CaseGrade, Told]] = {}
            for transcript_id, document in transcripts:
                did = _read(document)
                if guards is not None and did is not None:
                    did = with_policy(did, guards, compiler.offer(example.tools), example.input)
                if (same := kept.get(transcript_id)) is not None:
                    about = transcript_id, same.grade, *strata, example.revision, compiled, did
                    yield Graded(uuid7(), *about, cut_off=cut_off, goal=goal, measured=same.measured)
                    continue
                meant = did if did is None or compiled is None else compiled.offer.meant(did)
                effect = None if compiled is None else effects.of(example.revision, example.input, compiled, meant)
                # What calls did to a world is another trial's own.
                answer = answer_of(document) if grading.simulator is None and run.trials > 1 else ""
                if answer in same_answers:
                    case, told = same_answers[answer]
                else:
                    graded = NOTHING_TO_COMPARE
                    if compiled is not None:
                        graded = grade(compiled, did, effect=effect, cut_off=cut_off)
                    case, told = graded, Told()
                    if answer:
                        same_answers[answer] = case, told
                about = transcript_id, case, *strata, example.revision, compiled, did
                patterns = guards.patterns_in(did) if guards is not None else None
                yield Graded(uuid7(), *about, effect, cut_off, goal, patterns=patterns, told=told)


class _Example(NamedTuple):
    """Holds what was shown in an example, what is due (the gold's document, or nothing), and what decides.

    `position` is that in the dataset version.
    """

    position: int
    revision: UUID
    input: JsonObject
    tools: ToolList
    bucket: str
    difficulty: str
    due: tuple[Any, str] | None


# The columns are read as they are: to make the models of them takes twice as long.
_SHOWN = ("revision__input", "revision__tools", "revision__example__bucket", "revision__example__difficulty")
_DUE = ("gold__expectation", "decided_by")


def _examples(grading: models.Grading, start: int, stop: int) -> dict[UUID, _Example]:
    """Return what was shown and what is due in the run's examples at these positions, in order, by the entry's id.

    What is due stands in the version that is graded against, which may be newer than the run's.
    """
    columns = "pk", "position", "revision", *_SHOWN, *_DUE
    entries = list(entries_between(grading.run, start, stop).values_list(*columns))
    held = {revision: (gold, decided_by) for _, _, revision, *_, gold, decided_by in entries}
    if grading.dataset_version_id != grading.run.dataset_version_id:
        same = VersionEntry.objects.filter(version=grading.dataset_version_id, revision__in=held)
        held = {revision: (gold, decided_by) for revision, gold, decided_by in same.values_list("revision", *_DUE)}
    # Most examples offer the same few lists.
    lists = ToolList.objects.in_bulk({tools for _, _, _, _, tools, *_ in entries})
    return {
        entry: _Example(position, revision, shown, lists[tools], bucket, difficulty, held.get(revision))
        for entry, position, revision, shown, tools, bucket, difficulty, *_ in entries
    }


def _documents(run: models.Run, examples: Mapping[UUID, _Example]) -> Iterator[tuple[UUID, list[tuple[UUID, Any]]]]:
    """Yield the id and document of the transcripts of each entry, by trial; few at a time, as they may be long."""
    rest = iter(examples)
    while some := list(islice(rest, max(1, READ_AT_ONCE // run.trials))):
        documents: dict[UUID, list[tuple[UUID, Any]]] = {entry: [] for entry in some}
        ends = {"start": examples[some[0]].position, "stop": examples[some[-1]].position + 1}
        found = models.Transcript.objects.between(run=run.pk, version=run.dataset_version_id, **ends)
        for entry, pk, document in found.values_list("entry_id", "pk", "document"):
            documents[entry].append((pk, document))
        yield from documents.items()


def _read(document: Any) -> Transcript | None:
    return None if document is None else Transcript.from_kept(document)


class Compiler:
    """Compiles each expectation with the offered tools and what decides once."""

    def __init__(self, agent: models.Agent) -> None:
        self._agent = agent
        self._offers: dict[str, tuple[ToolSpec, ...]] = {}
        self._cases: dict[tuple[str, str, str], CompiledCase] = {}

    def case(self, tools: ToolList, gold: Any, decided_by: str = EXPECTED) -> CompiledCase:
        """Return the compiled case of a gold label's document.

        The schema gate is the agent's, where its tools are worded otherwise.
        """
        key = exact(gold), tools.digest, decided_by
        if key not in self._cases:
            expectation = Expectation.from_kept(gold)
            self._cases[key] = compile_case(expectation, self.offer(tools), decided_by=decided_by)
        return self._cases[key]

    def offer(self, tools: ToolList) -> tuple[ToolSpec, ...]:
        """Return the tools of a list as the agent knows them."""
        if tools.digest not in self._offers:
            self._offers[tools.digest] = tools_offered(tools_in(tools), self._agent)
        return self._offers[tools.digest]


def _unscored(reason: str) -> CaseGrade:
    return CaseGrade({name: Verdict("unscored", None, reason) for name in VERDICT_NAMES})


# The example was changed or taken out after the run: there is nothing to compare with, and that is said.
NOTHING_TO_COMPARE = _unscored(NOT_IN_VERSION)
