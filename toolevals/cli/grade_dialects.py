"""Gives other tools' verdicts on a file: the leaderboard's on rows of its own, the others' on ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from toolevals.cli.grade_cases import RATES, counted, rates
from toolevals.cli.grade_rows import Grading, NativeRow, json_line, native_row
from toolevals.cli.output import CommandError, Exit, stacked, table
from toolevals.grading.dialects import bfcl
from toolevals.grading.dialects.catalog import DIALECTS, DialectScores, Metrics, WrongOptionError, no_scores, score
from toolevals.grading.dialects.leaderboard_turns import NOT_BY_STATE, category_of
from toolevals.grading.dialects.rows import NoFormError, comparison
from toolevals.json_types import JsonObject, JsonValue
from toolevals.presentation.csv import Cell

if TYPE_CHECKING:
    from toolevals.agents.code.leaderboard_simulators import LeaderboardSimulators

_BY_STATE = ("multi_turn", *NOT_BY_STATE)
_DOWNLOAD = "Run `toolevals download bfcl DIR` and give --option simulators=DIR."


def dialect_grading(name: str, options: Sequence[str]) -> Grading:
    """Return how a dialect grades, with options as `key=value`. Raises CommandError."""
    dialect = DIALECTS[name]
    pairs = [option.partition("=") for option in options]
    if wrong := next((key for key, sign, _ in pairs if not sign), None):
        raise CommandError(Exit.CONFIGURATION, f"--option {wrong}: write it as key=value")
    try:
        chosen = dialect.chosen((key, value) for key, _, value in pairs)
    except WrongOptionError as error:
        raise CommandError(Exit.CONFIGURATION, f"--option: {error}") from None
    return _Leaderboard(chosen["simulators"]) if dialect.metrics is None else _Scored(dialect.metrics(chosen))


class _Leaderboard:
    """Rows of the leaderboard's checkers; those of several turns need its simulators, from the folder that has them."""

    columns: tuple[str, ...] = ("id", "valid", "error_type", "reason", "unscored")

    def __init__(self, folder: str | None) -> None:
        """Make what runs the simulators of a folder. Raises CommandError where it has none."""
        self._simulators: LeaderboardSimulators | None = None
        if folder is not None:
            # Only where they are asked for: most files are of single turns.
            from toolevals.agents.code.leaderboard_simulators import leaderboard_simulators

            try:
                self._simulators = leaderboard_simulators(Path(folder).resolve())
            except OSError as error:
                words = f"--option simulators={folder}: it holds none ({error.strerror}: {error.filename}). {_DOWNLOAD}"
                raise CommandError(Exit.CONFIGURATION, words) from error

    def read(self, row: JsonValue) -> bfcl.DialectVerdict:
        if not (category := category_of(row)).startswith(_BY_STATE):
            return bfcl.check_row(row)
        if category.startswith(NOT_BY_STATE):
            why = f"{category} is not graded here: its simulators need models, search indices or the network"
        elif self._simulators is not None:
            return self._simulators.verdict(row)
        else:
            why = f"the benchmark's own simulators grade it. {_DOWNLOAD}"
        return bfcl.DialectVerdict(str(row.get("id")), None, None, unscored=why)

    def remark(self, graded: bfcl.DialectVerdict) -> str | None:
        return graded.unscored

    def document(self, graded: bfcl.DialectVerdict) -> JsonObject:
        shown = {"id": graded.id, "valid": graded.valid, "error_type": graded.error_type}
        more = {"reason": graded.reason, "unscored": graded.unscored}
        return shown | {name: words for name, words in more.items() if words is not None}

    def line(self, graded: bfcl.DialectVerdict) -> bytes:
        return json_line(self.document(graded))

    def cells(self, graded: bfcl.DialectVerdict) -> list[Cell]:
        return [graded.id, graded.valid, graded.error_type, graded.reason, graded.unscored]

    def brief(self, graded: bfcl.DialectVerdict) -> str:
        return "unscored" if graded.unscored else graded.error_type or ""

    def summary(self, briefs: Iterable[str]) -> str:
        errors = Counter(briefs)
        counts = Counter(passed=errors.pop("", 0), unscored=errors.pop("unscored", 0), failed=errors.total())
        rate = [rates("valid", counts)] if counts.total() else []
        return stacked((table(RATES, rate), counted(("error type", "rows"), errors)))


@dataclass(frozen=True, slots=True)
class _Case:
    """One row's scores."""

    id: str
    trial: int
    scores: DialectScores


class _Scored:
    """Our rows, scored by another tool's metrics."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self.columns = ("id", "trial", *metrics, "error", "unscored")

    def read(self, row: object) -> _Case:
        read = native_row(row)
        return _Case(read.id, read.trial, self._scores(read))

    def _scores(self, row: NativeRow) -> DialectScores:
        talk = bool(row.prediction.get("messages") or row.prediction.get("steps"))
        text = None if talk or row.prediction.get("tool_calls") else row.prediction.get("text")
        tools = row.tools if isinstance(row.tools, list) else None
        try:
            compared = comparison(row.expectation, row.transcript, whole_talk=talk, text=text, tools=tools)
        except NoFormError as error:
            return no_scores(self._metrics, str(error))
        return score(self._metrics, compared)

    def remark(self, graded: _Case) -> str | None:
        return graded.scores.unscored

    def document(self, graded: _Case) -> JsonObject:
        scores = graded.scores
        shown = {"id": graded.id, "trial": graded.trial, "metrics": scores.metrics, "error": scores.error}
        return shown if scores.unscored is None else {**shown, "unscored": scores.unscored}

    def line(self, graded: _Case) -> bytes:
        return json_line(self.document(graded))

    def cells(self, graded: _Case) -> list[Cell]:
        scores = graded.scores
        return [graded.id, graded.trial, *scores.metrics.values(), scores.error, scores.unscored]

    def brief(self, graded: _Case) -> _Case:
        return graded

    def summary(self, briefs: Iterable[_Case]) -> str:
        scores: dict[str, list[float]] = {name: [] for name in self._metrics}
        errors: Counter[str] = Counter()
        total = 0
        for case in briefs:
            total += 1
            for name, value in case.scores.metrics.items():
                if value is not None:
                    scores[name].append(float(value))
            if case.scores.error is not None:
                errors[case.scores.error] += 1
        lines = [_mean(name, values, total) for name, values in scores.items()] if total else []
        return stacked(
            (
                table(("", "rows", "scored", "full", "mean"), lines),
                counted(("what the original raises", "rows"), errors),
            )
        )


def _mean(name: str, values: list[float], total: int) -> tuple[str, ...]:
    mean = f"{sum(values) / len(values):.3f}" if values else ""
    return name, str(total), str(len(values)), str(sum(value >= 1 for value in values)), mean
