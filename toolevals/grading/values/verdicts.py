"""Defines the answers that graders give, and all of them on one transcript.

Name the four statuses of a verdict, and say whose failure a case is.

Defines one text that speaks to a judge, as it is kept with a graded case.

Name what decides a case: its calls, its end state, its answer, how it dealt with errors and results, or several.

`decided_by` is text: EXPECTED, or names of PARTS joined by "+" in the order of PARTS, such as "end_state+answer".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Literal, Protocol, Self

from toolevals.grading.values.documents import require_valid
from toolevals.grading.values.problems import InvalidDocument
from toolevals.grading.values.value_classes import value_class
from toolevals.grading.values.verdict_table import DECIDING
from toolevals.json_types import JsonMapping, JsonObject, JsonValue

Status = Literal["passed", "failed", "unscored", "errored"]


class FailureTag(StrEnum):
    """The party at fault for a failure; every case that did not pass and is not unscored has exactly one."""

    MALFORMED_OUTPUT = "MALFORMED_OUTPUT"
    WRONG_ANSWER = "WRONG_ANSWER"
    ADAPTER_ERROR = "ADAPTER_ERROR"
    HARNESS_ERROR = "HARNESS_ERROR"


class InjectionKind(StrEnum):
    """The reason for which a text is flagged."""

    MARK = "mark"
    ANSWER = "answer"
    ORDER = "order"
    OVERRIDE = "override"


@dataclass(frozen=True, slots=True)
class Injection:
    """One text that speaks to its judge: its place as a JSON pointer, the reason, and the words."""

    pointer: str
    kind: InjectionKind
    excerpt: str

    @classmethod
    def from_document(cls, document: Mapping[str, str]) -> Self:
        """Read what `to_document` gives."""
        return cls(document["pointer"], InjectionKind(document["kind"]), document["excerpt"])

    def to_document(self) -> dict[str, str]:
        """Return the normal form."""
        return {"pointer": self.pointer, "kind": self.kind.value, "excerpt": self.excerpt}


# Whatever the gold expects decides: the calls, and the answer and the end state where they are expected and known.
EXPECTED: Final = "expected"
CALLS: Final = "calls"
# Part -> the verdict that it reads; the calls are read off selection and arguments together.
PARTS: Final[Mapping[str, str]] = {CALLS: "", **{part.name: verdict for verdict, part in DECIDING.items()}}
PART_SENTENCES: Final[Mapping[str, str]] = {
    EXPECTED: "What the gold expects: the calls, and the answer and the end state where it names them.",
    CALLS: "The expected tools were called with the expected arguments.",
    **{part.name: part.sentence for part in DECIDING.values()},
}
# No text of parts is longer.
LONGEST: Final = 60


def read_decided_by(value: object, pointer: str = "") -> str:
    """Return what decides in its normal form: each part once, in the order of PARTS; "" stays "".

    Raises:
        InvalidDocument: it is no text, names what is no part, or names a part besides EXPECTED.

    """
    if not isinstance(value, str):
        raise InvalidDocument.at(pointer, 'is not text, such as "end_state+answer"')
    if value in ("", EXPECTED):
        return value
    names = {name.strip() for name in value.split("+")}
    if unknown := sorted(names - PARTS.keys()):
        if EXPECTED in names:
            raise InvalidDocument.at(pointer, f"{EXPECTED} cannot be combined: leave out the other parts")
        known = ", ".join(PARTS)
        raise InvalidDocument.at(
            pointer, f"{unknown[0][:60]!r} decides nothing: take {EXPECTED}, or some of {known}, joined by +"
        )
    return "+".join(name for name in PARTS if name in names)


def parts_of(decided_by: str) -> tuple[str, ...]:
    """Return the parts that are named; none where whatever the gold expects decides."""
    return () if decided_by == EXPECTED else tuple(decided_by.split("+"))


def decided_words(decided_by: str) -> str:
    """Return what decides in words, such as "end state and answer"."""
    named = [name.replace("_", " ") for name in parts_of(decided_by)]
    if not named:
        return "what the gold expects"
    return f"{', '.join(named[:-1])} and {named[-1]}" if len(named) > 1 else named[0]


def combined(statuses: Iterable[Status | None]) -> Status:
    """Return the outcome of what decides together; None is a part whose question does not arise.

    Failed where any failed; else errored where any errored; else unscored where any is unscored, or where no question
    arises; passed where all that arise passed.
    """
    found = {status for status in statuses if status is not None}
    worst: tuple[Status, ...] = ("failed", "errored", "unscored", "passed")
    return next((status for status in worst if status in found), "unscored")


# Classes of a confusion matrix beside the tools.
NONE = "(none)"
UNKNOWN_TOOL = "(unknown tool)"
UNPARSED = "(unparsed)"

DifferenceKind = Literal["same", "changed", "missing", "extra"]


@value_class
class Verdict:
    """One grader's answer. `value` is 0..1, None where nothing was scored; `reason` is one sentence."""

    status: Status
    value: float | None = None
    reason: str = ""

    def to_document(self) -> JsonObject:
        """Return the normal form."""
        return {"status": self.status, "value": self.value, "reason": self.reason}


