"""Compare two runs on the same examples: what changed in layers, tools and the matrix.

An example counts once, with all its trials, which are alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from reports.compare.layers import ALPHA, LayerDelta, layer_deltas
from reports.compare.matrix import MatrixDelta, ToolDelta, matrix_delta, tool_deltas
from reports.compare.pairing import Paired, tallied
from toolevals.grading.metrics.clustered import FEWEST_EXAMPLES
from toolevals.grading.metrics.comparison import fewest_changed
from toolevals.grading.values.verdict_table import VERDICTS
from toolevals.presentation.numbers import count, p_value, percent, points, signed_span


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Everything that is told of two runs on the `examples` that both hold."""

    examples: int
    layers: tuple[LayerDelta, ...]
    tools: tuple[ToolDelta, ...]
    matrix: MatrixDelta

    def layer(self, name: str) -> LayerDelta | None:
        """Return the row of a verdict, by default that of the outcome or else the first; None without any."""
        by_name = {row.name: row for row in self.layers}
        return by_name.get(name) or next(iter(self.layers), None)


def compared(paired: Paired) -> RunComparison:
    """Return the comparison of two runs."""
    tally = tallied(paired)
    layers = layer_deltas(paired.verdicts.read())
    return RunComparison(paired.examples, layers, tool_deltas(tally), matrix_delta(tally))


# What a rate says of an example -> in words, after "of examples are".
WORDS: Final = {row.name: row.compared for row in VERDICTS}
TESTS: Final = {"mcnemar": "exact McNemar", "sign_flip": "sign-flip test"}


def change_sentence(row: LayerDelta | None) -> str:
    """Return whether a rate has changed, as one sentence; by Holm's p-value, unless it is what decides."""
    if row is None:
        return "Nothing was scored in both runs."
    found, words = row.compared, WORDS[row.name]
    now = f"{percent(found.after)} % of examples are {words}"
    if not row.tells:
        few = f"{_examples(found.examples)} are too few to compare: at least {FEWEST_EXAMPLES} are needed"
        return f"{now}, was {percent(found.before)} %. {few}."
    if row.change == "same":
        return f"No change: {now}, and every example has the same result as before."
    if row.change == "unclear":
        return f"No significant change: {now}, was {percent(found.before)} %."
    way = "up" if row.change == "better" else "down"
    return f"Significantly {row.change}: {now}, {way} from {percent(found.before)}."


def change_details(row: LayerDelta | None) -> str:
    """Return the numbers behind the sentence: the difference, its interval, the test, what could have been shown."""
    if row is None:
        return ""
    found = row.compared
    said = f"Difference {points(found.difference)} points"
    if found.interval is not None:
        said += f" ({signed_span(found.interval.low, found.interval.high)})"
    if found.test is not None:
        said += f", {TESTS[found.test]} p = {p_value(found.p_value)}"
        said += "" if row.decides else f" (after Holm’s correction over the layers {p_value(row.p_holm)})"
    agrees = "agrees" if row.interval_agrees else "does not confirm it: a borderline case"
    return f"{said}, the interval {agrees}.{_power(row)}"


def _power(row: LayerDelta) -> str:
    number = _examples(row.compared.examples)
    if row.detectable is not None:
        changed = "this many changed examples" if row.compared.test == "mcnemar" else "changes of this spread"
        return f" With {changed}, {number} can detect a difference of {percent(row.detectable)} points (80 % power)."
    if row.change == "same" or not row.can_be_found:
        return ""
    if row.significant is not None:
        return f" {number.capitalize()} are too few to show a difference below {percent(row.significant)} points."
    return f" With {number}, fewer than {fewest_changed(ALPHA)} changed examples can never be significant."


def tools_sentence(tools: Sequence[ToolDelta]) -> str:
    """Return which tools' changes stand on their own, as one sentence; empty without tools."""
    if not tools:
        return ""
    stand = [row.name for row in tools if row.stands]
    tests = f"Holm’s correction over {count(2 * len(tools))} tests"
    if not stand:
        return f"No single tool’s change is significant after {tests}."
    named = ", ".join(stand[:3]) + (f" and {len(stand) - 3} more" if len(stand) > 3 else "")
    return f"Significant after {tests}: {named}."


def _examples(number: int) -> str:
    return f"{count(number)} example{'' if number == 1 else 's'}"
