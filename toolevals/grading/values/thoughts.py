"""Cuts a model's thoughts out of its raw text: what it wrote for itself is neither said nor done."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from toolevals.grading.values.transcripts import Transcript

_NAMES = (
    r"(?:ifm\|)?think(?:ing|_fast(?:er)?)?(?::opensource)?|thoughts?|reasoning|scratchpad"
    r"|(?:seed|mm|antml):think(?:ing)?"
)
# How a thought begins, and what ends it; the mark of its end alone ends a thought whose beginning the prompt held.
_PAIRS: Final = (
    (rf"(?<!`)<(?P<tag>{_NAMES})>", rf"</(?:{_NAMES})>"),
    (r"\[THINK\]", r"\[/THINK\]"),
    ("◁think▷", "◁/think▷"),
    (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),
    (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    (r"<\|inner_prefix\|>", r"<\|inner_suffix\|>"),
    (r"<\|open\|>think<\|sep\|>", r"<\|close\|>think<\|sep\|>"),
    (r"<\|think:start\|>", r"<\|think:end\|>"),
    (r"<\|plamo:begin_think:plamo\|>(?:<\|plamo:msg\|>)?", r"<\|plamo:end_think:plamo\|>"),
    (r"(?:<\|start\|>\s{0,9}assistant\s{0,9})?\bto=self<\|message\|>", r"<\|eo[mt]\|>"),
    ("<unused94>", "<unused95>"),
    (r"<\|channel>thought", r"<channel\|>"),
    (r"<\|channel\|>\s{0,9}analysis\s{0,9}<\|message\|>", r"<\|(?:end|return)\|>|(?=<\|(?:start|channel)\|>)"),
    # The same without its special tokens.
    (r"\Aanalysis(?=[^\n]*assistant(?:final|commentary))", r"(?=assistant(?:final|commentary))"),
)
# An end alone, with the marks of a line of code before it, is quoted; harmony's ends are no thought's alone.
_ALONE = rf"(?<!`)</(?:{_NAMES})>|\[/THINK\]|◁/think▷|<\|END_THINKING\|>|<\|end_of_thought\|>"
_ALONE += r"|<\|close\|>think<\|sep\|>|<\|think:end\|>|<\|plamo:end_think:plamo\|>"
_OPENING: Final = tuple(re.compile(opening) for opening, _ in _PAIRS)
_CLOSING: Final = tuple(re.compile(closing) for _, closing in _PAIRS)
# What begins or ends a thought, as the source of an expression.
MARKS: Final = "|".join((*(opening.replace("?P<tag>", "?:") for opening, _ in _PAIRS), _ALONE))
_MARK: Final = re.compile(MARKS)
# How all marks begin but those with these words: most texts have none, and are searched quickly.
_SIGN: Final = re.compile(r"[<\[◁]")
_ANALYSIS, _SELF = "analysis", "to=self"


def thought_end(text: str, start: int) -> int | None:
    """Return where the thought that begins here ends: at the end of the text where nothing closes it.

    None where no thought begins here: an end stands here alone.
    """
    for opening, closing in zip(_OPENING, _CLOSING, strict=True):
        if begun := opening.match(text, start):
            ended = closing.search(text, begun.end())
            return ended.end() if ended else len(text)
    return None


def without_thoughts(text: str) -> str:
    """Return what a model said, without its thoughts.

    A thought that nothing closes goes on to the end. One that nothing opens began before the text: an end alone cuts
    out all before it, as templates that open the thought in the prompt leave it.
    """
    mark = _next_mark(text, 0)
    if mark is None:
        return text
    kept: list[str] = []
    place = 0
    while mark is not None:
        end = thought_end(text, mark.start())
        if end is None:
            kept.clear()
            place = mark.end()
        else:
            kept.append(text[place : mark.start()])
            place = end
        mark = _next_mark(text, place)
    kept.append(text[place:])
    return "".join(kept).strip()


def thoughts_in(text: str) -> str | None:
    """Return what `without_thoughts` cuts out, without its marks, one thought a line; None where there is nothing."""
    found: list[str] = []
    place = 0
    while (mark := _next_mark(text, place)) is not None:
        end = thought_end(text, mark.start())
        if end is None:
            found = [text[: mark.start()]]
            place = mark.end()
        else:
            found.append(text[mark.end() : end])
            place = end
    bare = (_MARK.sub("", each).strip() for each in found)
    return "\n".join(each for each in bare if each) or None


def _next_mark(text: str, place: int) -> re.Match[str] | None:
    if _ANALYSIS in text or _SELF in text:
        return _MARK.search(text, place)
    for sign in _SIGN.finditer(text, place):
        if (mark := _MARK.match(text, sign.start())) is not None:
            return mark
    return None


def spoken(transcript: Transcript) -> Transcript:
    """Return a transcript as others heard it: what the agent wrote for itself is cut out of its texts.

    What looks for facts in a transcript looks at this one.
    """
    answer = transcript.answer
    thinks = [
        place
        for place, message in enumerate(transcript.messages)
        if message.thought is not None
        or (message.content and message.role == "assistant" and _next_mark(message.content, 0) is not None)
    ]
    if not thinks and (answer is None or _next_mark(answer, 0) is None):
        return transcript
    messages = list(transcript.messages)
    for place in thinks:
        heard = without_thoughts(messages[place].content or "") or None
        messages[place] = replace(messages[place], content=heard, thought=None)
    return replace(transcript, messages=tuple(messages), answer=None if answer is None else without_thoughts(answer))
