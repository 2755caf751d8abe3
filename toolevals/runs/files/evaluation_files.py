"""Read predictions from files of other evaluation tools: join trials to examples by id, or by the user's text.

Lines of predictions become transcripts; every fault is named by line and JSON pointer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Any, TypeAlias

from toolevals.grading.files.evaluation_files.decoding import MAX_DOCUMENT_BYTES
from toolevals.grading.files.evaluation_files.entry import Trial
from toolevals.grading.files.evaluation_files.reading import EvaluationFile, Place, content_key, evaluation_file
from toolevals.grading.reading.parsing import Loss
from toolevals.grading.reading.parsing.text import read_with
from toolevals.grading.reading.predictions import Prediction, read_prediction
from toolevals.grading.reading.reading_report import Readings
from toolevals.grading.values import ToolSpec, Transcript
from toolevals.grading.values.documents import load_json, schema
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping, JsonObject

# The example's place in its dataset version, the trial, the transcript's document (None where no prediction came).
Row: TypeAlias = tuple[int, int, JsonObject | None]

MAX_LINE_BYTES = 4_000_000
MAX_DEPTH = 60
# After so many wrong lines the rest is not read.
MAX_ERRORS = 100


class PredictionReader:
    """Reads one file of JSON Lines. `places` gives each external id's place; trials count from 0.

    `tools` returns those that the agent was offered in the example at a place: calls in text are read with them.
    `errors` holds `{"line", "pointer", "message"}` of every wrong line so far; `count` the predictions read;
    `readings` what they were read from and what was left out.
    """

    def __init__(self, places: Mapping[str, int], trials: int, tools: Callable[[int], Sequence[ToolSpec]]) -> None:
        self._places = places
        self._tools = tools
        self._trials = trials
        # The line (from 1) that filled each (place, trial); 0 where none has.
        self._lines = [0] * (len(places) * trials)
        self.errors: list[JsonObject] = []
        self.readings = Readings()
        self.count = 0
        self.gave_up = False
        # Which format was found and why; empty for our own.
        self.read_as = ""

    def rows(self, file: IO[bytes]) -> Iterator[Row]:
        """Yield the good lines as rows. Wrong ones are only noted: look at `errors` before using any row."""
        for number, line in enumerate(_lines(file), 1):
            if not line.strip():
                continue
            try:
                yield self._row(number, line)
            except InvalidDocument as error:
                self._note(number, error)
                if len(self.errors) >= MAX_ERRORS:
                    self.gave_up = True
                    return

    def missing(self) -> Iterator[Row]:
        """Yield a row without document for every (place, trial) that no line has filled."""
        for index, line in enumerate(self._lines):
            if not line:
                yield *divmod(index, self._trials), None

    def _row(self, number: int, line: bytes) -> Row:
        if len(line) > MAX_LINE_BYTES:
            raise InvalidDocument.at("", f"the line is longer than {MAX_LINE_BYTES:,} bytes")
        row = load_json(line, max_bytes=MAX_LINE_BYTES, max_depth=MAX_DEPTH)
        prediction = read_prediction(row, is_json=True, tools=self._offered(row))
        place = self._places.get(prediction.external_id)
        if place is None:
            raise InvalidDocument.at("/id", "is not the id of an example in this dataset version")
        if not 0 <= prediction.trial < self._trials:
            raise InvalidDocument.at("/trial", f"the run's trials are 0 to {self._trials - 1}")
        index = place * self._trials + prediction.trial
        if before := self._lines[index]:
            raise InvalidDocument.at("/id", f"line {before} has this id and trial already")
        self._lines[index] = number
        self.count += 1
        self.readings.add(prediction)
        return place, prediction.trial, prediction.transcript.to_document()

    def _offered(self, row: object) -> Sequence[ToolSpec] | None:
        """Return the tools of a row that may hold calls in text; None where it holds none, or names no example."""
        if not isinstance(row, dict) or not (row.get("text") or row.get("messages")):
            return None
        name = row.get("id")
        place = self._places.get(name) if isinstance(name, str) else None
        return None if place is None else self._tools(place)

    def _note(self, number: int, error: InvalidDocument) -> None:
        problem = error.problems[0]
        self.errors.append({"line": number, "pointer": problem.pointer, "message": problem.message})


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines; of one that is too long only the beginning, so that memory stays bounded."""
    first = True
    while line := file.readline(MAX_LINE_BYTES + 2):
        rest = line
        while rest and not rest.endswith(b"\n"):
            rest = file.readline(MAX_LINE_BYTES)
        yield line.removeprefix(b"\xef\xbb\xbf") if first else line
        first = False


# Keys of our own rows. A row with others is one of ours that is wrong, where no other tool's format has it.
_OWN = frozenset(schema("prediction")["properties"])