@value_class
class Pair:
    """One expected call next to the actual one that fits it best; either side may be `(none)`.

    `arguments` is unscored where the tools differ.
    """

    expected: str
    actual: str
    arguments: Status

    def to_document(self) -> JsonObject:
        """Return the normal form."""
        return {"expected": self.expected, "actual": self.actual, "arguments": self.arguments}


@value_class
class ArgumentDifference:
    """One argument, expected next to actual.

    `pair` is the place of its calls among the case's pairs, `path` a JSON pointer into their arguments. `expected` is
    a matcher's document, None where nothing was expected (kind "extra"); `actual` is a value, None where the argument
    is missing (kind "missing").
    """

    path: str
    expected: JsonValue
    actual: JsonValue
    kind: DifferenceKind
    pair: int = 0

    def to_document(self) -> JsonObject:
        """Return the normal form."""
        return {
            "pair": self.pair, "path": self.path, "expected": self.expected, "actual": self.actual, "kind": self.kind,
        }  # fmt: skip


@value_class
class SchemaProblem:
    """One way in which a call's arguments break its tool's input schema.

    `pointer` leads into the arguments; `call` is the call's place in the transcript.
    """

    pointer: str
    keyword: str
    message: str
    call: int = 0

    def to_document(self) -> JsonObject:
        """Return the normal form."""
        return {"call": self.call, "pointer": self.pointer, "keyword": self.keyword, "message": self.message}


@value_class
class JudgedVerdict:
    """A judge's answer to one rubric. Next to the rules' verdicts, never among them.

    `model` is the snapshot that was asked, empty where none was; `pinned` says that its name stands for one snapshot
    and no other. `asked` are the digests of what it was to be given, by which its judgements are found: without any,
    nothing in the case is for it to say.
    """

    rubric: str
    version: int
    status: Status
    value: float | None = None
    reason: str = ""
    model: str = ""
    pinned: bool = True
    asked: tuple[str, ...] = ()

    @classmethod
    def from_document(cls, document: JsonMapping) -> Self:
        """Read what `to_document` gives."""
        return cls(**{**document, "asked": tuple(document["asked"])})

    def to_document(self) -> JsonObject:
        """Return the normal form."""
        return {
            "rubric": self.rubric, "version": self.version, "status": self.status, "value": self.value,
            "reason": self.reason, "model": self.model, "pinned": self.pinned, "asked": list(self.asked),
        }  # fmt: skip


class CaseSource(Protocol):
    """The source of a decided grade's words and details."""

    @property
    def statuses(self) -> Mapping[str, Status]:
        """The status of every verdict."""

    @property
    def values(self) -> Mapping[str, float | None]:
        """The value of every verdict."""

    def field(self, name: str) -> Any:
        """Return a field of the grade; never raises."""

    def detail(self, layer: str) -> JsonMapping:
        """Return what is in the grade's `details` of a layer; nothing where it has found nothing."""


class _WorkedOut:
    """Fills a field that is still empty from the grade's source: Python asks here only where a slot is empty."""

    __slots__ = ("_source",)

    _source: CaseSource

    def __getattr__(self, name: str) -> Any:
        if name not in _LATER:
            raise AttributeError(name)
        value = self._source.field(name)
        object.__setattr__(self, name, value)
        return value


_LATER = frozenset((
    "verdicts", "expected", "actual", "pairs", "differences", "schema_problems", "details", "judged", "injections",
    "decided_by",
))  # fmt: skip


