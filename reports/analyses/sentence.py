"""Write the sentence that a run's page opens with. Each clause is earned by a rate and its interval, or left out.

A layer is praised without reserve where its whole interval reaches its goal. Where the interval only touches the goal,
it does "nearly always" well if the interval lies above .9, and "usually" if it lies above one half. It is blamed where
its whole interval lies below the goal: "mostly" for what happens to more than half of its cases, "sometimes" for less
than a tenth, "often" between. Of any other layer, and of one that was scored in too few examples, the sentence says
that it is not known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from reports.analyses.layers import Layers, VerdictRow
from reports.analyses.modes import ARGUMENTS, SELECTION, FailureMode
from toolevals.grading.metrics.clustered import FEWEST_EXAMPLES

# A second failure is named beside the most frequent one where it is so much of it.
AS_FREQUENT = 0.8
# What happens to a smaller share of a layer's cases happens "sometimes".
SELDOM = 0.1
# A layer that may reach its goal does well in at least so much of its cases -> how often that is.
HOW_OFTEN: Final = {0.9: "nearly always", 0.5: "usually"}
WELL: Final = {
    "schema": "formats well",
    "selection": "chooses the right tool",
    "arguments": "fills in the right values",
}
WEAK_SCHEMA: Final = "often violates the tools’ schemas"
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
    clauses = [
        _well(schema) or (_sized(WEAK_SCHEMA, schema.failed, schema) if grade(schema) == "weak" else ""),
        _well(selection) or _weak(selection, modes, SELECTION, WEAK_SELECTION),
        _well(arguments) or _weak(arguments, modes, ARGUMENTS, WEAK_ARGUMENTS),
    ]
    if grade(schema) == "weak" and clauses[-1].endswith(WEAK_ARGUMENTS["schema_error"].removeprefix("often")):
        clauses.pop()  # that is said already
    said = [clause for clause in clauses if clause]
    unknown = [row.name for row in (schema, selection, arguments) if grade(row) == "unknown"]
    told = f"{_series(said)}." if said else "" if unknown else "cases passed or failed as wholes; no layer was scored."
    rest = f"not known from so few examples: its {_series(unknown)}." if unknown else ""
    return " ".join(f"{text[0].upper()}{text[1:]}" for text in (told, rest) if text)


def grade(row: VerdictRow) -> str:
    """Return "good", "usual", "weak" or "unknown"; empty where nothing was scored."""
    if row.rate.low is None or row.rate.high is None:
        return ""
    if not row.rate.tells:
        return "unknown"
    if row.rate.low >= row.goal:
        return "good"
    if row.rate.high < row.goal:
        return "weak"
    return "usual" if row.rate.low > min(HOW_OFTEN) else "unknown"


def _well(row: VerdictRow) -> str:
    """Return the praise that the interval supports."""
    words = {"good": WELL[row.name], "usual": f"{_how_often(row)} {WELL[row.name]}"}
    return words.get(grade(row), "")


def _how_often(row: VerdictRow) -> str:
    return next((words for share, words in HOW_OFTEN.items() if (row.rate.low or 0) > share), "")


def _weak(row: VerdictRow, modes: Sequence[FailureMode], layer: str, words: dict[str, str]) -> str:
    if grade(row) != "weak":
        return ""
    found = sorted((mode for mode in modes if mode.layer == layer), key=lambda mode: -mode.count)
    if not found:
        return f"loses cases in its {row.name}"
    worst, *others = found
    said = _sized(words.get(worst.mode, ""), worst.count, row)
    if said.startswith("mostly") or not others or others[0].count < AS_FREQUENT * worst.count:
        return said
    return f"{said} or {words[others[0].mode].removeprefix('often ')}" if others[0].mode in words else said


def _sized(words: str, count: int, row: VerdictRow) -> str:
    """Return the words with "mostly" or "sometimes" for "often", by the share of the scored cases."""
    if not words.startswith("often "):
        return words
    share = count / row.rate.total
    how = "mostly" if share > 0.5 else "sometimes" if share < SELDOM else "often"
    return f"{how} {words.removeprefix('often ')}"


def _series(words: Sequence[str]) -> str:
    """Return words as one reads them: one, two, and three."""
    if len(words) < 3:
        return " and ".join(words)
    return f"{', '.join(words[:-1])}, and {words[-1]}"
