"""Defines rubrics: what a judge is asked, what it is given, how it answers, and what the answer is worth.

Defines one question to a judge, and its answer, as plain values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Literal, Self, get_args

from toolevals.grading.json_schema.conformance import TOO_MANY_WORDS, Validator, schema_problems
from toolevals.grading.judging.conditions import GATES
from toolevals.grading.values import canonical
from toolevals.grading.values.canonical import digest, exact
from toolevals.grading.values.documents import require_valid
from toolevals.grading.values.problems import InvalidDocument, Problem, pointer_to
from toolevals.json_types import JsonMapping, JsonObject, JsonValue

# What a rubric is about; `task` is the whole of what the agent was to do.
RubricLayer = Literal["selection", "arguments", "result_use", "recovery", "task"]
RUBRIC_LAYERS: tuple[RubricLayer, ...] = get_args(RubricLayer)
# How a value is read from an answer.
Scoring = Literal["said", "supported", "attributed", "used"]
# What an answer must hold for that.
_PARTS: Mapping[str, str] = {"said": "score", "supported": "claims", "attributed": "claims", "used": "fields"}
_TOLERANCE = 1e-9
_MESSAGE_LENGTH = 200


@dataclass(frozen=True, slots=True)
class Scale:
    """The values that an answer can have, and the least that passes. Without `values`, any number in 0..1."""

    values: tuple[float, ...] = ()
    passes_from: float = 1.0

    def admits(self, value: float) -> bool:
        """Tell whether an answer can have this value."""
        return any(abs(value - each) < _TOLERANCE for each in self.values) if self.values else 0 <= value <= 1

    def passes(self, value: float) -> bool:
        """Tell whether a value passes."""
        return value >= self.passes_from - _TOLERANCE


@dataclass(frozen=True, slots=True)
class Rubric:
    """One version of a question to judges.

    `text` is the instruction; what is judged is never put into it. `inputs` names what the judge is given, `gate` when
    it is asked, and of what (`gates.GATES`). `answer_schema` is the JSON Schema of the answer, `scoring` how its value
    is read: the `score` that it says; the share of its `claims` that are `supported`; the share whose `field` is one of
    the fields that were given; or the share of its relevant `fields` that are `used`.
    """

    name: str
    version: int
    title: str
    layer: RubricLayer
    gate: str
    inputs: tuple[str, ...]
    text: str
    answer_schema: JsonMapping
    scale: Scale
    scoring: Scoring = "said"

    def __hash__(self) -> int:
        return hash((self.name, self.version))

    @property
    def digest(self) -> str:
        """SHA-256 of the document: the rubric's name by content."""
        return canonical.digest(self.to_document())

    @classmethod
    def from_document(cls, document: JsonValue) -> Self:
        """Read `schemas/rubric.v1.json`. Raises InvalidDocument."""
        require_valid(document, "rubric")
        if problems := [*_unfitting(document), *_schema_problems(document)]:
            raise InvalidDocument(problems)
        scale = document["scale"]
        return cls(
            name=document["name"],
            version=document["version"],
            title=document["title"],
            layer=document["layer"],
            gate=document["gate"],
            inputs=tuple(document["inputs"]),
            text=document["text"],
            answer_schema=document["answer_schema"],
            scale=Scale(tuple(scale.get("values", ())), scale["passes_from"]),
            scoring=document.get("scoring", "said"),
        )

    def to_document(self) -> JsonObject:
        """Return the normal form."""
        return {
            "name": self.name,
            "version": self.version,
            "title": self.title,
            "layer": self.layer,
            "gate": self.gate,
            "inputs": list(self.inputs),
            "text": self.text,
            "answer_schema": dict(self.answer_schema),
            "scale": {"values": list(self.scale.values), "passes_from": self.scale.passes_from},
            "scoring": self.scoring,
        }

    def problems_in(self, answer: object) -> list[Problem]:
        """Return how an answer breaks the rubric's schema."""
        try:
            errors = _validator(canonical.canonical(dict(self.answer_schema))).errors(answer)
        except InvalidDocument as error:
            return list(error.problems)
        if errors is None:
            return [Problem("", TOO_MANY_WORDS)]
        return [Problem(pointer_to(error.instance_path), error.message[:_MESSAGE_LENGTH]) for error in errors]

    def value_of(self, answer: JsonMapping, inputs: JsonMapping) -> float | None:
        """Return what an answer is worth, 0..1; None where it holds nothing to score.

        Raises InvalidDocument where the answer does not fit the schema, or its value is not on the scale.
        """
        if problems := self.problems_in(answer):
            raise InvalidDocument(problems)
        value = _SCORINGS[self.scoring](answer, inputs)
        if value is not None and self.scoring == "said" and not self.scale.admits(value):
            raise InvalidDocument.at("/score", f"{value} is not on the scale")
        return value