@dataclass(frozen=True, slots=True)
class CaseGrade(_WorkedOut):
    """Every verdict on one transcript.

    `verdicts` has a key for each verdict of the table. `mode` is what went wrong in the field's words, empty where
    nothing did. `expected` and `actual` are the place in the matrix of first calls, empty outside it. `details` is what
    a layer found besides its verdict, by the layer's name, in the layer's own normal form. `judged` is what judges say,
    by rubric, where they were asked; `injections` are texts that speak to them. `decided_by` says what the outcome is
    made of (`toolevals.grading.values.verdicts`); `tag` and `mode` belong to the outcome.

    What a grader gives has its statuses, tag and mode decided; everything else is worked out when first asked for,
    from the transcript's own values, which must not be changed before. Comparing, copying, pickling and writing a
    grade ask for all of it.
    """

    verdicts: Mapping[str, Verdict]
    tag: str = ""
    mode: str = ""
    expected: str = ""
    actual: str = ""
    pairs: tuple[Pair, ...] = ()
    differences: tuple[ArgumentDifference, ...] = ()
    schema_problems: tuple[SchemaProblem, ...] = ()
    details: JsonMapping = field(default_factory=dict)
    judged: Mapping[str, JudgedVerdict] = field(default_factory=dict)
    injections: tuple[Injection, ...] = ()
    decided_by: str = EXPECTED

    @property
    def statuses(self) -> Mapping[str, Status]:
        """The status of every verdict, without working out its words."""
        try:
            return self._source.statuses
        except AttributeError:
            return {name: verdict.status for name, verdict in self.verdicts.items()}

    @property
    def values(self) -> Mapping[str, float | None]:
        """The value of every verdict, without working out its words."""
        try:
            return self._source.values
        except AttributeError:
            return {name: verdict.value for name, verdict in self.verdicts.items()}

    def detail(self, layer: str) -> JsonMapping:
        """Return what a layer found besides its verdict, without working out what the others did; else nothing."""
        source = self.source
        found: JsonMapping = self.details.get(layer, {}) if source is None else source.detail(layer)
        return found

    @property
    def source(self) -> CaseSource | None:
        """Return where its words and details come from; None where they were given with it."""
        try:
            return self._source
        except AttributeError:
            return None

    @property
    def outcome(self) -> Verdict:
        """The verdict on the whole case."""
        return self.verdicts["outcome"]

    @classmethod
    def from_document(cls, document: JsonValue) -> Self:
        """Read `schemas/verdict.v1.json`. Raises InvalidDocument."""
        require_valid(document, "verdict")
        return cls(
            verdicts={name: Verdict(**verdict) for name, verdict in document["verdicts"].items()},
            tag=document["tag"],
            mode=document["mode"],
            expected=document["expected"],
            actual=document["actual"],
            pairs=tuple(Pair(**pair) for pair in document["pairs"]),
            differences=tuple(
                ArgumentDifference(
                    path=item["path"],
                    expected=item.get("expected"),
                    actual=item.get("actual"),
                    kind=item["kind"],
                    pair=item.get("pair", 0),
                )
                for item in document["differences"]
            ),
            schema_problems=tuple(SchemaProblem(**problem) for problem in document["schema_problems"]),
            details=document.get("details", {}),
            judged={name: JudgedVerdict.from_document(each) for name, each in document.get("judged", {}).items()},
            injections=tuple(Injection.from_document(each) for each in document.get("injections", ())),
            decided_by=document.get("decided_by", EXPECTED),
        )

    def to_document(self) -> JsonObject:
        """Return the normal form."""
        return {
            "verdicts": {name: verdict.to_document() for name, verdict in self.verdicts.items()},
            **self.beside_verdicts(),
        }

    def beside_verdicts(self) -> JsonObject:
        """Return what stands in the normal form after the verdicts."""
        document: JsonObject = {
            "tag": self.tag,
            "mode": self.mode,
            "expected": self.expected,
            "actual": self.actual,
            "pairs": [pair.to_document() for pair in self.pairs],
            "differences": [difference.to_document() for difference in self.differences],
            "schema_problems": [problem.to_document() for problem in self.schema_problems],
        }
        if self.details:
            document["details"] = dict(self.details)
        if self.judged:
            document["judged"] = {name: verdict.to_document() for name, verdict in self.judged.items()}
        if self.injections:
            document["injections"] = [each.to_document() for each in self.injections]
        if self.decided_by != EXPECTED:
            document["decided_by"] = self.decided_by
        return document


# The slots' own setters: a frozen class has no quicker way in, and many grades are made.
_new = object.__new__
_set_tag = vars(CaseGrade)["tag"].__set__
_set_mode = vars(CaseGrade)["mode"].__set__
_set_source = vars(_WorkedOut)["_source"].__set__


def decided(tag: str, mode: str, source: CaseSource) -> CaseGrade:
    """Return a grade whose words and details are worked out of `source` when asked for."""
    made = _new(CaseGrade)
    _set_tag(made, tag)
    _set_mode(made, mode)
    _set_source(made, source)
    return made