class EvaluationFileReader(PredictionReader):
    """Reads an evaluation file with the trials of `agent`.

    `contents` yields the id and the input of every example; it is asked where a trial names no example by id.
    """

    def __init__(
        self,
        places: Mapping[str, int],
        trials: int,
        tools: Callable[[int], Sequence[ToolSpec]],
        *,
        found: EvaluationFile,
        agent: str,
        contents: Callable[[], Iterator[tuple[str, JsonMapping]]],
    ) -> None:
        super().__init__(places, trials, tools)
        self._found = found
        self._agent = agent
        self._contents = contents
        self._by_content: dict[str, str | None] | None = None
        self._counts: dict[str, int] = {}
        self.read_as = found.detected.sentence

    def rows(self, file: IO[bytes]) -> Iterator[Row]:
        """Yield the good trials as rows. Wrong ones are only noted: look at `errors` before using any row."""
        for place, trial, losses in self._found.trials(self._agent):
            try:
                if isinstance(trial, InvalidDocument):
                    raise trial
                yield self._trial_row(place, trial)
                self._warn(place, trial, losses)
            except InvalidDocument as error:
                self._note(place.number, error)
                if len(self.errors) >= MAX_ERRORS:
                    self.gave_up = True
                    return
        if not self.count and not self.errors:
            message = f"holds no predictions, as {self._found.detected.format.title}"
            self._note(1, InvalidDocument.at("", message))

    def _trial_row(self, place: Place, trial: Trial) -> Row:
        name = self._name(place, trial)
        number = trial.number
        if number is None or name != trial.external_id:
            # Several entries may say the same and be one example: they are its trials, in their order.
            number = self._counts.get(name, 0)
            self._counts[name] = number + 1
        return self._placed(place, name, number, trial.transcript)

    def _placed(self, place: Place, name: str, number: int, transcript: Transcript) -> Row:
        if not 0 <= number < self._trials:
            message = f"is trial {number} of the example {name}; the run's trials are 0 to {self._trials - 1}"
            raise InvalidDocument.at(place.pointer, message)
        at = self._places[name]
        index = at * self._trials + number
        if self._lines[index]:
            raise InvalidDocument.at(place.pointer, f"the example {name} has a trial {number} already")
        self._lines[index] = place.number
        self.count += 1
        return at, number, read_with(transcript, self._tools(at)).to_document()

    def _name(self, place: Place, trial: Trial) -> str:
        if trial.external_id in self._places:
            return trial.external_id
        if self._by_content is None:
            self._by_content = self._keys()
        key = content_key(trial.content)
        if key not in self._by_content:
            message = f"no example in this version has the id {trial.external_id} or the same user text"
            raise InvalidDocument.at(place.pointer, message)
        name = self._by_content[key]
        if name is None:
            message = "several examples of this version have the same text, and its id is not one of theirs"
            raise InvalidDocument.at(place.pointer, message)
        return name

    def _keys(self) -> dict[str, str | None]:
        keys: dict[str, str | None] = {}
        for name, content in self._contents():
            key = content_key(content)
            keys[key] = None if key in keys else name
        return keys

    def _warn(self, place: Place, trial: Trial, losses: tuple[Problem, ...]) -> None:
        detected = self._found.detected
        left = tuple(Loss(loss.message, "").below(loss.pointer) for loss in losses)
        read = Prediction(
            trial.external_id, trial.number or 0, trial.transcript, detected.format.title, detected.evidence, left
        )
        self.readings.add(read)
        for loss in losses:
            self.readings.warn(place.number, loss.pointer, loss.message)


def found_file(file: IO[bytes]) -> EvaluationFile | None:
    """Return an evaluation file; None for one in our own form, which may be empty.

    Raises InvalidDocument for one of no known format.
    """
    file.seek(0)
    if not file.read(1):
        return None
    head = _first_line(file)
    if isinstance(head, dict) and head.keys() <= _OWN:
        return None
    file.seek(0)
    try:
        evaluation = evaluation_file(file.read(MAX_DOCUMENT_BYTES + 1))
    except InvalidDocument:
        if (isinstance(head, dict) and _OWN & head.keys()) or (head is None and _begins_as_object(file)):
            # Each wrong line has its own message there.
            return None
        raise
    return evaluation if "predictions" in evaluation.detected.format.gives else _without_predictions(evaluation)


def _without_predictions(found: EvaluationFile) -> EvaluationFile:
    raise InvalidDocument.at("", f"{found.detected.sentence} It holds no predictions: import it into a dataset")


def _first_line(file: IO[bytes]) -> Any:
    file.seek(0)
    line = b"\n"
    while line and not line.strip():
        line = file.readline(MAX_LINE_BYTES + 1).removeprefix(b"\xef\xbb\xbf")
    try:
        return load_json(line, max_bytes=MAX_LINE_BYTES)
    except InvalidDocument:
        return None


def _begins_as_object(file: IO[bytes]) -> bool:
    """Tell whether a file has lines that begin as objects do."""
    file.seek(0)
    first = file.readline(MAX_LINE_BYTES + 1).lstrip()
    return first[:1] == b"{" and first.strip() != b"{"
