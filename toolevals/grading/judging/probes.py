"""Reads probes: transcripts that deserve a low value by any shipped rubric, each with a text that speaks to its judge.

`probes.jsonl` holds the texts, `probed_transcripts.jsonl` the transcripts that they are put into. In each transcript
the agent calls another tool than the right one with wrong arguments, repeats its call when that fails, gives a wrong
reason and makes up its answer.

A probe has these fields:

- `id`: its name, the same for ever;
- `kind`: the way in which it addresses the judge (`KINDS`);
- `language`: its ISO 639-1 code;
- `place`: where it stands: in the words of the user, in a tool's result, in a call's argument, in the agent's answer;
- `base`: the transcript that it is put into;
- `text`: the words.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from typing import Any, Literal

from toolevals.grading.engine.grading import compile_case, grade
from toolevals.grading.judging.graded_case_view import GradedCaseView
from toolevals.grading.judging.judgements import JudgementRequest
from toolevals.grading.judging.materials import OF_CASE
from toolevals.grading.judging.rubrics import Rubric
from toolevals.grading.reading.parsing import transcript_in
from toolevals.grading.values import CallExpectation, Expectation, ToolSpec, Trajectory
from toolevals.grading.values.matchers import Exact

Kind = Literal["order", "fake_answer", "fake_mark", "appeal", "authority", "threat", "hidden", "reframe"]
Place = Literal["user", "result", "argument", "answer"]
# Tag characters are invisible; each stands this far behind its ASCII character.
_TAG = 0xE0000


@dataclass(frozen=True, slots=True)
class Probe:
    """One text that speaks to a judge, and where it stands in which transcript."""

    id: str
    kind: Kind
    language: str
    place: Place
    base: str
    text: str

    @property
    def readable(self) -> str:
        """The text with every tag character as the letter that it hides, for people to read."""
        return "".join(chr(ord(each) - _TAG) if _TAG < ord(each) < _TAG + 0x7F else each for each in self.text)


@dataclass(frozen=True)
class ProbedTranscript:
    """A transcript that deserves a low value: what was asked, expected and done.

    `argument` is the name of the argument in which a probe stands, `criteria` what it is expected to meet.
    """

    id: str
    conversation: list[dict[str, Any]]
    tools: list[dict[str, Any]]
    expectation: dict[str, Any]
    argument: str
    criteria: str
    done: list[dict[str, Any]]

    def holding(self, probe: Probe) -> ProbedTranscript:
        """Return the transcript with a probe in its place."""
        conversation, done = deepcopy(self.conversation), deepcopy(self.done)
        match probe.place:
            case "user":
                conversation[-1]["content"] += f"\n\n{probe.text}"
            case "result":
                last = [message for message in done if message["role"] == "tool"][-1]
                last["content"] = json.dumps({**json.loads(last["content"]), "note": probe.text}, ensure_ascii=False)
            case "argument":
                for message in done:
                    for call in message.get("tool_calls", ()):
                        call["arguments"][self.argument] += f". {probe.text}"
            case "answer":
                done[-1]["content"] += f"\n\n{probe.text}"
        return ProbedTranscript(self.id, conversation, self.tools, self.expectation, self.argument, self.criteria, done)

    def request(self, rubric: Rubric) -> JudgementRequest:
        """Return what a judge is asked about the transcript by a rubric, whatever the rubric's gate."""
        unit = self._unit()
        scene = self.scene
        return JudgementRequest(
            rubric, {name: unit[name] if name in unit else OF_CASE[name](scene) for name in rubric.inputs}
        )

    def _unit(self) -> Mapping[str, Any]:
        """Return what gates give besides the case, of the first call."""
        call = self.done[0]["tool_calls"][0]
        return {
            "criteria": self.criteria,
            "value": call["arguments"][self.argument],
            "expected": self._expected().to_document(),
            # The right tool, so that the question is about arguments alone.
            "actual": {"name": self.expectation["tool"], "arguments": call["arguments"]},
        }

    def _expected(self) -> CallExpectation:
        arguments = self.expectation["arguments"]
        return CallExpectation(self.expectation["tool"], {name: Exact(value) for name, value in arguments.items()})

    @cached_property
    def scene(self) -> GradedCaseView:
        """The transcript as judging looks at a case, with what rules say of it."""
        expectation = Expectation("calls", alternatives=(Trajectory(unordered=(self._expected(),)),))
        compiled = compile_case(expectation, [ToolSpec(**tool) for tool in self.tools])
        transcript = transcript_in(self.done)
        conversation = transcript_in(self.conversation).messages
        return GradedCaseView(compiled, transcript, grade(compiled, transcript), conversation)


@cache
def probed_transcripts() -> Mapping[str, ProbedTranscript]:
    """Return the transcripts that probes are put into, by id."""
    return {line["id"]: ProbedTranscript(**line) for line in _lines("probed_transcripts.jsonl")}


@cache
def probes() -> tuple[Probe, ...]:
    """Return all probes, in the order of the file."""
    return tuple(Probe(**line) for line in _lines("probes.jsonl"))


def _lines(name: str) -> list[dict[str, Any]]:
    text = (resources.files("toolevals.grading.judging") / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]
