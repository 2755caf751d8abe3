"""Show a case for re-reading: the conversation, what the agent did and its tools; no gold and no verdict."""

from __future__ import annotations

from typing import Final

from labeling.guidelines.blocks import GuidelineBlock, guideline_blocks
from toolevals.grading.values import MalformedCall, Transcript
from toolevals.grading.values.verdict_table import DECIDING
from toolevals.grading.values.verdicts import CALLS, EXPECTED, parts_of
from toolevals.json_types import JsonObject
from toolevals.registry.tool_lists import tools_in
from toolevals.runs.models import RereadCase
from toolevals.runs.queries import tools_offered

# Part of what decides a case -> what a reader is to judge.
PART_WORDS: Final = {
    CALLS: "the calls that the agent made, with their arguments",
    **{part.name: part.asked for part in DECIDING.values()},
}

_OF_A_TOOL: Final = ("name", "description", "input_schema")


def case_inputs(case: RereadCase) -> JsonObject:
    """Return what a reader is given of a case, by name, as `shown_question` lays it out."""
    transcript, run = case.case.transcript, case.case.grading.run
    entry = transcript.entry
    document = transcript.document
    done = done_messages(None if document is None else Transcript.from_document(document))
    tools = [spec.to_document() for spec in tools_offered(tools_in(entry.revision.tools), run.agent)]
    shown = [{name: value for name, value in tool.items() if name in _OF_A_TOOL} for tool in tools]
    return {"conversation": entry.revision.input, "done": done, "tools": shown}


def judged_words(case: RereadCase) -> str:
    """Return what a reader is to judge, as the case was decided: the score counts nothing else."""
    decided = case.case.decided_by
    words = [PART_WORDS[part] for part in parts_of(decided) if part in PART_WORDS]
    if decided == EXPECTED or not words:
        return "what the agent did as a whole: its calls, and what it told the user"
    return " and ".join(words)


def guideline_of(case: RereadCase) -> list[GuidelineBlock]:
    """Return the guideline by which the dataset is labelled."""
    return guideline_blocks(case.case.transcript.entry.version.dataset.guideline)


def done_messages(transcript: Transcript | None) -> list[JsonObject]:
    """Return what the agent did as messages that can be shown; a call that no one can read is shown as its text."""
    if transcript is None:
        return []
    messages: list[JsonObject] = []
    for message in transcript.messages:
        document = message.thought_document()
        if message.calls:
            document["calls"] = [
                {"name": call.name or "(unparsed)", "arguments": call.text or call.reason}
                if isinstance(call, MalformedCall)
                else call.to_document()
                for call in message.calls
            ]
        messages.append(document)
    if transcript.answer and not any(message.content == transcript.answer for message in transcript.messages):
        messages.append({"role": "assistant", "content": transcript.answer})
    return messages
