"""Reads traces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import connection, models
from django.db.models import Count, Exists, OuterRef, Q
from django.db.models.expressions import RawSQL

from toolevals.workspace.models import Project, Role

if TYPE_CHECKING:
    from toolevals.traces.models import Trace


# The share of traces up to which a word is rare.
_RARE = 0.01


class TraceQuerySet(models.QuerySet["Trace"]):
    """Traces, narrowed down by name."""

    def in_project(self, project: Project) -> TraceQuerySet:
        return self.filter(project=project)

    def due(self, now: datetime) -> TraceQuerySet:
        """Return those that are to be summed up by now, the longest waiting first."""
        return self.filter(due_at__lte=now).order_by("due_at")

    def summed_up(self) -> TraceQuerySet:
        """Return those that were summed up at least once."""
        return self.filter(settled__gt=0)

    def between(self, since: datetime | None, until: datetime | None) -> TraceQuerySet:
        """Return those that came from `since` on and before `until`: their ids are sorted by that time."""
        found = self if since is None else self.filter(pk__gte=first_id(since))
        return found if until is None else found.filter(pk__lt=first_id(until))

    def with_calls(self, project: Project, **wanted: Any) -> TraceQuerySet:
        """Return those of a project in which one call is all that `wanted` says of `ToolUse`."""
        uses = self.model._meta.get_field("tool_uses").related_model
        return self.filter(Exists(uses._base_manager.filter(project=project, trace=OuterRef("pk"), **wanted)))

    def with_closed(self, project: Project, role: Role) -> TraceQuerySet:
        """Add to each whether it `is_closed` to a project's members with a role: see `toolevals.traces.blindness`."""
        from toolevals.traces.blindness import closed_to

        return self.annotate(is_closed=closed_to(project, role))

    def with_verdicts(
        self,
        project: Project,
        *,
        rule: str = "",
        judge: UUID | None = None,
        verdict: str = "",
        asked_on: date | None = None,
    ) -> TraceQuerySet:
        """Return those of a project of which a rule, or a judge, said `verdict`, or anything where it is empty.

        `not_judged` and `waiting` are those to whose question a judge gave no answer. `asked_on` narrows them down to
        those that a judge was asked about on a day.
        """
        from toolevals.traces.models import QuestionState, TraceJudge, TraceQuestion

        said: dict[str, Any] = {"rule": rule, "status": verdict}
        if judge:
            its = TraceJudge.objects.in_project(project).filter(judge=judge).first()
            if its is None or (rule and rule != its.rule):
                return self.none()
            said |= {"rule": its.rule, "judge": its.pk}
        asked = TraceQuestion.objects.about(project, rule=said["rule"], judge=said.get("judge"))
        asked = asked.filter(trace=OuterRef("pk"))
        found = self.filter(Exists(asked.filter(asked_on=asked_on))) if asked_on else self
        if verdict in (QuestionState.NOT_JUDGED, QuestionState.WAITING):
            return found.filter(Exists(asked.filter(state=verdict)))
        if asked_on and not verdict:
            return found
        verdicts = self.model._meta.get_field("verdicts").related_model._base_manager
        wanted = {column: value for column, value in said.items() if value}
        return found.filter(Exists(verdicts.filter(project=project, trace=OuterRef("pk"), **wanted)))

    def with_words(self, words: Sequence[str]) -> TraceQuerySet:
        """Return those that have a word with each of these beginnings, which are letters and digits."""
        return self.filter(*(_has_word(word) for word in words))

    def with_words_looked_up(self, words: Sequence[str], sample: TraceQuerySet) -> TraceQuerySet:
        """Return the same in the way that finds few traces among all: PostgreSQL's index is asked.

        Many words begin as a short one does, and the index puts all their traces together. So it is asked for the
        word that is the rarest in a sample alone where that is rare, and the others are looked for in what it finds.
        """
        if connection.vendor != "postgresql" or not words:
            return self.with_words(words)
        looked_up = list(words)
        if len(words) > 1:
            counts = {f"n{at}": Count("pk", filter=_has_word(word)) for at, word in enumerate(words)}
            found = sample.aggregate(**counts, of=Count("pk"))
            rarest = min(range(len(words)), key=lambda at: (found[f"n{at}"], -len(words[at])))
            if found[f"n{rarest}"] <= _RARE * found["of"]:
                looked_up = [words[rarest]]
        asked = " & ".join(f"{word}:*" for word in looked_up)
        match = "to_tsvector('simple', \"traces_trace\".\"text\") @@ to_tsquery('simple', %s)"
        found_by_index = RawSQL(match, [asked], models.BooleanField())  # noqa: S611 - the value is a parameter
        return self.filter(found_by_index).with_words([word for word in words if word not in looked_up])


def _has_word(word: str) -> Q:
    return Q(text__contains=f" {word}")


def shown(traces: Iterable[Trace]) -> list[Trace]:
    """Return traces that were read with `is_closed`, those that are closed without what the agent did."""
    return [each.close() if vars(each).get("is_closed") else each for each in traces]


def first_id(moment: datetime) -> UUID:
    """Return the least id that is made at a moment (UUIDv7: 48 bits of milliseconds first)."""
    milliseconds = max(0, min(int(moment.timestamp() * 1000), 2**48 - 1))
    return UUID(int=milliseconds << 80)


def came_at(trace: UUID) -> datetime:
    """Return when the row of a trace was made, to the millisecond, as its id says."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=trace.int >> 80)
