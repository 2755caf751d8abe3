"""Tell what the grader of result use answers: claims, their attributions, findings, and which fields were used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from toolevals.grading.values.verdicts import Verdict

ClaimKind = Literal["number", "amount", "percent", "date", "time", "duration", "identifier", "name"]
SourceKind = Literal["result", "user", "context", "arguments", "derived", "ungrounded"]
FindingKind = Literal["flipped_digits", "changed_scale", "wrong_unit", "wrong_date"]

# What a finding of a kind says; a field of a result speaks against the claim each time.
FINDING_SENTENCES: Mapping[str, str] = {
    "flipped_digits": "A result's value with two neighbours swapped.",
    "changed_scale": "A result's value is off by a power of ten, as kilowatt hours said in tens.",
    "wrong_unit": "A result's number in another unit or currency than the result gives.",
    "wrong_date": "A weekday that the result's date does not have.",
    # Of gradings by earlier versions.
    "drift": "A later reply gives another value for what an earlier one gave as the result has it.",
    "wrong_field": "A result's value given as that of another field.",
    "contradiction": "A status, yes or no, or sum that a result has otherwise.",
}


class Claim(NamedTuple):
    """One value that a reply states.

    `message` is the reply's place in the transcript; the separate final answer stands after the last message. `start`
    and `end` count characters of its text.
    """

    message: int
    start: int
    end: int
    kind: ClaimKind
    text: str


class Attribution(NamedTuple):
    """The source of a claim: the attribution at a place is that of the claim at the same place.

    `message` is the place of the source's message, and for a result `pointer` leads to the field (into a list of lines
    where the result is no JSON). `rule` says how the claim follows: "equal", "rounded", "minor_units", "fraction",
    "converted", "count" or "sum"; empty where nothing supports it: the claim is then open, and no error unless a
    finding names it. `fields` are the pointers of the fields that a derivation takes.
    """

    source: SourceKind
    message: int | None = None
    pointer: str = ""
    call_id: str | None = None
    rule: str = ""
    fields: tuple[str, ...] = ()

    @property
    def is_grounded(self) -> bool:
        """Return whether something supports the claim."""
        return self.source != "ungrounded"


UNGROUNDED = Attribution("ungrounded")


class Finding(NamedTuple):
    """One thing that is wrong.

    `claims` are the places of the claims that it concerns. `message`, `call_id` and `pointer` lead to the result's
    field that speaks against them.
    """

    kind: FindingKind
    reason: str
    claims: tuple[int, ...] = ()
    message: int | None = None
    pointer: str = ""
    call_id: str | None = None


class ResultFields(NamedTuple):
    """The fields of one tool result that the replies used, as JSON pointers in the result's order.

    Fields are leaves with a value that text can show: no booleans, nulls or empty text. `passed_on` says whether a
    later call's arguments took a value of it.
    """

    message: int
    call_id: str | None
    tool: str | None
    used: tuple[str, ...]
    unused: tuple[str, ...]
    passed_on: bool

    @property
    def share(self) -> float | None:
        """The used fields' share, None where there is no field."""
        total = len(self.used) + len(self.unused)
        return len(self.used) / total if total else None


class ResultUse(NamedTuple):
    """The use of the results, as far as rules can tell; nothing here was judged by a model.

    `question` is what a judge would be asked where rules cannot tell. `truncated` says that a limit cut the reading
    short.
    """

    verdict: Verdict
    claims: tuple[Claim, ...] = ()
    attributions: tuple[Attribution, ...] = ()
    findings: tuple[Finding, ...] = ()
    utilisation: tuple[ResultFields, ...] = ()
    question: str = ""
    truncated: bool = False

    @property
    def share_used(self) -> float | None:
        """The share of all returned fields that replies used, None where there is none."""
        used = sum(len(fields.used) for fields in self.utilisation)
        total = used + sum(len(fields.unused) for fields in self.utilisation)
        return used / total if total else None

    def to_document(self) -> dict[str, Any]:
        """Return the normal form."""
        return {
            "verdict": self.verdict.to_document(),
            "claims": [claim._asdict() for claim in self.claims],
            "attributions": [{**each._asdict(), "fields": list(each.fields)} for each in self.attributions],
            "findings": [{**finding._asdict(), "claims": list(finding.claims)} for finding in self.findings],
            "utilisation": [
                {**fields._asdict(), "used": list(fields.used), "unused": list(fields.unused), "share": fields.share}
                for fields in self.utilisation
            ],
            "share_used": self.share_used,
            "question": self.question,
            "truncated": self.truncated,
        }
