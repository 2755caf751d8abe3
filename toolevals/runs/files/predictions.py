"""Turn lines of predictions into transcripts, and name every fault by line and JSON pointer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Any, TypeAlias

from toolevals.grading.reading.predictions import read_prediction
from toolevals.grading.reading.reading_report import Readings
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument

# The example's place in its dataset version, the trial, the transcript's document (None where no prediction came).
Row: TypeAlias = tuple[int, int, dict[str, Any] | None]

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
        self.errors: list[dict[str, Any]] = []
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

    def _offered(self, row: Any) -> Sequence[ToolSpec] | None:
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
