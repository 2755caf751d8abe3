"""Work out where cases are lost and what goes wrong, and the sentence that says it on the run's page.

Each clause of the sentence is earned by a rate and its interval, or left out.

A layer is praised without reserve where its whole interval reaches its goal. Where the interval only touches the goal,
it does "nearly always" well if the interval lies above .9, and "usually" if it lies above one half. It is blamed where
its whole interval lies below the goal: "mostly" for what happens to more than half of its cases, "sometimes" for less
than a tenth, "often" between. Of any other layer, and of one that was scored in too few examples, the sentence says
that it is not known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from reports.rates import GOALS, ExampleSums, Rate, rate
from toolevals.grading.engine.grader_catalog import MODES as MODE_SENTENCES
from toolevals.grading.engine.grader_catalog import TAGS, TagWords
from toolevals.grading.metrics.clustered import FEWEST_EXAMPLES
from toolevals.grading.metrics.label_noise import LabelNoise
from toolevals.grading.metrics.rates import Interval
from toolevals.grading.values.verdict_table import FAILURES, VERDICTS, placed

LAYERS = placed("calls")
# What is asked of a whole transcript, where it has something to ask about.
BESIDE = placed("beside")
# These read prose by rules, which are sometimes wrong: beside the outcome they warn, and do not decide it.
WARNING = tuple(row.name for row in VERDICTS if row.warns)
DEPTHS = placed("depth")
# Column of CaseGrade -> value -> count.
VerdictCounts = Mapping[str, Mapping[str, int]]
# Column of CaseGrade -> sums over examples; empty where each example has one trial.
VerdictSums = Mapping[str, ExampleSums]
NO_SUMS: VerdictSums = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """One layer or depth. Unscored and errored are counted next to the rate, never in it."""

    name: str
    rate: Rate
    failed: int
    unscored: int
    errored: int
    goal: float

    @property
    def has_answers(self) -> bool:
        """Return whether any case had something to ask about."""
        return bool(self.rate.total or self.errored)


@dataclass(frozen=True, slots=True)
class FunnelStep:
    """A layer, and how many of the cases that were scored for the first one are still right after it."""

    row: VerdictRow
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Layers:
    """`outcome` over whole cases, the funnel of the layers of calls, what is asked of whole transcripts, the depths.

    `cases` counts every case, scored or not.
    """

    cases: int
    outcome: VerdictRow
    funnel: tuple[FunnelStep, ...]
    beside: tuple[VerdictRow, ...]
    depths: tuple[VerdictRow, ...]

    @property
    def has_beside(self) -> bool:
        """Return whether anything is known beyond the calls."""
        return any(row.has_answers for row in self.beside)

    @property
    def rows(self) -> tuple[VerdictRow, ...]:
        """Outcome, layers and depths."""
        return (self.outcome, *(step.row for step in self.funnel), *self.beside, *self.depths)


def layers_of(counts: VerdictCounts, sums: VerdictSums = NO_SUMS) -> Layers:
    """Return the layers and depths of a grading from its counted verdicts, with the sums over its examples."""
    outcome = _row("outcome", counts, sums)
    # What decides may be another thing than the calls.
    left, funnel = _row(LAYERS[0], counts, sums).rate.total, []
    for name in LAYERS:
        row = _row(name, counts, sums)
        funnel.append(FunnelStep(row, before=left, after=left - row.failed))
        left -= row.failed
    cases = sum(counts.get("outcome", {}).values())
    beside, depths = (tuple(_row(name, counts, sums) for name in names) for names in (BESIDE, DEPTHS))
    return Layers(cases, outcome, tuple(funnel), beside, depths)


@dataclass(frozen=True, slots=True)
class NoisyRow:
    """A row, and of the outcome where wrong gold could put its rate."""

    row: VerdictRow
    noise: Interval | None


def noisy_rows(layers: Layers, noise: LabelNoise) -> list[NoisyRow]:
    """Return the rows of a run, which CSV and API list."""
    bounds = noise.bounds(layers.outcome.rate.value)
    return [NoisyRow(row, bounds if row is layers.outcome else None) for row in layers.rows]


def _row(name: str, counts: VerdictCounts, sums: VerdictSums) -> VerdictRow:
    column = counts.get(name, {})
    passed, failed = column.get("passed", 0), column.get("failed", 0)
    return VerdictRow(
        name=name,
        rate=rate(passed, passed + failed, sums.get(name, sums.get("outcome"))),
        failed=failed,
        unscored=column.get("unscored", 0),
        errored=column.get("errored", 0),
        goal=GOALS[name],
    )


SELECTION, ARGUMENTS = "selection", "arguments"
OUTCOME = "outcome"
# Mode -> the layer that loses the case.
MODES: Final[dict[str, str]] = {
    "wrong_tool": SELECTION,
    "hallucinated_tool": SELECTION,
    "missed_call": SELECTION,
    "refused": SELECTION,
    "needless_call": SELECTION,
    "extra_call": SELECTION,
    "disallowed_call": SELECTION,
    "wrong_order": SELECTION,
    "malformed_output": SELECTION,
    "schema_error": ARGUMENTS,
    "wrong_shape": ARGUMENTS,
    "wrong_value": ARGUMENTS,
    "missing_argument": ARGUMENTS,
    "extra_argument": ARGUMENTS,
    **{failure.mode: verdict for verdict, failure in FAILURES.items()},
    "cut_off": OUTCOME,
}
# Errors are not failures: nothing was learnt about the agent.
ERROR_MODES: Final = ("adapter_error", "harness_error")


@dataclass(frozen=True, slots=True)
class FailureMode:
    """The number of cases that failed in one way, and in which layer."""

    mode: str
    layer: str
    count: int

    @property
    def meaning(self) -> str:
        """Say what it means; what the agent's own graders call so says it by its name."""
        return MODE_SENTENCES.get(self.mode, words(self.mode))


def failure_modes(counts: Mapping[str, int]) -> tuple[FailureMode, ...]:
    """Return the modes that occur, by layer and then by count, from counts by mode."""
    held = {mode: count for mode, count in counts.items() if count and mode and mode not in ERROR_MODES}
    modes = [FailureMode(mode, MODES.get(mode, ""), count) for mode, count in held.items()]
    layers = {SELECTION: 0, ARGUMENTS: 1}
    return tuple(sorted(modes, key=lambda each: (layers.get(each.layer, 2), -each.count, each.mode)))


@dataclass(frozen=True, slots=True)
class TagCount:
    """The number of cases with a failure tag, its meaning, and what to do."""

    tag: str
    count: int
    words: TagWords


def tag_counts(counts: Mapping[str, int]) -> tuple[TagCount, ...]:
    """Return every failure tag, those that nothing has included, from counts by tag."""
    return tuple(TagCount(str(tag), counts.get(tag, 0), says) for tag, says in TAGS.items())


def words(mode: str) -> str:
    """Return the mode as it is read: "wrong tool"."""
    return mode.replace("_", " ")


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
    "missed_call": "often misses an expected call",
    "refused": "often refuses when a call is expected",
    "needless_call": "often calls a tool when none is needed",
    "extra_call": "often makes excess calls",
    "disallowed_call": "often makes calls that are not allowed",
    "wrong_order": "often calls the right tools in the wrong order",
    "malformed_output": "often writes malformed calls",
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
        return "No scored cases."
    if (examples := layers.outcome.rate.examples) < FEWEST_EXAMPLES:
        few = "1 scored example" if examples == 1 else f"{examples} scored examples"
        return f"{few}: too few for a conclusion, at least {FEWEST_EXAMPLES} are needed."
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
        return f"fails cases at {row.name}"
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
