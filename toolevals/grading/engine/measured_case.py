"""Hold what the metrics of a case look at, each part worked out when a metric first wants it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from toolevals.grading.alignment.trajectory import Alignment
from toolevals.grading.engine.compiled import CompiledCase
from toolevals.grading.engine.counted_calls import CountedCalls, counted_calls
from toolevals.grading.engine.explanation import Explanation
from toolevals.grading.engine.tools_pass import alignments_of
from toolevals.grading.layers.task_metrics import Task
from toolevals.grading.layers.task_metrics.calls import MadeCall, calls_of
from toolevals.grading.reading.parsing.steps import AgentRun, run_of
from toolevals.grading.values import Trajectory, Transcript, options_of
from toolevals.grading.values.verdicts import CaseGrade


class Measured:
    """Holds what metrics look at: an expectation, what was done, its grade, and the user's first words (None: unknown).

    `counted` are the calls that count, as the verdicts count them but that none is forgiven, and `alignments` the
    best one of these with each alternative, where calls are expected. `run` is the transcript as steps, with the
    names of the tools that were offered, where these are known; `made` are all of its calls. `tasks` are the task as
    each alternative of the expectation has it: see `docs/grading.md`. All of these are worked out when a metric first
    wants them.
    """

    def __init__(self, compiled: CompiledCase, transcript: Transcript, grade: CaseGrade, goal: str | None) -> None:
        self.compiled = compiled
        self.transcript = transcript
        self.grade = grade
        self.goal = goal

    @property
    def _is_all_counted(self) -> bool:
        """Tell whether every call counts: these are then the calls that the grade is of."""
        return len(self.counted.calls) == len(self.transcript.calls)

    @cached_property
    def counted(self) -> CountedCalls:
        """The calls that count."""
        return counted_calls(self.transcript)

    @cached_property
    def made(self) -> tuple[MadeCall, ...]:
        """All calls of the run."""
        return calls_of(self.run)

    @cached_property
    def alignments(self) -> list[Alignment]:
        """The best alignment of the calls that count with each alternative; none where no calls are expected."""
        if self.compiled.expectation.kind != "calls":
            return []
        counted = self.counted
        source = self.grade.source
        if isinstance(source, Explanation) and self._is_all_counted and source.is_only_of(self.compiled, counted.calls):
            return [source.aligned()]
        return alignments_of(self.compiled, counted.calls, counted.results(self.compiled, self.transcript))

    @cached_property
    def run(self) -> AgentRun:
        """The transcript as steps."""
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

    @cached_property
    def tasks(self) -> tuple[Task, ...]:
        """The task as each alternative has it."""
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
