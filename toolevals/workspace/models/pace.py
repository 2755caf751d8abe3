"""Store how fast work goes, and how long the rest will take at that rate."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

# A rate over less time says nothing.
LEAST_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Pace:
    """`rate`: items a second. `left`: how long the rest takes at that rate."""

    rate: float
    left: timedelta

    @classmethod
    def of(cls, *, done: int, left: int, seconds: float) -> Pace | None:
        """Return the pace of who did `done` items in so many seconds; None where that says nothing yet."""
        if seconds < LEAST_SECONDS or done <= 0:
            return None
        rate = done / seconds
        return cls(rate, timedelta(seconds=round(left / rate)))

    @property
    def left_seconds(self) -> float:
        """Return the time left as a number, for those that read attributes and call nothing."""
        return self.left.total_seconds()

    @property
    def rate_words(self) -> str:
        """Return the rate as people say it: a second, or where that is less than one, a minute."""
        if self.rate >= 1:
            return f"{self.rate:,.0f} a second" if self.rate >= 10 else f"{self.rate:.1f} a second"
        return f"{self.rate * 60:.1f} a minute"

    @property
    def left_words(self) -> str:
        """Return the time left, as exactly as it is worth knowing."""
        minutes = self.left.total_seconds() / 60
        if minutes < 1:
            return f"{self.left.seconds} s"
        return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"
