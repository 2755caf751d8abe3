"""Shows the tools of a document before they are published: what each is, what would be lost or cannot be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Self

from toolevals.grading.reading.specs import MANY_TOOLS, Choice, LossCount, Survey, SurveyedTool, counted, survey_tools
from toolevals.grading.values.problems import Problem
from toolevals.json_types import JsonMapping
from toolevals.presentation.csv import Cell

LOSSES = ("part", "message", "count", "first")
_SUMMARY = 160


@dataclass(frozen=True, slots=True)
class ToolPreview:
    """One tool as a row; `problem` says why it cannot be published, empty where it can."""

    name: str
    where: str
    method: str
    path: str
    tags: tuple[str, ...]
    summary: str
    arguments: int
    losses: int
    problem: str


@dataclass(frozen=True, slots=True)
class Preview:
    """The tools of a document, how its format was found, its losses by kind, and what to check first."""

    format: str
    because: str
    tools: tuple[ToolPreview, ...]
    losses: tuple[LossCount, ...]
    problems: tuple[Problem, ...]
    warnings: tuple[str, ...]

    @property
    def lost(self) -> int:
        """Return how many parts are not carried over."""
        return sum(each.count for each in self.losses)

    @property
    def is_large(self) -> bool:
        """Tell whether the document holds more tools than a registry should."""
        return len(self.tools) > MANY_TOOLS

    @property
    def tags(self) -> list[tuple[str, int]]:
        """The tags with the number of their tools, by name."""
        return sorted(Counter(tag for tool in self.tools for tag in tool.tags).items())

    @classmethod
    def from_document(cls, document: JsonMapping) -> Self:
        """Read what `to_document` gives."""
        return cls(
            format=document["format"],
            because=document["because"],
            tools=tuple(ToolPreview(**{**each, "tags": tuple(each["tags"])}) for each in document["tools"]),
            losses=tuple(LossCount(**each) for each in document["losses"]),
            problems=tuple(Problem(**each) for each in document["problems"]),
            warnings=tuple(document["warnings"]),
        )

    def to_document(self) -> dict[str, Any]:
        """Return the preview as JSON."""
        return asdict(self)


def preview_of(
    document: Any,
    *,
    format: str = "auto",  # noqa: A002
    choice: Choice | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Preview:
    """Return what publishing would read. Raises InvalidDocument where there is no list of tools.

    `progress` is told now and then how many tools are read.
    """
    survey = survey_tools(document, format=format, choice=choice or Choice(), progress=progress)
    losses = dict.fromkeys([*survey.losses, *(loss for each in survey.tools for loss in each.losses)])
    return Preview(
        format=survey.format,
        because=survey.because,
        tools=tuple(_row(each) for each in survey.tools),
        losses=tuple(counted(losses)),
        problems=tuple(problem for each in survey.tools for problem in each.problems),
        warnings=tuple(_warnings(survey)),
    )


def loss_lines(preview: Preview) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each kind of loss."""
    for each in preview.losses:
        yield each.key, each.message, each.count, each.first


def _warnings(survey: Survey) -> Iterator[str]:
    count = len(survey.tools)
    if not count:
        yield "The document holds no tool."
    if count > MANY_TOOLS:
        yield (
            f"The document holds {count:,} tools. Agents choose worse among more than {MANY_TOOLS} tools, and "
            f"labelling takes longer. Select only the tools your agent has."
        )
    bare = [each for each in survey.tools if each.tool is not None and not _arguments(each)]
    if len(bare) == count > 1:
        yield "No tool takes arguments: check that the format is the right one."


def _arguments(tool: SurveyedTool) -> int:
    listed = tool.tool.input_schema.get("properties") if tool.tool else None
    return len(listed) if isinstance(listed, dict) else 0


def _row(tool: SurveyedTool) -> ToolPreview:
    at = tool.operation
    summary = at.summary if at and at.summary else tool.description.strip().partition("\n")[0]
    return ToolPreview(
        name=tool.name,
        where=tool.where,
        method=at.method if at else "",
        path=at.path if at else "",
        tags=at.tags if at else (),
        summary=summary[:_SUMMARY],
        arguments=_arguments(tool),
        losses=len(tool.losses),
        problem=str(tool.problems[0]) if tool.problems else "",
    )
