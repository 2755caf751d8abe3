"""Work out what calls to the wrong tool cost and give away: over-tooling, and personal data; kept for good."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import islice
from math import fsum
from typing import Final
from uuid import UUID

from django.core.cache import cache
from django.db.models import Count

from labeling.models import VersionEntry
from reports.filters.case_filters import Filters
from reports.filters.matrix_cells import matrix_counts
from reports.filters.sums import A_DAY, specs_by_name
from reports.matrix.analysis import CellKey
from toolevals.grading.engine.case_findings import pair_kind
from toolevals.grading.metrics.confusion import SPECIAL
from toolevals.grading.values import Expectation, ToolSpec
from toolevals.grading.values.verdicts import NONE
from toolevals.runs.aggregates.cube import View
from toolevals.runs.aggregates.tool_spending import Amount, ToolSpent
from toolevals.runs.models import AlignedPair, Grading, ToolSpending

OVER_TOOLING = "over-tooling"
NEEDLESS = "needless call"
# A wrong tool of equal cost that does as much as the right one: it is no excess call, but may take more all the same.
WRONG_TOOL, MIXED_UP = "wrong tool", "mixed up"


@dataclass(frozen=True, slots=True)
class CallPrice:
    """The mean of what a call to one tool takes in a run: its share of the model's steps; None where no one says it."""

    tokens: float | None = None
    money: float | None = None


@dataclass(frozen=True, slots=True)
class OverreachRow:
    """One cell of the matrix of aligned calls whose called tool is not the expected one.

    `kind` is OVER_TOOLING, NEEDLESS where no call was expected, or WRONG_TOOL; `why` are the words of the specs.
    `exposed` are the JSON pointers of personal data in the called tool's output that the right tool does not give out.
    `extra` is what a call costs more than the right one, relative to the other tools; None where the specs do not say.
    `extra_tokens` and `extra_money` are what a call takes more in this run, on average; None where no one says it.
    """

    expected: str
    actual: str
    count: int
    kind: str
    why: str
    exposed: tuple[str, ...]
    extra: Decimal | None
    extra_tokens: float | None = None
    extra_money: float | None = None

    @property
    def exposed_words(self) -> str:
        return " ".join(self.exposed)

    @property
    def is_excess(self) -> bool:
        return self.kind != WRONG_TOOL

    @property
    def is_priced(self) -> bool:
        """Return whether anything is known of what a call costs more."""
        return any(each is not None for each in (self.extra, self.extra_tokens, self.extra_money))

    @property
    def tokens_in_all(self) -> float | None:
        """Return the tokens that all calls of the cell take more."""
        return None if self.extra_tokens is None else self.extra_tokens * self.count

    @property
    def money_in_all(self) -> float | None:
        """Return the money that all calls of the cell take more."""
        return None if self.extra_money is None else self.extra_money * self.count

    @property
    def extra_in_all(self) -> Decimal | None:
        """Return what all calls of the cell cost more."""
        return None if self.extra is None else self.extra * self.count


@dataclass(frozen=True, slots=True)
class Overreach:
    """Every such cell, excess calls first, and the most calls; what they cost more and what they gave out.

    Other wrong tools are there where something is known of what they cost. `let_be` calls are left out: no one
    expected them, and the gold lets them come next to the expected ones.
    """

    rows: tuple[OverreachRow, ...]
    let_be: int = 0

    @property
    def calls(self) -> int:
        return sum(row.count for row in self.rows if row.is_excess)

    @property
    def wrong_calls(self) -> int:
        """Return how many calls went to wrong tools that cost and do as much as the right one."""
        return sum(row.count for row in self.rows if not row.is_excess)

    @property
    def is_priced(self) -> bool:
        """Return whether anything is known of what the calls cost more."""
        return any(row.is_priced for row in self.rows)

    @property
    def exposing(self) -> int:
        return sum(row.count for row in self.rows if row.exposed and row.is_excess)

    @property
    def extra(self) -> Decimal | None:
        """The sum of what is said of all wrong tools; None where no spec says anything."""
        said = [extra for row in self.rows if (extra := row.extra_in_all) is not None]
        return sum(said, Decimal(0)) if said else None

    @property
    def tokens(self) -> float | None:
        """The tokens that all calls to wrong tools take more; None where no step says them."""
        return _sum(row.tokens_in_all for row in self.rows)

    @property
    def money(self) -> float | None:
        """The money that all calls to wrong tools take more; None where no step says it."""
        return _sum(row.money_in_all for row in self.rows)


def overreach_of(
    counts: Mapping[CellKey, int],
    specs: Mapping[str, Sequence[ToolSpec]],
    let_be: Mapping[CellKey, int] | None = None,
    prices: Mapping[str, CallPrice] | None = None,
) -> Overreach:
    """Return the cells of a matrix in which there are excess calls, or others to wrong tools of equal cost.

    `counts` are of aligned calls, `specs` the offered specs by name. Where examples offer a name in several wordings,
    a cell counts if any two of them make it one, and what it gives away is what the first such two say. `let_be` are
    those of `counts` that the gold lets come next to the expected calls; `prices` are what a call to each tool takes.
    """
    spared, known = let_be or {}, prices or {}
    rows = [
        row
        for (expected, actual), whole in counts.items()
        if expected != actual
        and (count := whole - spared.get((expected, actual), 0))
        and (row := _row(expected, actual, count, specs)) is not None
    ]
    rows = [_priced(row, known) for row in rows]
    rows = [row for row in rows if row.is_excess or row.is_priced]
    rows.sort(key=lambda row: (not row.is_excess, -row.count, row.expected, row.actual))
    return Overreach(tuple(rows), sum(spared.values()))


