"""Looks at a file before anything is done with it: what it is, how much it holds, first rows, losses, errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Final, Self

from toolevals.grading.files.evaluation_files.decoding import decoded
from toolevals.grading.files.evaluation_files.entry import ROW_LEFT
from toolevals.grading.files.evaluation_files.reading import Place, evaluation_file
from toolevals.grading.files.file_kinds import FileKind, plain_of, what_is
from toolevals.grading.gates.documents import read_gate
from toolevals.grading.reading.examples import ExampleRow, Judgement, read_example
from toolevals.grading.reading.parsing import Loss, read_transcript
from toolevals.grading.reading.parsing.content import text_in
from toolevals.grading.reading.predictions import read_prediction
from toolevals.grading.reading.reading_report import Readings
from toolevals.grading.reading.specs import counted, survey_tools
from toolevals.grading.reading.specs.files import document_in
from toolevals.grading.values import Transcript
from toolevals.grading.values.documents import load_json, schema
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.grading.values.yaml_documents import load_yaml
from toolevals.json_types import JsonMapping, JsonObject

# So many rows and errors are kept; all errors are counted.
FIRST: Final = 10
MOST_ERRORS: Final = 50
_LONGEST: Final = 160
_SINGULAR: Final = {"labels given elsewhere": "label given elsewhere", "people who gave them": "person who gave them"}
_LINE: Final = 4_000_000
# What a row for `toolevals grade` says of its prediction.
_PREDICTED: Final = frozenset(schema("prediction")["properties"]) - {"id"}

# Told how many entries are read; what it raises ends the reading.
Progress = Callable[[int], None]
# The number of the entry, its pointer, and its example or what is wrong with it.
Examples = Iterable[tuple[int, str, ExampleRow | InvalidDocument]]


@dataclass(frozen=True, slots=True)
class LookRow:
    """One of the first entries: its name, and what it says or does."""

    name: str
    says: str


@dataclass(frozen=True, slots=True)
class LookLoss:
    """Parts of one kind that are not carried over: where, what, how often, and where first."""

    part: str
    message: str
    count: int
    first: str


@dataclass(frozen=True, slots=True)
class LookError:
    """The problem of an entry: its line (0 where the file has none), the pointer, and a sentence."""

    line: int
    pointer: str
    message: str


@dataclass(slots=True)
class FileLook:
    """The content of a file. `counts` are by what is counted; a count not known before the import is left out."""

    kind: FileKind
    counts: dict[str, int] = field(default_factory=dict)
    rows: list[LookRow] = field(default_factory=list)
    losses: list[LookLoss] = field(default_factory=list)
    errors: list[LookError] = field(default_factory=list)
    error_count: int = 0
    # The agents whose trials an evaluation file holds.
    agents: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """Return how much the file holds, in words."""
        return ", ".join(f"{count:,} {_one(what) if count == 1 else what}" for what, count in self.counts.items())

    @property
    def lost(self) -> int:
        """Return how many parts are not carried over."""
        return sum(loss.count for loss in self.losses)

    def add_row(self, name: str, says: str) -> None:
        """Keep one of the first rows."""
        if len(self.rows) < FIRST:
            self.rows.append(LookRow(name, " ".join(says.split())[:_LONGEST]))

    def refuse(self, line: int, error: InvalidDocument, at: str = "") -> None:
        """Note what is wrong with an entry."""
        for problem in error.problems:
            self.error_count += 1
            if len(self.errors) < MOST_ERRORS:
                self.errors.append(LookError(line, at + problem.pointer, problem.message))

    def lose(self, losses: Iterable[Problem]) -> None:
        """Count what is not carried over, by kind."""
        self.losses += [LookLoss(each.key, each.message, each.count, each.first) for each in counted(losses)]

    def to_document(self) -> JsonObject:
        """Return the look as JSON."""
        return asdict(self)

    @classmethod
    def from_document(cls, document: JsonMapping) -> Self:
        """Read what `to_document` gives."""
        kind = document["kind"]
        return cls(
            FileKind(**{**kind, "gives": tuple(kind["gives"])}),
            document["counts"],
            [LookRow(**each) for each in document["rows"]],
            [LookLoss(**each) for each in document["losses"]],
            [LookError(**each) for each in document["errors"]],
            document["error_count"],
            tuple(document["agents"]),
        )


def look_at(
    content: bytes,
    *,
    examples: Callable[[FileKind, bytes], Examples],
    progress: Progress = lambda _: None,
) -> FileLook:
    """Return what a file holds. Raises InvalidDocument where it is of no known format, or nothing in it can be read.

    `examples` reads examples as the import does, so that what can be read here can be imported.
    """
    kind = what_is(content)
    look = FileLook(kind)
    if kind.kind == "examples":
        _look_at_examples(look, examples(kind, content), progress)
    else:
        _LOOKS[kind.kind](look, content, progress)
    return look


def _look_at_examples(look: FileLook, read: Examples, progress: Progress) -> None:
    count, to_label = 0, 0
    losses: list[Problem] = []
    said: list[Judgement] = []
    for done, (line, pointer, row) in enumerate(read, 1):
        if isinstance(row, InvalidDocument):
            look.refuse(line, row, pointer)
        else:
            count += 1
            to_label += row.expectation is None
            losses += row.losses
            look.add_row(row.external_id, last_user_words(row.input))
            said += row.judgements
        if done % 100 == 0:
            progress(done)
    look.counts |= {"examples": count} | ({"to label": to_label} if to_label else {}) | _judgement_counts(said)
    look.lose(losses)


def _judgement_counts(said: Iterable[Judgement]) -> dict[str, int]:
    """Return how many labels of how many people come from elsewhere, and how many notes; without what there is none."""
    labels = [each.author for each in said if each.expectation is not None]
    notes = sum(each.expectation is None for each in said)
    counts = {"labels given elsewhere": len(labels), "people who gave them": len(set(labels)), "notes": notes}
    return {name: count for name, count in counts.items() if count}


def last_user_words(given: JsonMapping) -> str:
    """Return what the user said last in an example's input."""
    said = [text_in(each.get("content")) or "" for each in given.get("messages", ()) if each.get("role") == "user"]
    return said[-1] if said else ""


