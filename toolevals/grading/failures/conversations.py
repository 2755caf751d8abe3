"""Finds the failures of a conversation without gold: with the same keys as those of a graded case."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final

from toolevals.grading.engine.case_findings import argument_name
from toolevals.grading.failures.cases import answers_failed, recovery_failures, result_use_failures, tool_error
from toolevals.grading.failures.failure import LONGEST_NAME, Failure
from toolevals.grading.layers.recovery import grade_recovery
from toolevals.grading.layers.result_use import grade_result_use
from toolevals.grading.values import Call, ToolSpec, Transcript
from toolevals.grading.values.thoughts import spoken
from toolevals.grading.values.verdicts import NONE

# Of one conversation so many failures are kept, each once: its sender may be hostile.
MOST_FAILURES: Final = 100


@dataclass(frozen=True, slots=True)
class CallMade:
    """A call of a conversation, and what is known of it besides the transcript.

    `misfits` are the JSON pointers at which its arguments break the schema. `answer` is what its tool says of itself,
    None where that is not known; it counts where the transcript tells of no error.
    """

    call: Call
    is_readable: bool = True
    is_offered: bool = True
    misfits: tuple[str, ...] = ()
    answer: str | None = None
    is_error: bool = False


def failures_of_conversation(
    transcript: Transcript,
    calls: Iterable[CallMade],
    *,
    tools: Mapping[str, ToolSpec],
    failed: Collection[str],
    loop: str = "",
) -> tuple[Failure, ...]:
    """Return what failed in a conversation, each failure once: calls, errors of tools, and what `failed` names.

    `failed` names what failed as a whole, among "result_use", "recovery" and "cost"; other names are left out. `loop`
    is the tool that was called in a loop.
    """
    found = _all(transcript, list(calls), tools, failed, loop)
    return tuple(islice(dict.fromkeys(found), MOST_FAILURES))


def _all(
    transcript: Transcript, calls: list[CallMade], tools: Mapping[str, ToolSpec], failed: Collection[str], loop: str
) -> Iterator[Failure]:
    told = {id(event.made.call): failure for event, failure in answers_failed(transcript)}
    for made in calls:
        yield from _of_call(made)
    if loop:
        yield Failure("selection", "called_in_a_loop", loop[:LONGEST_NAME])
    if "cost" in failed:
        yield Failure("outcome", "over_limit")
    heard = spoken(transcript) if failed else transcript
    if "result_use" in failed:
        yield from result_use_failures(grade_result_use(heard).to_document())
    if "recovery" in failed:
        episodes = [each.to_document() for each in grade_recovery(heard, tools=tools).episodes]
        yield from recovery_failures({"episodes": episodes}, heard)
    for made in calls:
        failure = told.pop(id(made.call), None)
        if failure is None and made.answer is not None:
            failure = tool_error(made.call, made.answer, is_error=made.is_error)
        if failure is not None:
            yield failure
    yield from told.values()


def _of_call(made: CallMade) -> Iterator[Failure]:
    tool = (made.call.name or NONE)[:LONGEST_NAME]
    if not made.is_readable:
        yield Failure("selection", "malformed_output", tool)
        return
    if not made.is_offered:
        yield Failure("selection", "tool_not_offered", tool)
    for pointer in made.misfits:
        yield Failure("arguments", "schema_error", tool, argument=argument_name(pointer))
