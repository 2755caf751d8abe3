"""Read predictions from files of other evaluation tools: join trials to examples by id, or by the user's text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Any

from toolevals.grading.files.evaluation_files.decoding import MAX_DOCUMENT_BYTES
from toolevals.grading.files.evaluation_files.entry import Trial
from toolevals.grading.files.evaluation_files.reading import EvaluationFile, Place, content_key, evaluation_file
from toolevals.grading.reading.parsing import Loss
from toolevals.grading.reading.parsing.text import read_with
from toolevals.grading.reading.predictions import Prediction
from toolevals.grading.values import ToolSpec, Transcript
from toolevals.grading.values.documents import load_json, schema
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.runs.files.predictions import MAX_ERRORS, MAX_LINE_BYTES, PredictionReader, Row

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
        contents: Callable[[], Iterator[tuple[str, Mapping[str, Any]]]],
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
            message = f"neither its id {trial.external_id} nor what the user says is an example's in this version"
            raise InvalidDocument.at(place.pointer, message)
        name = self._by_content[key]
        if name is None:
            message = "several examples of this version have the same text, and its id is none of theirs"
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
