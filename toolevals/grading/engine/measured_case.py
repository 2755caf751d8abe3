"""Hold what the metrics of a case look at, each part worked out when a metric first wants it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

from toolevals.grading.alignment.trajectory import Alignment
from toolevals.grading.engine.compiled import CompiledCase
from toolevals.grading.engine.counted_calls import CountedCalls, counted_calls
from toolevals.grading.engine.explanation import Explanation
from toolevals.grading.engine.tools_pass import alignments_of
from toolevals.grading.engine.worked_out import WorkedOut
from toolevals.grading.layers.task_metrics import Task
from toolevals.grading.layers.task_metrics.calls import MadeCall, calls_of
from toolevals.grading.reading.parsing.steps import AgentRun, run_of
from toolevals.grading.values import Trajectory, Transcript, options_of
from toolevals.grading.values.statuses import Status
from toolevals.grading.values.verdicts import CaseGrade


class Measured(WorkedOut):
    """Holds what metrics look at: an expectation, what was done, its grade, and the user's first words (None: unknown).

    `counted` are the calls that count, as the verdicts count them but that none is forgiven, and `alignments` the
    best one of these with each alternative, where calls are expected. `run` is the transcript as steps, with the
    names of the tools that were offered, where these are known; `made` are all of its calls. `passed_calls` is how
    many calls are expected, where just these were made, each at its place and as expected; else 0. `tasks` are the
    task as each alternative of the expectation has it: see `docs/grading.md`. All of these are worked out when a
    metric first wants them.
    """

    __slots__ = ("alignments", "compiled", "counted", "goal", "grade", "made", "passed_calls", "run", "tasks",
                 "transcript")  # fmt: skip

    alignments: list[Alignment]
    counted: CountedCalls
    made: tuple[MadeCall, ...]
    passed_calls: int
    run: AgentRun
    tasks: tuple[Task, ...]

    def __init__(self, compiled: CompiledCase, transcript: Transcript, grade: CaseGrade, goal: str | None) -> None:
        self.compiled = compiled
        self.transcript = transcript
        self.grade = grade
        self.goal = goal

    @property
    def _is_all_counted(self) -> bool:
        """Tell whether every call counts: these are then the calls that the grade is of."""
        return len(self.counted.calls) == len(self.transcript.calls)

    @property
    def is_wrong_call(self) -> bool:
        """Tell whether one call is expected, and just its tool was called, with other arguments that fit its schema."""
        in_place, calls = self.compiled.in_place, self.transcript.calls
        if in_place is None or not in_place.is_alone or not _is_wrong(self.grade.statuses):
            return False
        decision = in_place.decision(calls)
        return decision is not None and _is_wrong(decision.statuses)

    def _find_passed_calls(self) -> int:
        in_place = self.compiled.in_place
        if in_place is None or not in_place.only:
            return 0
        if self._is_all_counted and self.grade.statuses["equivalence"] != "passed":
            return 0
        decision = in_place.decision(self.counted.calls)
        return 0 if decision is None or decision.statuses["equivalence"] != "passed" else len(in_place.places)

    def _find_alignments(self) -> list[Alignment]:
        if self.compiled.expectation.kind != "calls":
            return []
        counted = self.counted
        source = self.grade.source
        if isinstance(source, Explanation) and self._is_all_counted and source.is_only_of(self.compiled, counted.calls):
            return [source.aligned()]
        return alignments_of(self.compiled, counted.calls, counted.results(self.compiled, self.transcript))

    def _find_run(self) -> AgentRun:
        offer = self.compiled.offer
        if not offer.specs:
            return run_of(self.transcript, goal=self.goal)
        names, known = offer.by_name, offer.names
        # A name may be written otherwise than the tool's own.
        others = [call for call in self.transcript.calls if call.name and call.name not in names]
        if others:
            written = {call.name for call in others if call.name and offer.class_of(call) in names}
            known = tuple(sorted({*names, *written}))
        return run_of(self.transcript, goal=self.goal, available_tools=known)

    def _find_tasks(self) -> tuple[Task, ...]:
        values = self.grade.values
        scored = [value for name in ("answer", "execution") if (value := values[name]) is not None]
        met = sum(scored) / len(scored) if scored else None
        replies = sum(not step.calls for step in self.run.steps)
        expectation = self.compiled.expectation
        if expectation.kind == "no_call":
            return (Task(required_tools=(), expected_steps=replies, result_met=met),)
        if expectation.kind == "some_call":
            return (Task(result_met=met),)
        return tuple(
            Task(
                required_tools=tuple(self._required(each)),
                expected_steps=None if each.additional_calls else len(each.expected) + replies,
                result_met=met,
            )
            for each in expectation.alternatives
        )

    def _required(self, trajectory: Trajectory) -> Iterator[str]:
        """Yield the name of each expected tool as it was called, where it was; of a choice, of one that was."""
        offer = self.compiled.offer
        called = {offer.class_of(call): call.name for call in self.transcript.calls if call.name}
        for expected in trajectory.expected:
            names = [option.tool for option in options_of(expected)]
            made = (called[of] for name in names if (of := offer.class_of_name(name)) in called)
            yield next(made, names[0])

    _WORKED_OUT: ClassVar[Mapping[str, Callable[[Measured], Any]]] = {
        "alignments": _find_alignments,
        "counted": lambda self: counted_calls(self.transcript),
        "made": lambda self: calls_of(self.run),
        "passed_calls": _find_passed_calls,
        "run": _find_run,
        "tasks": _find_tasks,
    }


def _is_wrong(statuses: Mapping[str, Status]) -> bool:
    """Tell whether the right tools were called with wrong arguments, which fit their schemas where these are known."""
    return statuses["selection"] == "passed" and statuses["equivalence"] == "failed" != statuses["schema"]