def _schema_problems(document: JsonMapping) -> list[Problem]:
    return [problem.below("/answer_schema") for problem in schema_problems(document["answer_schema"])]


def _unfitting(document: JsonMapping) -> Iterator[Problem]:
    """Yield what is wrong between the parts of a rubric, each of which is right by itself."""
    gate, inputs = GATES[document["gate"]], document["inputs"]
    for place, name in enumerate(inputs):
        if name not in gate.all_inputs:
            yield Problem(f"/inputs/{place}", f"{name} is not there behind the gate {gate.name}")
    scoring = document.get("scoring", "said")
    if scoring in ("attributed", "used") and "fields" not in inputs:
        yield Problem("/inputs", f"must hold fields where the value is the share of what is {scoring}")
    part = _PARTS[scoring]
    if part not in (document["answer_schema"].get("required") or ()):
        yield Problem("/answer_schema/required", f"must hold {part}, from which the value is read")
    scale = document["scale"]
    if scale.get("values") and not any(value >= scale["passes_from"] for value in scale["values"]):
        yield Problem("/scale/passes_from", "is above every value of the scale, so nothing passes")


@lru_cache(maxsize=256)
def _validator(schema_text: str) -> Validator:
    schema = canonical.parse(schema_text)
    if problems := schema_problems(schema):
        raise InvalidDocument(problem.below("/answer_schema") for problem in problems)
    return Validator(schema)


def _said(answer: JsonMapping, inputs: JsonMapping) -> float:
    score = answer.get("score")
    if isinstance(score, bool) or not isinstance(score, int | float):
        raise InvalidDocument.at("/score", "must be a number")
    return float(score)


def _supported(answer: JsonMapping, inputs: JsonMapping) -> float | None:
    return _share([claim.get("supported") is True for claim in _objects(answer, "claims")])


def _attributed(answer: JsonMapping, inputs: JsonMapping) -> float | None:
    known = _field_ids(inputs)
    return _share([_text(claim, "field") in known for claim in _objects(answer, "claims")])


def _used(answer: JsonMapping, inputs: JsonMapping) -> float | None:
    known = _field_ids(inputs)
    relevant = [
        each for each in _objects(answer, "fields") if each.get("relevant") is True and _text(each, "field") in known
    ]
    return _share([each.get("used") is True for each in relevant])


_SCORINGS: Mapping[str, Callable[[JsonMapping, JsonMapping], float | None]] = {
    "said": _said,
    "supported": _supported,
    "attributed": _attributed,
    "used": _used,
}


def _share(found: list[bool]) -> float | None:
    return sum(found) / len(found) if found else None


def _objects(answer: JsonMapping, name: str) -> list[JsonMapping]:
    items = answer.get(name)
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _text(item: JsonMapping, name: str) -> str | None:
    value = item.get(name)
    return value if isinstance(value, str) else None


def _field_ids(inputs: JsonMapping) -> frozenset[str]:
    fields = inputs.get("fields")
    return frozenset(each["field"] for each in fields) if isinstance(fields, list) else frozenset()


@dataclass(frozen=True)
class JudgementRequest:
    """A rubric and what the judge is given of a case: JSON values by the names of the rubric's inputs."""

    rubric: Rubric
    inputs: JsonMapping

    @cached_property
    def digest(self) -> str:
        """SHA-256 over the inputs: with rubric and model it names the question."""
        return digest(dict(self.inputs))

    @cached_property
    def size(self) -> int:
        """Return how many characters of JSON the judge is given."""
        return len(exact(dict(self.inputs)))


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judge's answer to the request whose rubric and inputs it names.

    `value` is 0..1, None where the answer holds nothing to score. `answer` is the judge's own, as the rubric's schema
    has it. `error` says why there is no answer. `model` is the snapshot that was asked; `pinned` says that its name
    stands for one snapshot and no other.
    """

    rubric: str
    inputs: str
    value: float | None = None
    reason: str = ""
    answer: JsonMapping = field(default_factory=dict)
    error: str = ""
    model: str = ""
    pinned: bool = True

    @classmethod
    def of_answer(cls, request: JudgementRequest, answer: JsonMapping, *, model: str = "", pinned: bool = True) -> Self:
        """Return the judgement in an answer that the rubric's schema has passed. Raises InvalidDocument."""
        value = request.rubric.value_of(answer, request.inputs)
        reason = answer.get("reason")
        said = reason if isinstance(reason, str) else ""
        return cls(request.rubric.name, request.digest, value, said, dict(answer), model=model, pinned=pinned)

    @classmethod
    def errored(cls, request: JudgementRequest, error: str, *, model: str = "", pinned: bool = True) -> Self:
        """Return the judgement that was not had."""
        return cls(request.rubric.name, request.digest, error=error or "No reason given.", model=model, pinned=pinned)
