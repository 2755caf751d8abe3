"""Reads of traces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import connection, models
from django.db.models import Exists, OuterRef, Q
from django.db.models.expressions import RawSQL

from toolevals.workspace.models import Project, Role

if TYPE_CHECKING:
    from labeling.models import Example
    from toolevals.traces.models import Trace


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

    def with_calls(self, **wanted: Any) -> TraceQuerySet:
        """Return those in which one call is all that `wanted` says of `ToolUse`."""
        uses = self.model._meta.get_field("tool_uses").related_model
        return self.filter(Exists(uses._base_manager.filter(trace=OuterRef("pk"), **wanted)))

    def with_closed(self, role: Role) -> TraceQuerySet:
        """Add to each whether it `is_closed` to members with a role, as `toolevals.traces.blindness` says."""
        from toolevals.traces.blindness import closed_to

        return self.annotate(is_closed=closed_to(role))

    def of_example(self, example: Example, role: Role) -> TraceQuerySet:
        """Return the trace that an example was made of, unless it is closed to members with a role."""
        from toolevals.traces.blindness import closed_to

        return self.filter(examples__example=example, examples__is_folded=False).exclude(closed_to(role))

    def that_broke(self, rule: str) -> TraceQuerySet:
        """Return those in which a rule failed a span."""
        verdicts = self.model._meta.get_field("verdicts").related_model
        return self.filter(Exists(verdicts._base_manager.filter(trace=OuterRef("pk"), rule=rule, status="failed")))

    def with_words(self, words: Sequence[str], *, indexed: bool = False) -> TraceQuerySet:
        """Return those that have a word with each of these beginnings, which are letters and digits.

        `indexed`: let PostgreSQL look them up; it then finds few traces among all, and is slow where it finds many.
        """
        if indexed and connection.vendor == "postgresql":
            asked = " & ".join(f"{word}:*" for word in words)
            match = "to_tsvector('simple', \"traces_trace\".\"text\") @@ to_tsquery('simple', %s)"
            return self.filter(RawSQL(match, [asked], models.BooleanField()))  # noqa: S611 - the value is a parameter
        return self.filter(*(Q(text__contains=f" {word}") for word in words))


def shown(traces: Iterable[Trace]) -> list[Trace]:
    """Return traces that were read with `is_closed`, those that are closed without what the agent did."""
    return [each.close() if vars(each).get("is_closed") else each for each in traces]


def first_id(moment: datetime) -> UUID:
    """Return the least id that is made at a moment (UUIDv7: 48 bits of milliseconds first)."""
    milliseconds = max(0, min(int(moment.timestamp() * 1000), 2**48 - 1))
    return UUID(int=milliseconds << 80)