def _row(expected: str, actual: str, count: int, specs: Mapping[str, Sequence[ToolSpec]]) -> OverreachRow | None:
    called = specs.get(actual, ())
    if expected == SPECIAL[0]:
        return next((_needless(spec, expected, count) for spec in called), None)
    pairs = [(right, wrong) for right in specs.get(expected, ()) for wrong in called]
    rows = [row for right, wrong in pairs if (row := _called_wrongly(right, wrong, count)) is not None]
    return next((row for row in rows if row.is_excess), rows[0] if rows else None)


def _priced(row: OverreachRow, prices: Mapping[str, CallPrice]) -> OverreachRow:
    """Return the row with what a call takes more in the run than one to the right tool, or than none."""
    wrong = prices.get(row.actual, CallPrice())
    right = CallPrice(0.0, 0.0) if row.expected == SPECIAL[0] else prices.get(row.expected, CallPrice())
    return replace(
        row,
        extra_tokens=None if wrong.tokens is None or right.tokens is None else wrong.tokens - right.tokens,
        extra_money=None if wrong.money is None or right.money is None else wrong.money - right.money,
    )


def _sum(amounts: Iterable[float | None]) -> float | None:
    said = [amount for amount in amounts if amount is not None]
    return fsum(said) if said else None


def _needless(called: ToolSpec, expected: str, count: int) -> OverreachRow:
    extra = None if called.cost is None else Decimal(str(called.cost))
    return OverreachRow(expected, called.name, count, NEEDLESS, "", _fields(called.sensitive_output), extra)


def _called_wrongly(right: ToolSpec, called: ToolSpec, count: int) -> OverreachRow | None:
    """Return the row of a wrong tool; None of one that costs less or does less than the right one."""
    kind = pair_kind(right, called)
    if kind.name not in (OVER_TOOLING, MIXED_UP):
        return None
    is_excess = kind.name == OVER_TOOLING
    exposed = _fields(field for field in called.sensitive_output if field not in right.sensitive_output)
    said = right.cost is not None and called.cost is not None
    extra = Decimal(str(called.cost)) - Decimal(str(right.cost)) if said else None
    name = OVER_TOOLING if is_excess else WRONG_TOOL
    return OverreachRow(right.name, called.name, count, name, kind.why if is_excess else "", exposed, extra)


def _fields(pointers: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(pointers))


AT_ONCE: Final = 2000


def grading_overreach(grading: Grading) -> Overreach:
    """Return the cells of the matrix of aligned calls in which there are excess calls."""
    key = f"reports:overreach-3:{grading.pk}"
    overreach: Overreach | None = cache.get(key)
    if overreach is None:
        counts = matrix_counts(grading, Filters(View.ALIGNED))
        needless = any(expected == NONE != actual for expected, actual in counts)
        let_be = _let_be(grading) if needless else {}
        overreach = overreach_of(counts, specs_by_name(grading), let_be, _prices(grading))
        cache.set(key, overreach, timeout=A_DAY)
    return overreach


def _prices(grading: Grading) -> dict[str, CallPrice]:
    """Return the mean of what a call to each tool takes, over the calls whose step says it."""
    rows = ToolSpending.objects.filter(grading=grading).values_list("tool", "calls", "steps", "measured")
    spent = [ToolSpent.from_document(*row) for row in rows]
    return {each.tool: CallPrice(_mean(each.tokens_in, each.tokens_out), _mean(each.cost)) for each in spent}


def _mean(*amounts: Amount) -> float | None:
    means = [each.total / each.known for each in amounts if each.total is not None and each.known]
    return sum(means) if len(means) == len(amounts) else None


def _let_be(grading: Grading) -> Counter[CellKey]:
    """Count the calls that no one expected and that the gold lets be, by their cell."""
    pairs = AlignedPair.objects.filter(grading=grading, expected=NONE).exclude(actual=NONE).order_by()
    rows = pairs.values_list("case__transcript__entry__revision", "actual").annotate(count=Count("*"))
    called: defaultdict[UUID, Counter[str]] = defaultdict(Counter)
    for revision, actual, count in rows.iterator():
        called[revision][actual] += count
    counts: Counter[CellKey] = Counter()
    entries, left = VersionEntry.objects.filter(version=grading.dataset_version_id), iter(called)
    # By their ids, some at a time: a database that knows little of new tables may join all of them for each entry.
    while some := list(islice(left, AT_ONCE)):
        golds = entries.filter(revision__in=some)
        for revision, document in golds.values_list("revision", "gold__expectation"):
            expectation = Expectation.from_document(document)
            for actual, count in called[revision].items():
                if expectation.lets_be(actual):
                    counts[NONE, actual] += count
    return counts