def _look_at_tools(look: FileLook, content: bytes, progress: Progress) -> None:
    survey = survey_tools(document_in(content), progress=progress)
    good = [each for each in survey.tools if not each.problems]
    look.counts["tools"] = len(good)
    for each in good:
        look.add_row(each.name, each.description)
    for each in survey.tools:
        if each.problems:
            look.refuse(0, InvalidDocument(each.problems))
    look.lose(dict.fromkeys([*survey.losses, *(loss for each in survey.tools for loss in each.losses)]))


def _look_at_predictions(look: FileLook, content: bytes, progress: Progress) -> None:
    readings, count = Readings(), 0
    for number, line in enumerate(plain_of(content).splitlines(), 1):
        if not line.strip():
            continue
        try:
            found = read_prediction(load_json(line, max_bytes=_LINE))
        except InvalidDocument as error:
            look.refuse(number, error)
            continue
        count += 1
        readings.add(found)
        look.add_row(found.external_id, _done(found.transcript))
        if number % 100 == 0:
            progress(number)
    look.counts["predictions"] = count
    look.losses += _of_messages(readings.losses)


def _look_at_rows(look: FileLook, content: bytes, progress: Progress) -> None:
    count = 0
    for number, line in enumerate(plain_of(content).splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = load_json(line, max_bytes=_LINE)
            if not isinstance(row, Mapping):
                raise InvalidDocument.at("", "is not an object")
            example = read_example({key: value for key, value in row.items() if key not in _PREDICTED})
            made = {key: value for key, value in row.items() if key in _PREDICTED}
            done = _done(read_prediction({"id": example.external_id, **made}).transcript) if made else "no prediction"
        except InvalidDocument as error:
            look.refuse(number, error)
            continue
        count += 1
        look.add_row(example.external_id, f"{last_user_words(example.input)}: {done}")
        if number % 100 == 0:
            progress(number)
    look.counts["rows"] = count


def _look_at_evaluation(look: FileLook, content: bytes, progress: Progress) -> None:
    file = evaluation_file(content, look.kind.format)
    examples, trials = 0, 0
    losses: list[Problem] = []
    said: list[Judgement] = []
    agents: dict[str, None] = {}
    for place, found in file.entries():
        progress(place.number)
        if isinstance(found, InvalidDocument):
            look.refuse(place.line or 0, found)
            continue
        losses += [loss.below(place.pointer) for loss in found.losses]
        if found.trial is not None:
            trials += 1
            agents[found.trial.agent] = None
    for place, row in file.examples():
        if isinstance(row, InvalidDocument):
            _refuse_once(look, place, row)
        else:
            examples += 1
            said += row.judgements
            look.add_row(row.external_id, last_user_words(row.input))
    if file.detected.format.leaves_rows and examples:
        # The import leaves these rows out, and takes the others.
        left = (Problem(each.pointer, f"line {each.line}: {each.message}: {ROW_LEFT}") for each in look.errors)
        losses += left
        look.errors, look.error_count = [], 0
    look.counts |= {name: count for name, count in (("examples", examples), ("predictions", trials)) if count}
    look.counts |= _judgement_counts(said)
    look.agents = tuple(filter(None, agents))
    look.lose(losses)


def _refuse_once(look: FileLook, place: Place, error: InvalidDocument) -> None:
    """Note what is wrong with an example, unless reading the entries has said it already."""
    known = {(each.pointer, each.message) for each in look.errors}
    if known.isdisjoint((each.pointer, each.message) for each in error.problems):
        look.refuse(place.line or 0, error)


def _look_at_messages(look: FileLook, content: bytes, progress: Progress) -> None:
    read = read_transcript(decoded(content).value)
    look.counts["messages"] = len(read.transcript.messages)
    for message in read.transcript.messages:
        calls = ", ".join(call.name or "?" for call in message.calls)
        look.add_row(message.role, (message.content or "") + (f" calls {calls}" if calls else ""))
    look.losses += _of_messages(read.losses)


def _look_at_gate(look: FileLook, content: bytes, progress: Progress) -> None:
    document = load_yaml(plain_of(content).decode("utf-8-sig", "replace"))
    for key, value in document.items():
        look.counts[key] = len(value) if isinstance(value, (list, dict)) else 1
    try:
        read_gate(document)
    except InvalidDocument as error:
        look.refuse(0, error)


def _one(what: str) -> str:
    """Return the word for one of what is counted."""
    return _SINGULAR.get(what) or what.removesuffix("s")


def _of_messages(losses: Iterable[Loss]) -> list[LookLoss]:
    return [LookLoss(each.what, f"at {each.where or 'the top'}", each.count, each.first) for each in losses]


def _done(transcript: Transcript) -> str:
    """Return what an agent did in words: its calls, else its answer."""
    called = [call.name or "?" for call in transcript.calls]
    return f"calls {', '.join(called)}" if called else transcript.answer or "calls nothing"


_LOOKS: Final[Mapping[str, Callable[[FileLook, bytes, Progress], None]]] = {
    "tools": _look_at_tools,
    "predictions": _look_at_predictions,
    "rows": _look_at_rows,
    "evaluation": _look_at_evaluation,
    "messages": _look_at_messages,
    "gate": _look_at_gate,
}
