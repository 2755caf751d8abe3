"""The costs of a matrix: one basis for a whole run, so that its cells add up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from django.core.cache import cache
from django.db.models import Count, DecimalField, F, Q, Sum
from django.db.models.functions import Cast

from reports.analyses.costs import Basis, Cell, Cost, relative_costs
from reports.filters.asked import Filters
from reports.filters.offered import A_DAY, costs_by_name
from reports.filters.placing import matrix_counts, placed_cases
from reports.queries.summing import summed
from toolevals.grading.metrics.classes import collapsed_class
from toolevals.runs.counted import PRICE_UNITS, Costs, View
from toolevals.runs.models import Grading, Transcript

# Sums of prices are decimal, so that they are the same in whichever order a database adds them up.
_EXACT: Final = DecimalField(max_digits=38, decimal_places=12)
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
    """Return what the cases of each cell cost, namespaces taken together as asked; a cell of which none says is not in.

    Relative: the called tool's cost by the specs for each call. A set of tools has no cost of its own there.
    """
    basis = basis_of(grading, filters.view)
    if basis is None:
        return {}
    if basis is Basis.RELATIVE:
        fine = replace(filters, collapse=())
        costs = relative_costs(matrix_counts(grading, fine), costs_by_name(grading))
    else:
        sums = summed(grading, filters, costs=True)
        costs = _costs_read(grading, filters, basis) if sums is None else _costs_summed(sums.costs(), basis)
    return _collapsed(costs, filters)


def _costs_summed(costs: Mapping[Cell, Costs], basis: Basis) -> dict[Cell, Cost]:
    if basis is Basis.TOKENS:
        return {cell: Cost(Decimal(tokens), told) for cell, (_, _, told, tokens) in costs.items() if told}
    return {cell: Cost(Decimal(units) / PRICE_UNITS, priced) for cell, (priced, units, _, _) in costs.items() if priced}


def _costs_read(grading: Grading, filters: Filters, basis: Basis) -> dict[Cell, Cost]:
    """Add up what isn't counted beforehand."""
    found: defaultdict[Cell, Cost] = defaultdict(lambda: Cost(Decimal(0), 0))
    for placed in placed_cases(grading, filters):
        known, spent = _spent(basis, placed.to_case)
        grouped: Any = placed.rows.order_by().values_list(*placed.columns).annotate(known=known, spent=spent)
        for *values, count, amount in grouped:
            if count:
                found[placed.cell(tuple(values))] += Cost(amount or Decimal(0), count)
    return dict(found)


def _spent(basis: Basis, to_case: str) -> tuple[Count, Sum]:
    """Return the number of cases that say what they cost, and what they cost."""
    of = f"{to_case}transcript__"
    if basis is Basis.PRICE:
        return Count("pk", filter=Q(**{f"{of}cost__isnull": False})), Sum(Cast(f"{of}cost", _EXACT))
    tokens = Cast(F(f"{of}tokens_in") + F(f"{of}tokens_out"), _EXACT)
    return Count("pk", filter=Q(**{f"{of}tokens_in__isnull": False})), Sum(tokens)


def _collapsed(costs: dict[Cell, Cost], filters: Filters) -> dict[Cell, Cost]:
    if not filters.collapse:
        return costs
    found: defaultdict[Cell, Cost] = defaultdict(lambda: Cost(Decimal(0), 0))
    for (expected, actual), cost in costs.items():
        cell = collapsed_class(expected, filters.collapse), collapsed_class(actual, filters.collapse)
        found[cell] += cost
    return dict(found)
