"""Puts a trace before a judge: makes the question of a rubric without gold, and reads the verdict in the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from toolevals.grading.engine.compiled import CompiledCase, compile_case
from toolevals.grading.engine.grading import grade
from toolevals.grading.judging import Briefing, Judgement, JudgementRequest, Judgements, Rubric, needed_judgements
from toolevals.grading.judging.case_judging import grade_judged
from toolevals.grading.reading.parsing import transcript_in
from toolevals.grading.values import Expectation
from toolevals.grading.values.verdicts import JudgedVerdict
from toolevals.traces.reading.span_judging import GATES_BY_KIND
from toolevals.traces.reading.traces import TraceReading

_GOLD: Final = ("expectation",)
NO_CONVERSATION = "Not asked: no span tells of a conversation."


def is_without_gold(rubric: Rubric, kind: str = "") -> bool:
    """Tell whether a rubric asks what can be asked of a trace, or of its spans of a kind: no expected call."""
    return rubric.gate in GATES_BY_KIND[kind] and not any(name in rubric.inputs for name in _GOLD)


@dataclass(frozen=True, slots=True)
class TraceJudging:
    """One trace and one rubric. It is asked as of a case whose label lets any call be."""

    reading: TraceReading
    rubric: Rubric

    @property
    def request(self) -> JudgementRequest | None:
        """The question; None where rules say that there is none, or where it is too long."""
        reading = self.reading
        if reading.entry is None or reading.transcript.error is not None:
            return None
        compiled = self._compiled()
        plain = grade(compiled, reading.transcript)
        return next(iter(needed_judgements(compiled, reading.transcript, plain, self._judgements(None))), None)

    def verdict(self, judgement: Judgement | None) -> JudgedVerdict:
        """Return the verdict in an answer; without one, why there is no question."""
        if self.reading.entry is None:
            return JudgedVerdict(self.rubric.name, self.rubric.version, "unscored", None, NO_CONVERSATION)
        if (error := self.reading.transcript.error) is not None:
            return JudgedVerdict(self.rubric.name, self.rubric.version, "unscored", None, f"Not asked: {error}")
        graded = grade_judged(self._compiled(), self.reading.transcript, self._judgements(judgement))
        return graded.judged[self.rubric.name]

    def _compiled(self) -> CompiledCase:
        return compile_case(Expectation("some_call"), tuple(self.reading.tools))

    def _judgements(self, judgement: Judgement | None) -> Judgements:
        given = self.reading.given
        messages = given.get("messages")
        context = given.get("context")
        briefing = Briefing(
            [self.rubric],
            transcript_in(messages if isinstance(messages, list) else []).messages,
            context if isinstance(context, dict) else {},
        )
        return Judgements.of(briefing, [judgement] if judgement else ())
