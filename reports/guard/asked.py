"""Work out who asks a policy, and what it refused by day: from counts that the guard's door by REST keeps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Final

from django.db.models import Count, Max, QuerySet, Sum

from toolevals.grading.guard import Policy as Rules
from toolevals.grading.guard.rules.lists import Key, KeysRule
from toolevals.registry.models import GuardDay, Policy, PolicyVersion
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import ApiToken, TokenScope

# So many days are shown, of so many keys.
DAYS: Final = 30
MOST_KEYS: Final = 50
# A bar takes so much, with its gap; the picture is so high.
STEP, BAR, HEIGHT = 6, 4, 28
OUTCOMES: Final = ("allowed", "would_refuse", "refused")


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A key: its lists in the policy, its tokens' last use, and what was decided for it."""

    key: str
    lists: Key | None
    tokens: int = 0
    last_used: datetime | None = None
    allowed: int = 0
    would_refuse: int = 0
    refused: int = 0


@dataclass(frozen=True, slots=True)
class RuleDays:
    """The refusals of one rule, and those of it in audit, with a bar for each day as paths of an SVG."""

    rule: str
    refused: int
    would_refuse: int
    refused_path: str
    would_path: str


@dataclass(frozen=True, slots=True)
class Asked:
    """The keys that ask a policy, and what it refused, since a day."""

    since: date
    until: date
    keys: list[KeyRow]
    more_keys: int
    rules: list[RuleDays]
    highest: int

    width: int = STEP * DAYS
    height: int = HEIGHT


def days_of(policy: Policy) -> QuerySet[GuardDay]:
    """Return all counts of a policy by day, key and rule."""
    return GuardDay.objects.filter(policy=policy)


def asked_of(version: PolicyVersion) -> Asked:
    """Return who asked a version's policy in the last DAYS days, and what it refused."""
    until = database_now().date()
    since = until - timedelta(days=DAYS - 1)
    days = days_of(version.policy).filter(day__gte=since)
    keys = _key_rows(version, days)
    by_rule: dict[str, dict[int, tuple[int, int]]] = defaultdict(dict)
    for rule, day, refused, would_refuse in _sums(days.exclude(rule=""), "rule", "day", of=("refused", "would_refuse")):
        by_rule[rule][(day - since).days] = (refused, would_refuse)
    highest = max((sum(counts) for each in by_rule.values() for counts in each.values()), default=0)
    rules = [_drawn(rule, each, highest) for rule, each in by_rule.items()]
    rules.sort(key=lambda each: (-each.refused, -each.would_refuse, each.rule))
    return Asked(since, until, keys[:MOST_KEYS], max(len(keys) - MOST_KEYS, 0), rules, highest)


def _sums(days: QuerySet[GuardDay], *by: str, of: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    sums = {f"sum_{name}": Sum(name) for name in of}
    yield from days.order_by().values(*by).annotate(**sums).values_list(*by, *sums)


def _key_rows(version: PolicyVersion, days: QuerySet[GuardDay]) -> list[KeyRow]:
    """Return the keys that asked, those of tokens for the guard, and those that rules name; the busiest first."""
    tokens = ApiToken.objects.filter(project=version.policy.project, scope=TokenScope.GUARD, revoked_at=None)
    used = {name: each for name, *each in tokens.values_list("name").annotate(Count("pk"), Max("last_used_at"))}
    lists: dict[str, Key] = {}
    for each in Rules.from_document(version.document).rules.values():
        if isinstance(each.rule, KeysRule) and each.mode != "off":
            lists |= each.rule.keys
    decided = {key: counts for key, *counts in _sums(days.filter(rule=""), "key", of=OUTCOMES)}
    rows = [
        KeyRow(key, lists.get(key), *used.get(key, (0, None)), *decided.get(key, (0, 0, 0)))
        for key in {*decided, *used, *lists}
    ]
    return sorted(rows, key=lambda row: (-(row.allowed + row.would_refuse + row.refused), row.key))


def _drawn(rule: str, days: Mapping[int, tuple[int, int]], highest: int) -> RuleDays:
    """Return a rule with its bars: what it refused, and above it what it would have refused."""
    paths: tuple[list[str], list[str]] = ([], [])
    for place, counts in sorted(days.items()):
        foot = float(HEIGHT)
        for path, count in zip(paths, counts, strict=True):
            if count:
                tall = max(count / highest * HEIGHT, 1)
                path.append(f"M{place * STEP} {foot:.1f}v-{tall:.1f}h{BAR}v{tall:.1f}z")
                foot -= tall
    sums = [sum(each) for each in zip(*days.values(), strict=True)]
    return RuleDays(rule, *sums, *("".join(path) for path in paths))
