"""Write the sentence that a run's page opens with. Each clause is earned by a rate and its interval, or left out.

A rate is "good" when it reaches its goal, "weak" when its whole interval lies below it, and "unclear" between:
then the sample can't tell, and the sentence says no more than "usually". What happens to more than half of a
layer's cases happens "mostly", other weakness "often".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from reports.analyses.layers import Layers, VerdictRow
from reports.analyses.modes import ARGUMENTS, SELECTION, FailureMode
from toolevals.grading.metrics.clustered import FEWEST_EXAMPLES

# A second failure is named beside the most frequent one where it is so much of it.
AS_FREQUENT = 0.8
SCHEMA: Final = {"good": "formats well", "unclear": "usually formats well", "weak": "often violates the tools’ schemas"}
SELECTION_WORDS: Final = {"good": "chooses the right tool", "unclear": "usually chooses the right tool"}
ARGUMENT_WORDS: Final = {"good": "fills in the right values", "unclear": "usually fills in the right values"}
# The most frequent failure of a weak layer -> what is said of it.
WEAK_SELECTION: Final = {
    "wrong_tool": "often chooses the wrong tool",
    "hallucinated_tool": "often calls tools that are not offered",
    "missed_call": "often leaves out a call that is expected",
    "refused": "often declines where a call is expected",
    "needless_call": "often calls where no call is expected",
    "extra_call": "often makes excess calls",
    "disallowed_call": "often makes calls that are not allowed",
    "wrong_order": "often calls the right tools in the wrong order",
    "malformed_output": "often writes calls that cannot be read",
}
WEAK_ARGUMENTS: Final = {
    "schema_error": "often violates the schema in its arguments",
    "wrong_shape": "often gives arguments the wrong shape",
    "wrong_value": "often fills in wrong values",
    "missing_argument": "often leaves arguments out",
    "extra_argument": "often adds arguments that are not expected",
}


def sentence(layers: Layers, modes: Sequence[FailureMode]) -> str:
    """Return what the rates say, as one sentence."""
    scored = layers.outcome.rate.total
    if not scored:
        return "Nothing was scored."
    if (examples := layers.outcome.rate.examples) < FEWEST_EXAMPLES:
        few = "1 scored example" if examples == 1 else f"{examples} scored examples"
        return f"{few}: the sample cannot tell, at least {FEWEST_EXAMPLES} are needed."
    schema = next(row for row in layers.depths if row.name == "schema")
    selection, arguments = (step.row for step in layers.funnel)
    clauses = [_sized(SCHEMA.get(grade(schema), ""), schema.failed, schema)]
    clauses.append(SELECTION_WORDS.get(grade(selection), "") or _weak(selection, modes, SELECTION, WEAK_SELECTION))
    clauses.append(ARGUMENT_WORDS.get(grade(arguments), "") or _weak(arguments, modes, ARGUMENTS, WEAK_ARGUMENTS))
    if grade(schema) == "weak" and clauses[-1].endswith(WEAK_ARGUMENTS["schema_error"].removeprefix("often")):
        clauses.pop()  # that is said already
    said = [clause for clause in clauses if clause]
    if not said:
        return "Cases passed or failed as wholes; no layer was scored."
    text = ", ".join(said[:-1]) + (", and " if len(said) > 2 else " and " if len(said) == 2 else "") + said[-1]
    return f"{text[0].upper()}{text[1:]}."


def grade(row: VerdictRow) -> str:
    """Return "good", "unclear" or "weak"; empty where nothing was scored."""
    if row.rate.value is None or row.rate.high is None:
        return ""
    if not row.rate.tells:
        return "unclear"
    if row.rate.value >= row.goal:
        return "good"
    return "weak" if row.rate.high < row.goal else "unclear"


def _weak(row: VerdictRow, modes: Sequence[FailureMode], layer: str, words: dict[str, str]) -> str:
    if grade(row) != "weak":
        return ""
    found = sorted((mode for mode in modes if mode.layer == layer), key=lambda mode: -mode.count)
    if not found:
        return f"loses cases in its {row.name}"
    worst, *others = found
    said = _sized(words.get(worst.mode, ""), worst.count, row)
    if said.startswith("often") and others and others[0].count >= AS_FREQUENT * worst.count and others[0].mode in words:
        return f"{said} or {words[others[0].mode].removeprefix('often ')}"
    return said


def _sized(words: str, count: int, row: VerdictRow) -> str:
    """Return the words with "mostly" for "often" where it is more than half of the scored cases."""
    often = words.startswith("often ") and 2 * count > row.rate.total
    return f"mostly {words.removeprefix('often ')}" if often else words
