"""Cases to judge and a court that answers as it is told: for the tests of verdicts."""

from __future__ import annotations

from typing import Any

from toolevals.grading.engine.grading import compile_case, grade
from toolevals.grading.judging import SHIPPED, Briefing, Judgement, JudgementRequest, Judgements, needed_judgements
from toolevals.grading.judging.case_judging import grade_judged
from toolevals.grading.values import (
    CallExpectation,
    Expectation,
    MalformedCall,
    Message,
    ToolCall,
    ToolSpec,
    Trajectory,
    Transcript,
)
from toolevals.grading.values.matchers import Exact, NaturalLanguage
from toolevals.grading.values.verdicts import CaseGrade

SEND = ToolSpec(
    "send", "Sends a note.", {"properties": {"to": {"type": "string"}, "text": {"type": "string"}}, "required": ["to"]}
)
SAVE = ToolSpec("save", "Saves a note.")
TOOLS = (SEND, SAVE)
ASKED = (Message("user", "Tell Mia politely that I am late"),)


def expects(*calls: CallExpectation, **said: Any) -> Expectation:
    return Expectation("calls", alternatives=(Trajectory(unordered=calls, additional_calls=False),), **said)


NOTE = expects(CallExpectation("send", {"to": Exact("Mia"), "text": NaturalLanguage("politely says so")}))
PLAIN = expects(CallExpectation("send", {"to": Exact("Mia"), "text": Exact("I am late")}))


def did(*calls: ToolCall | MalformedCall, **said: Any) -> Transcript:
    return Transcript((Message("assistant", calls=calls),), **said)


def sent(text: str, to: str = "Mia") -> ToolCall:
    return ToolCall("send", {"to": to, "text": text})


class Court:
    """Asks a scripted judge until nothing is missing, and keeps what it was asked."""

    def __init__(self, expectation: Expectation, transcript: Transcript | None, *rubrics: str) -> None:
        self.compiled = compile_case(expectation, TOOLS)
        self.transcript = transcript
        self.briefing = Briefing([SHIPPED[name] for name in rubrics], ASKED)
        self.asked: list[JudgementRequest] = []
        self.made: list[Judgement] = []

    @property
    def judgements(self) -> Judgements:
        return Judgements.of(self.briefing, self.made)

    @property
    def needed(self) -> tuple[JudgementRequest, ...]:
        plain = grade(self.compiled, self.transcript)
        return needed_judgements(self.compiled, self.transcript, plain, self.judgements)

    def judged_by(self, answer: Any) -> CaseGrade:
        while requests := self.needed:
            self.asked += requests
            for request in requests:
                said = answer(request.inputs)
                self.made.append(
                    Judgement.errored(request, said, model="m")
                    if isinstance(said, str)
                    else Judgement.of_answer(request, {"reason": "Because.", **said}, model="m-2026-01-01")
                )
        return self.grade

    @property
    def grade(self) -> CaseGrade:
        return grade_judged(self.compiled, self.transcript, self.judgements)


def score(value: float) -> Any:
    return lambda _: {"score": value}
