"""Work out what the replies of a case claim, cut so that a page can mark it, and the field that each claim rests on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from reports.cases.analysis import path_text
from toolevals.grading.values import Transcript
from toolevals.grading.values.thoughts import spoken
from toolevals.json_types import JsonMapping

# Of a reply without claims between two of its claims, so many characters are shown on each side.
CONTEXT: Final = 160
# Fields of a derivation that are shown by name.
MAX_FIELDS: Final = 4
SOURCE_WORDS: Final[Mapping[str, str]] = {
    "user": "said by the user",
    "context": "in an earlier message, such as the system’s",
    "arguments": "an argument of a call",
    "derived": "derived",
    "ungrounded": "no source found",
}


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a reply: words, or a claim by its number from 1. `status` is "wrong", "held", "open" or "" of words.

    A claim that nothing supports is "wrong" only where a finding accuses it.
    """

    text: str
    number: int = 0
    status: str = ""


@dataclass(frozen=True, slots=True)
class ShownClaim:
    """A claim: its number, its words, what it rests on, and what is wrong with it; `kind` is the finding's."""

    number: int
    text: str
    status: str
    rests_on: str
    tool: str
    path: str
    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class ClaimReading:
    """The replies of a case in pieces, their claims, what is wrong next to them, and how many fields they used."""

    replies: tuple[tuple[Piece, ...], ...] = ()
    claims: tuple[ShownClaim, ...] = ()
    beside: tuple[tuple[str, str], ...] = ()
    used: int = 0
    fields: int = 0

    def __bool__(self) -> bool:
        return bool(self.claims or self.beside or self.fields)


def read_claims(detail: Any, transcript: Transcript | None) -> ClaimReading:
    """Return the claims that `result_use` found in a case, from its details; empty where there are none to show.

    A claim whose place does not fit the transcript's text is listed and not marked.
    """
    if not isinstance(detail, Mapping) or transcript is None:
        return ClaimReading()
    claims = list(detail.get("claims", ()))
    accused = {place: each for each in detail.get("findings", ()) for place in each.get("claims", ())}
    attributions = list(detail.get("attributions", ()))
    results = {each["message"]: each for each in detail.get("utilisation", ())}
    shown = tuple(
        _claim(place, claim, attributions[place] if place < len(attributions) else {}, accused.get(place), results)
        for place, claim in enumerate(claims)
    )
    return ClaimReading(
        _replies(claims, shown, transcript),
        shown,
        tuple((each["kind"], each["reason"]) for each in detail.get("findings", ()) if not each.get("claims")),
        sum(len(each.get("used", ())) for each in results.values()),
        sum(len(each.get("used", ())) + len(each.get("unused", ())) for each in results.values()),
    )


def _claim(
    place: int,
    claim: JsonMapping,
    source: JsonMapping,
    finding: JsonMapping | None,
    results: Mapping[int, JsonMapping],
) -> ShownClaim:
    said_by, against = source.get("source", "ungrounded"), finding or source
    result = results.get(against.get("message", -1), {})
    status = "wrong" if finding else "open" if said_by == "ungrounded" else "held"
    rule = source.get("rule", "")
    words = SOURCE_WORDS.get(said_by, "") if not (said_by == "derived" and rule) else rule.replace("_", " ")
    if said_by == "derived" and (fields := source.get("fields")):
        words += f" of {', '.join(map(path_text, fields[:MAX_FIELDS]))}"
        words += f" and {len(fields) - MAX_FIELDS} more" if len(fields) > MAX_FIELDS else ""
    if said_by == "result" and rule not in ("", "equal"):
        words = rule.replace("_", " ")
    pointer = against.get("pointer", "")
    return ShownClaim(
        number=place + 1,
        text=str(claim.get("text", "")),
        status=status,
        rests_on="" if finding else words,
        tool=str(result.get("tool") or ""),
        path=path_text(pointer) if pointer and (finding or said_by != "derived") else "",
        kind=finding["kind"] if finding else "",
        reason=finding["reason"] if finding else "",
    )


def _replies(
    claims: Sequence[JsonMapping], shown: Sequence[ShownClaim], transcript: Transcript
) -> tuple[tuple[Piece, ...], ...]:
    by_message: dict[int, list[tuple[int, int, ShownClaim]]] = {}
    for claim, each in zip(claims, shown, strict=True):
        by_message.setdefault(claim["message"], []).append((claim["start"], claim["end"], each))
    # Claims are found in what was said, without thoughts.
    said = spoken(transcript)
    texts = [message.content or "" for message in said.messages] + [said.answer or ""]
    return tuple(
        tuple(_pieces(texts[place] if place < len(texts) else "", sorted(found, key=lambda one: one[:2])))
        for place, found in sorted(by_message.items())
    )


def _pieces(text: str, claims: Sequence[tuple[int, int, ShownClaim]]) -> Iterable[Piece]:
    done = 0
    for start, end, claim in claims:
        if start < done or text[start:end] != claim.text:
            continue
        if words := text[done:start]:
            yield Piece(_between(words, first=not done))
        yield Piece(claim.text, claim.number, claim.status)
        done = end
    if done and (words := text[done:]):
        yield Piece(words if len(words) <= CONTEXT else f"{words[:CONTEXT]}…")


def _between(words: str, *, first: bool) -> str:
    if first:
        return words if len(words) <= CONTEXT else f"…{words[-CONTEXT:]}"
    return words if len(words) <= 2 * CONTEXT else f"{words[:CONTEXT]} … {words[-CONTEXT:]}"
