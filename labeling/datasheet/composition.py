"""Tell what the examples of a datasheet are: counted in SQL."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any

from django.db.models import Count, F, Max, Min, Q

from labeling.blindness import RESOLVED
from labeling.coverage.expected import ANY_CALL, NO_CALL
from labeling.datasheet.scope import Scope
from labeling.datasheet.values import Composition, ValueCount, Values
from labeling.models import Example
from labeling.queue.shown_strata import hidden_strata
from toolevals.workspace.models import Role

# So many values of a stratum are listed, and so many tools.
MOST_VALUES = 20
MOST_TOOLS = 50
GOLD, SET_ASIDE = RESOLVED


def composition_of(scope: Scope, unread: int) -> Composition:
    """Count the examples by status, stratum, source of the gold and tool."""
    found = _Counts(scope)
    tools = dict(scope.tools().values_list("tool").annotate(n=Count("pk")))
    classes = {name: tools.pop(name, 0) for name in (NO_CALL, ANY_CALL)}
    return Composition(
        examples=found.examples,
        gold=found.gold,
        waiting=found.examples - found.gold - found.set_aside.total(),
        set_aside=dict(found.set_aside.most_common()),
        strata={name: _values(counts, MOST_VALUES) for name, counts in found.strata.items() if counts.keys() - {""}},
        tools=_values(Counter(tools), MOST_TOOLS),
        no_call=classes[NO_CALL],
        any_call=classes[ANY_CALL],
        unread=unread,
        tool_lists=scope.rows.aggregate(n=Count(scope.revision("tools"), distinct=True))["n"],
        gold_sources=dict(found.sources.most_common()),
        replaced=found.replaced if scope.version else None,
        first_added=found.first,
        last_added=found.last,
    )


class _Counts:
    """Sums over one grouped query: a group is all that a row says of strata, status and source."""

    def __init__(self, scope: Scope) -> None:
        self.examples = self.gold = self.replaced = 0
        self.first: datetime | None = None
        self.last: datetime | None = None
        self.set_aside: Counter[str] = Counter()
        self.sources: Counter[str] = Counter()
        self.strata: dict[str, Counter[str]] = {name: Counter() for name in Example.STRATA}
        self._is_frozen = scope.version is not None
        hidden = hidden_strata(scope.dataset, Role.REVIEWER)
        for *values, state, why, source, count, replaced, first, last in _groups(scope):
            self.examples += count
            self.replaced += replaced
            self._add_gold(state, why, source, count)
            for name, value in zip(Example.STRATA, values, strict=True):
                # It is the same for every member: of what is still to label, only what reviewers see is counted.
                if self._is_frozen or state in RESOLVED or name not in hidden:
                    self.strata[name][value] += count
            self.first = min(filter(None, (self.first, first)), default=None)
            self.last = max(filter(None, (self.last, last)), default=None)

    def _add_gold(self, state: str, why: str, source: str | None, count: int) -> None:
        # A version keeps its gold, whatever became of it since.
        if source and (self._is_frozen or state == GOLD):
            self.gold += count
            self.sources[source] += count
        elif state == SET_ASIDE:
            self.set_aside[why] += count


def _groups(scope: Scope) -> Any:
    strata = [scope.example(name) for name in Example.STRATA]
    told = [*strata, scope.revision("resolution"), scope.revision("set_aside_as"), scope.gold("source")]
    # What is frozen and still in force: the example's current revision, with its gold.
    same = Q(revision=F("revision__example__current"), gold=F("revision__gold")) if scope.version else Q()
    created = scope.example("created_at")
    counted = scope.rows.values_list(*told).annotate(n=Count("pk"))
    return counted.annotate(
        replaced=Count("pk") - Count("pk", filter=same) if scope.version else Count("pk") - Count("pk"),
        first=Min(created),
        last=Max(created),
    )


def _values(counts: Counter[str], most: int) -> Values:
    """List the most frequent values, what is not said last; the names decide between equal ones."""
    said = sorted(((value, n) for value, n in counts.items() if value), key=lambda one: (-one[1], one[0]))
    listed = [ValueCount(value, n) for value, n in said[:most]]
    if counts[""]:
        listed.append(ValueCount("", counts[""]))
    return Values(tuple(listed), len(said[most:]), sum(n for _, n in said[most:]))
