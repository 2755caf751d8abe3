"""Read the costs of a matrix: one basis for a whole run, so that its cells add up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from django.core.cache import cache
from django.db.models import Count, DecimalField, F, Q, Sum
from django.db.models.functions import Cast

from reports.analyses.costs import Basis, Cell, Cost, relative_costs
from reports.filters.case_filters import Filters
from reports.filters.dividing import classing_of
from reports.filters.matrix_cells import placed_cases, tool_counts
from reports.filters.offered import A_DAY, costs_by_name
from reports.queries.summing import summed
from toolevals.runs.counts.counted_cases import PRICE_UNITS, Costs, View
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


def matrix_costs(grading: Grading, filters: Filters) -> dict[Cell, Cost]:
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


def _costs_summed(costs: Mapping[Cell, Costs], basis: Basis) -> dict[Cell, Cost]:
    if basis is Basis.TOKENS:
        return {cell: Cost(Decimal(tokens), told) for cell, (_, _, told, tokens) in costs.items() if told}
    return {cell: Cost(Decimal(units) / PRICE_UNITS, priced) for cell, (priced, units, _, _) in costs.items() if priced}


def _costs_read(grading: Grading, filters: Filters, basis: Basis) -> dict[str, dict[Cell, Cost]]:
    """Add up what isn't counted beforehand."""
    costs: defaultdict[str, dict[Cell, Cost]] = defaultdict(dict)
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
