"""Draw the margins of a matrix: recall of each row and precision of each column, with their counts."""

from __future__ import annotations

from reports.analyses.matrix import Matrix
from reports.analyses.rates import FEW_WORDS, Rate, few_of
from toolevals.presentation.figures import MarginRate
from toolevals.presentation.numbers import count, percent, span, whole_percent

Margins = tuple[list[MarginRate], list[MarginRate]]


def matrix_margins(matrix: Matrix) -> Margins:
    """Return the rates of the rows and of the columns; they are of the whole matrix, whatever of it is drawn."""
    rows = [_rate(name, "recall", matrix.recall(name), "expected") for name in matrix.rows]
    columns = [_rate(name, "precision", matrix.precision(name), "called") for name in matrix.columns]
    return rows, columns


def margin_documents(matrix: Matrix) -> dict[str, list[tuple[str, str, str]]]:
    """Return the margins for the page's script: of each class n, the rate and its interval, in whole percent.

    A rate of too few examples is marked.
    """
    return {
        "rows": [_document(matrix.recall(name)) for name in matrix.rows],
        "columns": [_document(matrix.precision(name)) for name in matrix.columns],
    }


def margin_words(kind: str, rate: Rate) -> str:
    """Return a rate in words: "recall 94.1 % (73.0 to 99.0), 16 of 17"."""
    counted = f"{count(rate.passed)} of {count(rate.total)}"
    if rate.value is None:
        return f"{kind} –, {counted}"
    few = f"; {FEW_WORDS[0].lower()}{FEW_WORDS[1:]}" if few_of(rate) else ""
    return f"{kind} {percent(rate.value)} % ({span(rate.low, rate.high)}), {counted}{few}"


def _rate(name: str, kind: str, rate: Rate, verb: str) -> MarginRate:
    hover = (name, f"{verb} {count(rate.total)} times", margin_words(kind, rate))
    return MarginRate(rate.value, rate.low, rate.high, hover)


def _document(rate: Rate) -> tuple[str, str, str]:
    interval = f"{whole_percent(rate.low)}–{whole_percent(rate.high)}" if rate.total else ""
    return count(rate.total), f"{whole_percent(rate.value)}{few_of(rate)}", interval
