"""Work out what agents did when tools failed: by tool and class of error, and by what followed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final

from reports.rates import ExampleSums, Rate, rate
from toolevals.grading.layers.recovery import ERROR_CLASSES, REACTIONS
from toolevals.presentation.palettes import ALL_RIGHT, heat_step

# Of (tool, class, reaction, score): episodes, recoveries, bad answers, errors, identical retries after errors.
Kind = tuple[Any, ...]
RIGHT: Final = 1.0
# Sums over the examples under ("right" or "recovered", then which failures): see `aggregates.sums.kept_sums`.
FailureSums = Mapping[tuple[str, ...], ExampleSums]


@dataclass(frozen=True, slots=True)
class Tally:
    """Episodes of some kind. `right` was reacted to rightly, `recovered` ended with a good answer of the tool.

    Of those `unscored` no rule can tell whether it was right; they are outside the rate. `sums` are those over the
    examples, under "right" and "recovered".
    """

    episodes: int = 0
    unscored: int = 0
    right: int = 0
    recovered: int = 0
    bad_answers: int = 0
    errors: int = 0
    identical_retries: int = 0
    sums: Mapping[str, ExampleSums] = field(default_factory=dict)

    @property
    def scored(self) -> int:
        """Return how many a rule could score."""
        return self.episodes - self.unscored

    @property
    def rate(self) -> Rate:
        """The share of the scored ones that was reacted to rightly."""
        return rate(self.right, self.scored, self.sums.get("right"))

    @property
    def recovery(self) -> Rate:
        """The share after which the tool answered well."""
        return rate(self.recovered, self.episodes, self.sums.get("recovered"))

    @property
    def step(self) -> str:
        """The step of the heat: right where all was, else by the share that was not."""
        if not self.scored:
            return ""
        wrong = self.scored - self.right
        return heat_step(wrong, self.scored, right=False) if wrong else ALL_RIGHT

    def and_one(self, score: float | None, counts: Iterable[int]) -> Tally:
        """Return the tally with the episodes of one kind and score."""
        episodes, recovered, bad, errors, again = counts
        return Tally(
            self.episodes + episodes,
            self.unscored + (episodes if score is None else 0),
            self.right + (episodes if score == RIGHT else 0),
            self.recovered + recovered,
            self.bad_answers + bad,
            self.errors + errors,
            self.identical_retries + again,
        )

    def summed(self, sums: FailureSums, *key: str) -> Tally:
        """Return the tally with its sums over the examples."""
        return replace(self, sums={of: sums[of, *key] for of in ("right", "recovered") if (of, *key) in sums})


@dataclass(frozen=True, slots=True)
class FailureRow:
    """The failures of one tool with errors of one class; `answers` as in the tool's row."""

    tool: str
    error_class: str
    tally: Tally
    answers: int | None


@dataclass(frozen=True, slots=True)
class ToolRow:
    """One tool: how often it answered (None where no one counted), its errors, and its cells in the classes' order."""

    tool: str
    answers: int | None
    whole: Tally
    cells: tuple[tuple[str, Tally | None], ...]
    answer_sums: ExampleSums | None = None

    @property
    def failures(self) -> tuple[FailureRow, ...]:
        """Its failures by the classes that occurred."""
        return tuple(FailureRow(self.tool, each, tally, self.answers) for each, tally in self.cells if tally)

    @property
    def error_rate(self) -> Rate:
        """The share of its answers that were errors."""
        return _error_rate(self.whole.errors, self.answers or 0, self.answer_sums)


@dataclass(frozen=True, slots=True)
class ReactionRow:
    """The reaction to an episode."""

    reaction: str
    sentence: str
    tally: Tally


@dataclass(frozen=True, slots=True)
class Recovery:
    """All episodes, and how often tools answered at all; tools with the most episodes first."""

    answers: int
    cases_with_errors: int
    whole: Tally
    classes: tuple[str, ...]
    tools: tuple[ToolRow, ...]
    reactions: tuple[ReactionRow, ...]
    answer_sums: ExampleSums | None = None

    @property
    def failures(self) -> Iterator[FailureRow]:
        """The failures by tool and class of error."""
        return (row for tool in self.tools for row in tool.failures)

    @property
    def error_rate(self) -> Rate:
        """The share of all answers that were errors."""
        return _error_rate(self.whole.errors, self.answers, self.answer_sums)


def recovery_of(
    kinds: Iterable[Kind],
    answers: Mapping[str, int],
    cases_with_errors: int,
    sums: FailureSums = MappingProxyType({}),
    answer_sums: Mapping[str, ExampleSums] = MappingProxyType({}),
) -> Recovery:
    """Return what happened after errors; `answers` counts the answers of each tool, failed or not.

    `sums` are those of failures over the examples, `answer_sums` those of answers by tool, of all tools under "".
    """
    whole = Tally()
    cells: dict[tuple[str, str], Tally] = {}
    tools: dict[str, Tally] = {}
    reactions: dict[str, Tally] = {}
    for tool, error_class, reaction, score, *counts in kinds:
        whole = whole.and_one(score, counts)
        tools[tool] = tools.get(tool, Tally()).and_one(score, counts)
        reactions[reaction] = reactions.get(reaction, Tally()).and_one(score, counts)
        cells[tool, error_class] = cells.get((tool, error_class), Tally()).and_one(score, counts)
    seen = {error_class for _, error_class in cells}
    classes = tuple(each for each in ERROR_CLASSES if each in seen)
    tools = {tool: tally.summed(sums, "tool", tool) for tool, tally in tools.items()}
    cells = {key: tally.summed(sums, "cell", *key) for key, tally in cells.items()}
    reactions = {name: tally.summed(sums, "reaction", name) for name, tally in reactions.items()}
    order = sorted(tools, key=lambda tool: (-tools[tool].episodes, tool))
    return Recovery(
        answers=sum(answers.values()),
        cases_with_errors=cases_with_errors,
        whole=whole.summed(sums),
        classes=classes,
        tools=tuple(
            ToolRow(
                tool,
                answers.get(tool),
                tools[tool],
                tuple((each, cells.get((tool, each))) for each in classes),
                answer_sums.get(tool),
            )
            for tool in order
        ),
        reactions=tuple(
            ReactionRow(name, sentence, reactions[name]) for name, sentence in REACTIONS.items() if name in reactions
        ),
        answer_sums=answer_sums.get(""),
    )


def _error_rate(errors: int, answers: int, sums: ExampleSums | None) -> Rate:
    """Return the share of answers that were errors; in a grading from before the sums were kept, without an interval.

    Such a grading does not say which answers belong to one example, so that nothing tells how sure the share is.
    """
    error_rate = rate(errors, answers, sums)
    return error_rate if sums else replace(error_rate, low=None, high=None, examples=0)


def recovery_sentence(recovery: Recovery) -> str:
    """Return what happened after errors, as one sentence."""
    whole = recovery.whole
    if not whole.episodes:
        return "No tool failed."
    failures = "failure" if whole.episodes == 1 else "failures"
    after = f"After {whole.episodes:,} {failures} of tools the agent did right"
    if whole.right == whole.episodes:
        return f"{after} each time."
    if whole.unscored:
        scored = f"{whole.right:,} of the {whole.scored:,} that rules can score"
        return f"Of {whole.episodes:,} {failures} of tools the agent dealt rightly with {scored}."
    times = "once" if whole.right == 1 else f"{whole.right:,} times"
    return f"{after} {times}." if whole.right else f"{after} not once."
