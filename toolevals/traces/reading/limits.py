"""Says what a trace may take at most, and whether it took more."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from toolevals.grading.guard import Guard
from toolevals.grading.values.verdicts import Verdict
from toolevals.traces.reading.traces import TraceReading

_TOKENS = ("input_tokens", "output_tokens")


@dataclass(frozen=True, slots=True)
class Limits:
    """Tokens, in and out, and money that a trace may take at most; None where the project sets no limit.

    Money is in the currency in which costs come. `guard` says what may be called and said; None for the usual rules.
    """

    tokens: int | None = None
    cost: float | None = None
    guard: Guard | None = None


NO_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class _Sum:
    """Holds what is known of a sum, of so many parts; where another part did not say, it is that much at least."""

    known: float
    parts: int
    is_whole: bool


def cost_verdict(trace: TraceReading, limits: Limits) -> Verdict | None:
    """Return whether a trace stayed within the limits; None where there is none.

    It failed where what is known is over a limit, also where more may be unknown. It is unscored where what is known
    is within, and a part did not say.
    """
    asked = [
        (words, nothing, found, limit)
        for words, nothing, found, limit in (
            ("It took {} tokens", "Token usage is unknown.", _tokens(trace), limits.tokens),
            ("It cost {}", "Nothing says what it cost.", _cost(trace), limits.cost),
        )
        if limit is not None
    ]
    if not asked:
        return None
    over = [
        f"{words.format(_amount(found.known))}; the limit is {_amount(limit)}."
        for words, _, found, limit in asked
        if found.known > limit
    ]
    if over:
        return Verdict("failed", 0.0, " ".join(over))
    unsaid = [
        f"{words.format(_amount(found.known))} at least; some calls do not report it." if found.parts else nothing
        for words, nothing, found, _ in asked
        if not found.is_whole
    ]
    return Verdict("unscored", None, " ".join(unsaid)) if unsaid else Verdict("passed", 1.0)


def _tokens(trace: TraceReading) -> _Sum:
    models = [each for each in trace.spans if each.reading.kind == "model"]
    return _sum([each.reading.usage.get(name) for each in models for name in _TOKENS])


def _cost(trace: TraceReading) -> _Sum:
    models = [each.reading.cost for each in trace.spans if each.reading.kind == "model"]
    if models:
        return _sum(models)
    # Without a call of a model, what a span says of the whole counts.
    return _sum([each.reading.cost for each in trace.spans if each.reading.cost is not None])


def _sum(parts: Iterable[float | None]) -> _Sum:
    all_parts = list(parts)
    said = [part for part in all_parts if part is not None]
    return _Sum(sum(said), len(said), bool(all_parts) and len(said) == len(all_parts))


def _amount(amount: float) -> str:
    return f"{amount:,.0f}" if amount == int(amount) else f"{amount:,.6g}"
