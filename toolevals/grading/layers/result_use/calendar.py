"""Tell what is wrong with a weekday next to a date, or with a time that is given in another zone than it says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from toolevals.grading.layers.result_use.replies import Reply
from toolevals.grading.layers.result_use.sources import Sources, Suspicion, weekday_of
from toolevals.grading.layers.result_use.values import Mention
from toolevals.grading.layers.result_use.words import WEEKDAYS

_DAY_NAMES = "|".join(WEEKDAYS)
_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_DAY_BEFORE = re.compile(rf"(?<!\w)({_DAY_NAMES})[ ,.(]*(?:(?:the|den) )?$", re.IGNORECASE)
_DAY_AFTER = re.compile(rf"(?: ?\(|, )({_DAY_NAMES})(?!\w)", re.IGNORECASE)


@dataclass(slots=True)
class Calendar:
    """Compares weekdays and zones with those of results."""

    sources: Sources

    def weekday(self, reply: Reply, claim_index: int, fields: Sequence[int]) -> Suspicion | None:
        """Return what is wrong with the weekday next to a date that the fields hold."""
        mention = reply.mentions[claim_index]
        key, newest = mention.keys[0], self.sources.newest_date
        beside = _DAY_BEFORE.search(reply.text[max(0, mention.start - 24) : mention.start])
        beside = beside or _DAY_AFTER.match(reply.text, mention.end)
        if beside is None or newest is None or not isinstance(key, tuple) or len(key) != 3 or not key[2]:
            return None
        held = [(self.sources.values[position].key, position) for position in fields]
        real = [(found[0], position) for found, position in held if isinstance(found, tuple) and found[1:] == key[1:]]
        if not any(year for year, _ in real):
            real = [(year, newest) for year in ({key[0]} if key[0] else self.sources.years)]
        days = [(weekday_of(year, *key[1:]), position) for year, position in real if year]
        if not days or any(day == WEEKDAYS[beside[1].lower()] for day, _ in days):
            return None
        day, position = days[-1]
        return Suspicion("wrong_date", position, _NAMES[day] if day is not None else "no date")

    def zone(self, mention: Mention, fields: Sequence[int]) -> Suspicion | None:
        """Return the field whose time a claim gives in another zone than it says."""
        zones = [self.sources.values[position].zone for position in fields]
        if mention.zone is None or mention.kind != "time" or None in zones or mention.zone in zones or not fields:
            return None
        value, said = self.sources.values[fields[0]], mention.keys[0]
        if not isinstance(value.key, tuple) or not isinstance(said, tuple) or value.zone is None:
            return None
        truth = (value.key[0] - value.zone + mention.zone) % 1440
        return None if truth == said[0] else Suspicion("wrong_date", fields[0], f"{truth // 60:02}:{truth % 60:02}")
