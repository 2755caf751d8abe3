"""Tell when a judge is asked, and of what: only after rules have said all that they can.

A gate looks at what rules decided. It gives the units that a judge is asked about, each with the inputs that only this
gate has; how many units need no judge, because rules have settled them as right; or a sentence that says why nothing is
asked. In one table, GATES.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from toolevals.grading.judging.materials import OF_CASE, GradedCaseView
from toolevals.grading.reading.parsing.steps import thought_of
from toolevals.grading.values.canonical import canonical
from toolevals.json_types import JsonMapping

# The inputs of a unit that is the whole case: none beside those that every case has.
WHOLE: tuple[JsonMapping, ...] = ({},)


@dataclass(frozen=True, slots=True)
class Units:
    """The units that a judge is asked about in one case. `silence` says why nothing is asked."""

    asked: tuple[JsonMapping, ...] = ()
    settled: int = 0
    silence: str = ""


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate: `inputs` are those that it gives besides the case's own.

    `about_thoughts` says that its judge is shown what the agent wrote for itself; others see what was said alone.
    """

    name: str
    sentence: str
    units: Callable[[GradedCaseView], Units]
    inputs: tuple[str, ...] = ()
    about_thoughts: bool = False

    @property
    def all_inputs(self) -> tuple[str, ...]:
        """Every input that a rubric behind this gate can ask for."""
        return (*OF_CASE, *self.inputs)


def _criteria(scene: GradedCaseView) -> Units:
    statuses = scene.statuses
    if statuses["selection"] != "passed" or scene.compiled.expectation.kind != "calls":
        return Units(silence="Not asked: the tools are not the expected ones, or no call is expected.")
    if statuses["arguments"] != "unscored":
        return Units(silence="Not asked: rules alone decide these arguments.")
    # One question for what is asked twice: the same criteria of the same value.
    found = {canonical([criteria, value]): {"criteria": criteria, "value": value} for criteria, value in scene.worded()}
    return Units(tuple(found.values()))


def _differing(scene: GradedCaseView) -> Units:
    statuses = scene.statuses
    if scene.compiled.expectation.kind != "calls" or statuses["selection"] != "passed":
        return Units(silence="Not asked: the tools are not the expected ones, or no call is expected.")
    if statuses["schema"] == "failed":
        return Units(silence="Not asked: a call breaks its schema.")
    if statuses["shape"] != "passed":
        return Units(silence="Not asked: arguments are missing, extra or of another type.")
    if statuses["equivalence"] == "unscored":
        return Units(silence="Not asked: criteria in words have to be judged first.")
    pairs = tuple({"expected": expected, "actual": actual} for expected, actual in scene.faulty_pairs())
    return Units(pairs, settled=scene.alignment.total - len(pairs))


def _open_choice(scene: GradedCaseView) -> Units:
    if scene.statuses["schema"] == "failed":
        return Units(silence="Not asked: a call breaks its schema.")
    if scene.compiled.expectation.kind == "some_call" and scene.statuses["selection"] == "passed":
        return Units(WHOLE)
    if scene.plain.mode == "wrong_tool":
        return Units(WHOLE)
    return Units(silence="Not asked: rules decide which tool is right here.")


def _result_used(scene: GradedCaseView) -> Units:
    messages = scene.transcript.messages
    first = next((place for place, message in enumerate(messages) if message.role == "tool"), len(messages))
    replies = (message.content for message in messages[first:] if message.role == "assistant")
    if first == len(messages) or not (scene.transcript.answer or any(replies)):
        return Units(silence="Not asked: no reply follows a tool's result.")
    return _unless_broken(scene)


def _tool_failed(scene: GradedCaseView) -> Units:
    if scene.statuses["recovery"] == "unscored" and not scene.plain.detail("recovery").get("episodes"):
        return Units(silence="Not asked: no tool failed.")
    # A call that breaks its schema is what a recovery may begin with.
    return Units(WHOLE)


def _task(scene: GradedCaseView) -> Units:
    if scene.plain.mode == "malformed_output":
        return Units(silence="Not asked: a call cannot be read.")
    if not scene.transcript.messages and scene.transcript.answer is None:
        return Units(silence="Not asked: the agent did nothing.")
    return _unless_broken(scene)


def _reasoned(scene: GradedCaseView) -> Units:
    if not any(message.role == "assistant" and thought_of(message) for message in scene.transcript.messages):
        return Units(silence="Not asked: the agent gave no reasons for its calls.")
    return _unless_broken(scene)


def _unless_broken(scene: GradedCaseView) -> Units:
    if scene.statuses["schema"] == "failed":
        return Units(silence="Not asked: a call breaks its schema.")
    return Units(WHOLE)


GATES: Mapping[str, Gate] = {
    gate.name: gate
    for gate in (
        Gate(
            "criteria",
            "Each value that an expectation describes in words, once tools and all other arguments are right.",
            _criteria,
            ("criteria", "value"),
        ),
        Gate(
            "differing_arguments",
            "Each call of the right tool and shape that keeps its schema and is not equal to the expected one.",
            _differing,
            ("expected", "actual"),
        ),
        Gate(
            "open_choice",
            "Cases where any call will do and one was made, or where another offered tool than the right one was.",
            _open_choice,
        ),
        Gate("result_used", "Cases with a reply after a tool's result.", _result_used),
        Gate("tool_failed", "Cases in which a tool failed or answered with nothing or a part.", _tool_failed),
        Gate("task", "Cases in which the agent did something that can be read.", _task),
        Gate("reasoned", "Cases in which the agent gave reasons for its calls.", _reasoned, about_thoughts=True),
    )
}
