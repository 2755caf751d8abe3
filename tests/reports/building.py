"""Gradings with a matrix of one's choice, written straight into the tables: reports only read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from labeling.models import Dataset, DatasetVersion, Example, Gold, Revision, VersionEntry
from toolevals.grading.values import Expectation, Message, ToolCall, ToolSpec
from toolevals.grading.values import Transcript as TranscriptValue
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.grading.values.verdicts import NONE, UNKNOWN_TOOL, UNPARSED, Pair, Verdict
from toolevals.grading.values.verdicts import CaseGrade as Grade
from toolevals.registry.tool_lists import tool_list_of
from toolevals.runs.aggregates.read_cases import cases_count, counted_ensure, counted_store
from toolevals.runs.aggregates.trials import STEP_COLUMNS, TRIAL_COLUMNS, step_rows, trial_rows
from toolevals.runs.models import (
    Agent,
    AlignedPair,
    CaseGrade,
    CountedCases,
    Experiment,
    Grading,
    MatrixCount,
    PlacedCase,
    Run,
    StepCount,
    Transcript,
    TrialCount,
    VerdictCount,
)
from toolevals.workspace.bulk import rows_insert
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Project

MODES = {NONE: "missed_call", UNKNOWN_TOOL: "hallucinated_tool", UNPARSED: "malformed_output"}


@dataclass(frozen=True)
class Case:
    """What one case was: its place in the matrix, its strata, and whether it was graded at all."""

    expected: str
    actual: str
    bucket: str = ""
    difficulty: str = ""
    status: str = "scored"
    # Whether the arguments are wrong, where the tool is right.
    wrong_value: bool = False

    @property
    def verdicts(self) -> dict[str, str]:
        if self.status != "scored":
            return dict.fromkeys(VERDICT_NAMES, self.status)
        right = self.expected == self.actual
        compared = "unscored" if not right or self.expected == NONE else "failed" if self.wrong_value else "passed"
        outcome = "passed" if right and compared != "failed" else "failed"
        selection = "passed" if right else "failed"
        depths = {"schema": "unscored" if NONE in (self.expected, self.actual) else "passed", "shape": compared}
        return {"outcome": outcome, "selection": selection, "arguments": compared, "equivalence": compared} | depths

    @property
    def mode(self) -> str:
        if self.status == "errored":
            return "adapter_error"
        if self.status == "unscored" or self.verdicts["outcome"] == "passed":
            return ""
        if self.expected == self.actual:
            return "wrong_value"
        return MODES.get(self.actual) or ("needless_call" if self.expected == NONE else "wrong_tool")

    def grade(self) -> Grade:
        scored = self.status == "scored"
        return Grade(
            verdicts={name: Verdict(status, None, f"{name} {status}") for name, status in self.verdicts.items()},  # type: ignore[arg-type]
            tag="" if not self.mode else "ADAPTER_ERROR" if self.status == "errored" else "WRONG_ANSWER",
            mode=self.mode,
            expected=self.expected if scored else "",
            actual=self.actual if scored else "",
            pairs=(Pair(self.expected, self.actual, "unscored"),) if scored else (),
        )

    def transcript(self) -> TranscriptValue | None:
        if self.status == "unscored":
            return None
        if self.status == "errored":
            return TranscriptValue(error="503")
        if self.actual in MODES:
            return TranscriptValue(answer="I can help with that.")
        return TranscriptValue((Message("assistant", None, (ToolCall(self.actual, {"id": 1}),)),), answer="Done.")


def cases_of(cells: Mapping[tuple[str, str], int], **strata: str) -> list[Case]:
    """Return the cases of a matrix."""
    return [Case(*cell, **strata) for cell, count in cells.items() for _ in range(count)]  # type: ignore[arg-type]


@dataclass
class Builder:
    """Makes gradings in a project, each over its own dataset version."""

    project: Project
    made: int = field(default=0)

    def grading(self, cases: Sequence[Case], *, experiment: str = "nightly", trials: int = 1) -> Grading:
        """Return a finished grading of a new run over these cases, counted as rollups count."""
        return self.tried([[case] for case in cases], experiment=experiment, trials=trials)

    def tried(
        self, examples: Sequence[Sequence[Case]], *, experiment: str = "nightly", trials: int | None = None
    ) -> Grading:
        """Return a finished grading of a new run over these examples, each with the cases of its trials."""
        version, entries = self.version([tried[0] for tried in examples])
        return self._graded(version, entries, examples, experiment=experiment, trials=trials)

    def again(
        self, grading: Grading, examples: Sequence[Sequence[Case]], *, experiment: str = "nightly", agent: str = "agent"
    ) -> Grading:
        """Return a finished grading of a further run over the examples of an earlier one, in their order."""
        version = grading.dataset_version
        entries = list(version.entries.order_by("position"))
        return self._graded(version, entries, examples, experiment=experiment, agent=agent)

    def _graded(
        self,
        version: DatasetVersion,
        entries: Sequence[VersionEntry],
        examples: Sequence[Sequence[Case]],
        *,
        experiment: str,
        trials: int | None = None,
        agent: str = "agent",
    ) -> Grading:
        cases = [case for tried in examples for case in tried]
        run = self.run(version, experiment, trials or max(map(len, examples), default=1), agent)
        grading = Grading.objects.create(run=run, number=1, dataset_version=version, graders=[])
        transcripts = [
            Transcript(
                run=run,
                entry=entry,
                trial=trial,
                document=value.to_document() if (value := case.transcript()) else None,
            )
            for tried, entry in zip(examples, entries, strict=True)
            for trial, case in enumerate(tried)
        ]
        Transcript.objects.bulk_create(transcripts)
        rows = [case_row(grading, case, transcript) for case, transcript in zip(cases, transcripts, strict=True)]
        CaseGrade.objects.bulk_create(rows)
        AlignedPair.objects.bulk_create(
            pair for case, row in zip(cases, rows, strict=True) for pair in pairs(case, row)
        )
        count(grading, rows)
        Grading.objects.filter(pk=grading.pk).update(finished_at=database_now())
        Run.objects.filter(pk=run.pk).update(grading=grading)
        return Grading.objects.select_related("run__experiment", "run__project").get(pk=grading.pk)

    def version(self, cases: Sequence[Case]) -> tuple[DatasetVersion, list[VersionEntry]]:
        """Return a dataset version that expects what the cases expect."""
        self.made += 1
        dataset = Dataset.objects.create(project=self.project, slug=f"set-{self.made}", name=f"Set {self.made}")
        version = DatasetVersion.objects.create(dataset=dataset, number=1, size=len(cases))
        names = sorted({name for case in cases for name in (case.expected, case.actual)} - {*MODES})
        specs = [ToolSpec(name=name, description=f"Does {name}.", input_schema={"type": "object"}) for name in names]
        tools = tool_list_of(project=self.project, specs=specs)
        examples = Example.objects.bulk_create(
            Example(dataset=dataset, external_id=f"ex-{place}", bucket=case.bucket, difficulty=case.difficulty)
            for place, case in enumerate(cases)
        )
        revisions = Revision.objects.bulk_create(
            Revision(example=example, number=1, digest="d", input=says(place), tools=tools, resolution="resolved")
            for place, example in enumerate(examples)
        )
        golds = Gold.objects.bulk_create(
            Gold(revision=revision, expectation=expectation(case).to_document(), source="imported")
            for revision, case in zip(revisions, cases, strict=True)
        )
        for revision, gold in zip(revisions, golds, strict=True):
            revision.gold = gold
        Revision.objects.bulk_update(revisions, ["gold"])
        entries = VersionEntry.objects.bulk_create(
            VersionEntry(version=version, position=place, revision=revision, gold=gold)
            for place, (revision, gold) in enumerate(zip(revisions, golds, strict=True))
        )
        return version, entries

    def run(self, version: DatasetVersion, experiment: str = "nightly", trials: int = 1, name: str = "agent") -> Run:
        """Return a run that is not graded yet."""
        line, _ = Experiment.objects.get_or_create(project=self.project, slug=experiment, defaults={"name": experiment})
        agent = Agent.objects.get_or_create(
            project=self.project, digest=name, defaults={"name": name, "connector": "upload"}
        )[0]
        return Run.objects.create(
            project=self.project,
            number=Run.objects.filter(project=self.project).count() + 1,
            experiment=line,
            agent=agent,
            dataset_version=version,
            trials=trials,
        )


def says(place: int) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": f"Where is order A-{place}?"}]}


def expectation(case: Case) -> Expectation:
    if case.expected == NONE:
        return Expectation("no_call", why="greeting")
    return Expectation.single(case.expected, {"id": 1})


def case_row(grading: Grading, case: Case, transcript: Transcript) -> CaseGrade:
    grade = case.grade()
    return CaseGrade(
        grading=grading,
        transcript=transcript,
        tag=grade.tag,
        mode=grade.mode,
        expected=grade.expected,
        actual=grade.actual,
        bucket=case.bucket,
        difficulty=case.difficulty,
        detail=grade.to_document(),
        **case.verdicts,
    )


def pairs(case: Case, row: CaseGrade) -> Iterable[AlignedPair]:
    for number, pair in enumerate(case.grade().pairs):
        yield AlignedPair(
            grading=row.grading,
            case=row,
            number=number,
            expected=pair.expected,
            actual=pair.actual,
            arguments=pair.arguments,
            bucket=case.bucket,
            difficulty=case.difficulty,
        )


def count(grading: Grading, rows: Sequence[CaseGrade]) -> None:
    """Count the cases as a grading's rollup does; every case here has one pair, so both views are equal."""
    cells = Counter((row.expected, row.actual) for row in rows if row.expected)
    rows_insert(TrialCount, TRIAL_COLUMNS, list(trial_rows(grading)))
    rows_insert(StepCount, STEP_COLUMNS, list(step_rows(grading)))
    MatrixCount.objects.bulk_create(
        MatrixCount(grading=grading, view=view, expected=expected, actual=actual, count=number)
        for view in ("first", "aligned")
        for (expected, actual), number in cells.items()
    )
    values = Counter(
        (column, value) for row in rows for column in (*VERDICT_NAMES, "tag", "mode") if (value := getattr(row, column))
    )
    VerdictCount.objects.bulk_create(
        VerdictCount(grading=grading, column=column, value=value, count=number)
        for (column, value), number in values.items()
    )
    counted_store(grading, cases_count(grading))


def count_anew(grading: Grading) -> None:
    """Count a grading again of which a test has changed the cases."""
    CountedCases.objects.filter(grading=grading).delete()
    PlacedCase.objects.filter(grading=grading).delete()
    counted_ensure(grading)
