"""Read the matrix that an address asks for, and what its cells cost: the only way to it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Final

from django.core.cache import cache
from django.db.models import Count, DecimalField, F, Q, Sum
from django.db.models.functions import Cast

from reports.filters.case_filters import STATUSES, Filters, Split
from reports.filters.dividing import block_of, classing_of, expected_part_of, gold_values, part_of
from reports.filters.matrix_cells import matrix_counts, matrix_sums, placed_cases, tool_counts
from reports.filters.sums import A_DAY, costs_by_name, is_counted, summed
from reports.matrix.analysis import Basis, CellKey, Cost, Matrix, Part, matrix_of, relative_costs
from reports.matrix.state import MatrixState, Measure
from toolevals.runs.aggregates.cube import PRICE_UNITS, Costs, View
from toolevals.runs.models import Grading, Transcript

# Sums of prices are decimal, so that they are the same in whichever order a database adds them up.
_EXACT: Final = DecimalField(max_digits=38, decimal_places=12)
_CHUNK: Final = 5000
_NOTHING: Final = Cost(Decimal(0), 0)
# The column that tells whether a conversation says what it took.
_SAID: Final = {Basis.PRICE: "cost", Basis.TOKENS: "tokens_in"}


def basis_of(grading: Grading, view: View) -> Basis | None:
    """Return what the run's costs are counted in; None where nothing tells.

    What a conversation took can't be divided over its calls: aligned calls have relative costs only.
    """
    key = f"reports:basis:{grading.pk}"
    said: str | None = cache.get(key)
    if said is None:
        said = next((basis.value for basis, column in _SAID.items() if _is_said(grading, column)), "")
        cache.set(key, said, timeout=A_DAY)
    if said and view is not View.ALIGNED:
        return Basis(said)
    return Basis.RELATIVE if costs_by_name(grading) else None


def _is_said(grading: Grading, column: str) -> bool:
    return Transcript.objects.filter(run=grading.run_id, **{f"{column}__isnull": False}).exists()


def matrix_costs(grading: Grading, filters: Filters) -> dict[CellKey, Cost]:
    """Return what the cases of each cell cost, classes taken together and divided; a cell of which none says is not in.

    Relative: the called tool's cost by the specs for each call. A set of tools has no cost of its own there.
    """
    basis = basis_of(grading, filters.view)
    if basis is None:
        return {}
    if basis is Basis.RELATIVE:
        relative = costs_by_name(grading)
        costs = {status: relative_costs(part, relative) for status, part in tool_counts(grading, filters).items()}
    elif (sums := summed(grading, filters, costs=True)) is None:
        costs = _costs_read(grading, filters, basis)
    else:
        costs = {status: _costs_summed(part.costs(), basis) for status, part in sums.parts(filters.split).items()}
    return classing_of(grading, filters).cells(costs)


def _costs_summed(costs: Mapping[CellKey, Costs], basis: Basis) -> dict[CellKey, Cost]:
    if basis is Basis.TOKENS:
        return {cell: Cost(Decimal(tokens), told) for cell, (_, _, told, tokens) in costs.items() if told}
    return {cell: Cost(Decimal(units) / PRICE_UNITS, priced) for cell, (priced, units, _, _) in costs.items() if priced}


def _costs_read(grading: Grading, filters: Filters, basis: Basis) -> dict[str, dict[CellKey, Cost]]:
    """Add up what isn't counted beforehand."""
    costs: defaultdict[str, dict[CellKey, Cost]] = defaultdict(dict)
    for placed in placed_cases(grading, filters):
        known, spent = _spent(basis, placed.to_case)
        rows = placed.grouped(filters.split).annotate(known=known, spent=spent)
        for divider, *values, count, amount in rows.iterator(chunk_size=_CHUNK):
            if count:
                cell, cost = placed.cell(tuple(values)), Cost(amount or Decimal(0), count)
                part = costs[placed.part(divider, cell)]
                part[cell] = part.get(cell, _NOTHING) + cost
    return dict(costs) or {"": {}}


def _spent(basis: Basis, to_case: str) -> tuple[Count, Sum]:
    """Return the number of cases that say what they cost, and what they cost."""
    of = f"{to_case}transcript__"
    if basis is Basis.PRICE:
        return Count("pk", filter=Q(**{f"{of}cost__isnull": False})), Sum(Cast(f"{of}cost", _EXACT))
    tokens = Cast(F(f"{of}tokens_in") + F(f"{of}tokens_out"), _EXACT)
    return Count("pk", filter=Q(**{f"{of}tokens_in__isnull": False})), Sum(tokens)


# So many matrices, and as many documents of them, stay in the memory of a process: the largest take a few megabytes.
MOST_HELD: Final = 8


def counted_matrix(grading: Grading, state: MatrixState) -> Matrix:
    """Return the whole matrix of a state; costs are added up only where they are asked for.

    The last few that can't change any more are held by the process: a cell is opened on a matrix that was just shown.
    """
    bare = state.without_cell
    return _held(grading, bare) if stays(grading, state) else _counted(grading, bare)


def stays(grading: Grading, state: MatrixState) -> bool:
    """Return whether a finished grading's matrix stays as it is: people may change tags, strata and what tools say."""
    by_tools = state.measure is Measure.COST and basis_of(grading, state.filters.view) is Basis.RELATIVE
    return is_counted(state.filters) and not by_tools and state.filters.split is not Split.EFFECT


def _counted(grading: Grading, state: MatrixState) -> Matrix:
    costs = matrix_costs(grading, state.filters) if state.measure is Measure.COST else None
    counts, split = matrix_counts(grading, state.filters), state.filters.split
    sums = matrix_sums(grading, state.filters)
    if split is Split.NOTHING:
        return matrix_of(counts, state.order, costs, sums=sums)
    names = {name for cell in counts for name in cell}
    parts = {actual: _part(actual) for _, actual in counts} if split is Split.ARGUMENTS else {}
    called = {name: part for name, part in parts.items() if part}
    blocks = {name: block_of(name, split) for name in names} if split is Split.EFFECT else {}
    expected = _value_parts(grading, state.filters, counts) if split is Split.VALUE else {}
    return matrix_of(counts, state.order, costs, parts=called, blocks=blocks, row_parts=expected, sums=sums)


_held = lru_cache(maxsize=MOST_HELD)(_counted)


def _value_parts(grading: Grading, filters: Filters, counts: Iterable[tuple[str, str]]) -> dict[str, Part]:
    """Return the part that each expected class is, in the order of the values."""
    places = {value: place for place, value in enumerate(gold_values(grading, filters.split_argument).parts)}
    parts = {expected: expected_part_of(expected, filters.split) for expected, _ in counts}
    return {name: Part(whole, value, places[value]) for name, (whole, value) in parts.items() if value}


def _part(actual: str) -> Part | None:
    whole, status = part_of(actual, Split.ARGUMENTS)
    return Part(whole, status, STATUSES.index(status)) if status else None
