"""Say how a live run goes about it: how many conversations at once, how fast, how long, how dear."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from toolevals.agents.options import TEXT, ChatOptions, Check, Options, count, some_text
from toolevals.agents.prices import Prices
from toolevals.grading.engine.grading import CUT_OFF, CutOff
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping, JsonObject


@dataclass(frozen=True, slots=True)
class GuardSettings(Options):
    """The policy in front of a run's agent, by its short name and version, and the key whose lists are met."""

    CHECKS: ClassVar[Mapping[str, Check]] = {
        "policy": some_text("must name a policy of this project"),
        "version": count(1, 2**31 - 1, "must be the number of a version"),
        "key": TEXT,
    }

    policy: str
    version: int
    key: str = ""


@dataclass(frozen=True, slots=True)
class LiveSettings:
    """The settings of a live run.

    `concurrency` conversations at once in each batch. `requests_per_minute` over all workers, None: as fast as it
    goes. `max_steps` turns of the agent in one conversation. `tries` of each request. `budget` ends the run when its
    transcripts have cost that much, in the currency of `prices`. `user` plays the users that have an instruction.
    `cut_off` says what becomes of conversations that are cut before their end. `guard` is a policy's version that each
    call is checked by before it is made.
    """

    concurrency: int = 4
    requests_per_minute: int | None = None
    max_steps: int = 30
    tries: int = 5
    prices: Prices | None = None
    budget: float | None = None
    user: ChatOptions | None = None
    cut_off: CutOff = "failed"
    guard: GuardSettings | None = None

    @classmethod
    def from_document(cls, document: JsonMapping) -> Self:
        """Read settings; what is not said is at its default. Raises InvalidDocument with every problem."""
        problems = [Problem(f"/{name}", "is not a setting of a run") for name in document if name not in _READERS]
        said: JsonObject = {}
        for name, value in document.items():
            if value is None or name not in _READERS:
                continue
            try:
                said[name] = _READERS[name](value)
            except InvalidDocument as error:
                problems += error.below(f"/{name}").problems
        if said.get("budget") is not None and said.get("prices") is None:
            problems.append(Problem("/budget", "needs prices: without them the cost cannot be calculated"))
        if problems:
            raise InvalidDocument(problems)
        return cls(**said)

    def to_document(self) -> JsonObject:
        """Return every setting."""
        return {
            "concurrency": self.concurrency,
            "requests_per_minute": self.requests_per_minute,
            "max_steps": self.max_steps,
            "tries": self.tries,
            "prices": self.prices.to_document() if self.prices else None,
            "budget": self.budget,
            "user": self.user.to_document() if self.user else None,
            "cut_off": self.cut_off,
            "guard": self.guard.to_document() if self.guard else None,
        }


def _count(low: int, high: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise InvalidDocument.at("", f"must be a whole number from {low} to {high:,}")
        return value

    return read


def _money(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value <= 0:
        raise InvalidDocument.at("", "must be a number above 0")
    return float(value)


def cut_off_in(value: Any) -> CutOff:
    """Return what becomes of conversations that are cut before their end. Raises InvalidDocument."""
    if value not in CUT_OFF:
        raise InvalidDocument.at("", f"must be one of {', '.join(CUT_OFF)}")
    cut_off: CutOff = value
    return cut_off


def _document(read: Callable[[JsonMapping], Any]) -> Callable[[Any], Any]:
    def checked(value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise InvalidDocument.at("", "must be an object")
        return read(value)

    return checked


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "concurrency": _count(1, 32),
    "requests_per_minute": _count(1, 100_000),
    "max_steps": _count(1, 200),
    "tries": _count(1, 10),
    "prices": _document(Prices.from_document),
    "budget": _money,
    "user": _document(ChatOptions.from_document),
    "cut_off": cut_off_in,
    "guard": _document(GuardSettings.from_document),
}
