"""Tell what the page of error recovery shows: its address's state, the counts, a page of episodes with their words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import Count, Q, QuerySet, Sum

from labeling.conversation.turns import snippet
from reports.analyses.rates import ExampleSums
from reports.analyses.recovery import Recovery, recovery_of
from reports.filters.case_filters import number, text
from reports.queries.grading import KEYSET_PAGE
from toolevals.runs.counts.kept_sums import kept_sums
from toolevals.runs.grading.episode_rows import ALL_TOOLS, ANSWER_SUMS
from toolevals.runs.grading.models import EPISODES_WENT
from toolevals.runs.models import Episode, FindingCount, Grading, ToolAnswers

EPISODES_A_PAGE: Final = 30


@dataclass(frozen=True, slots=True)
class EpisodeState:
    """The episodes that the address asks for, and from where on."""

    tool: str = ""
    error_class: str = ""
    reaction: str = ""
    how: str = ""
    after: int | None = None

    def parameters(self) -> dict[str, str]:
        """Return what the address says of it, the place in the list aside."""
        return {"tool": self.tool, "error_class": self.error_class, "reaction": self.reaction, "how": self.how}


@dataclass(frozen=True, slots=True)
class EpisodeRow:
    """One episode; `excerpt` is the beginning of the bad answer, `reason` what was wrong with the reaction."""

    case: UUID
    external_id: str
    snippet: str
    trial: int
    episode: Episode
    excerpt: str
    reason: str


def unscored_recoveries(grading: Grading) -> int:
    """Return the number of cases in which the rules of recovery leave a question to a judge."""
    counted = FindingCount.objects.filter(grading=grading, family="unscored", kind="recovery", tool="")
    return next(iter(counted.values_list("cases", flat=True)), 0)


@dataclass(frozen=True, slots=True)
class EpisodePage:
    """A page of episodes; `more` is where the next one begins, None at the end."""

    rows: tuple[EpisodeRow, ...]
    more: int | None


def read_episode_state(parameters: Mapping[str, str]) -> EpisodeState:
    """Return the state that the address asks for; what cannot be counts as not asked."""
    how = text(parameters, "how")
    return EpisodeState(
        tool=text(parameters, "tool"),
        error_class=text(parameters, "error_class"),
        reaction=text(parameters, "reaction"),
        how=how if how in EPISODES_WENT else "",
        after=number(parameters, "after"),
    )


def grading_recovery(grading: Grading) -> Recovery:
    """Return what happened after errors in a grading. Four queries, over episodes and never over documents."""
    answers, answer_sums = _answers(grading)
    episodes = Episode.objects.filter(grading=grading)
    sums = kept_sums(grading, "failures")
    return recovery_of(episodes.kinds(), answers, episodes.cases_with_errors(), sums, answer_sums)


def grading_episodes(grading: Grading, state: EpisodeState) -> QuerySet[Episode]:
    """Return the episodes that the address asks for, in the order in which their cases were graded."""
    asked = {"tool": state.tool, "error_class": state.error_class, "reaction": state.reaction}
    episodes = Episode.objects.filter(grading=grading, **{name: value for name, value in asked.items() if value})
    return episodes.going(state.how).order_by("pk")


def episode_page(grading: Grading, state: EpisodeState) -> EpisodePage:
    """Return a page of episodes with their words. One query."""
    rows = grading_episodes(grading, state).select_related("case__transcript__entry__revision__example")
    rows = rows.defer("case__transcript__document")
    episodes = list((rows.filter(pk__gt=state.after) if state.after else rows)[: EPISODES_A_PAGE + 1])
    shown = episodes[:EPISODES_A_PAGE]
    return EpisodePage(tuple(map(_row, shown)), shown[-1].pk if len(episodes) > EPISODES_A_PAGE else None)


def episode_rows(grading: Grading, state: EpisodeState, columns: list[str]) -> Iterator[tuple[Any, ...]]:
    """Yield `columns` of the episodes that the address asks for, a page at a time."""
    rows, last = grading_episodes(grading, state).values_list("pk", *columns), 0
    while page := list(rows.filter(pk__gt=last)[:KEYSET_PAGE]):
        for row in page:
            yield row[1:]
        last = page[-1][0]


def _answers(grading: Grading) -> tuple[dict[str, int], dict[str, ExampleSums]]:
    """Return how often each tool answered, and the sums over the examples: none in a grading from before."""
    rows = ToolAnswers.objects.filter(grading=grading).order_by().values_list("tool")
    sums = list(rows.annotate(*map(Sum, ANSWER_SUMS), unsummed=Count("pk", filter=Q(examples=None))))
    answers = {tool: row[ANSWER_SUMS.index("answers")] for tool, *row in sums if tool != ALL_TOOLS}
    return answers, {tool: ExampleSums(*row) for tool, *row, unsummed in sums if not unsummed}


def _row(episode: Episode) -> EpisodeRow:
    transcript = episode.case.transcript
    revision = transcript.entry.revision
    told = episode.case.detail["details"]["recovery"]["episodes"][episode.number]
    return EpisodeRow(
        case=episode.case_id,
        external_id=revision.example.external_id,
        snippet=snippet(revision.input),
        trial=transcript.trial + 1,
        episode=episode,
        excerpt=told["excerpt"],
        reason=told["reason"],
    )
