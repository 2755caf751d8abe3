"""The costs of a matrix: one basis for a whole run, so that its cells add up."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from django.core.cache import cache
from django.db.models import Count, DecimalField, F, Q, Sum
from django.db.models.functions import Cast

from reports.analyses.costs import Basis, Cell, Cost, relative_costs
from reports.filters import Filters, Unit, View
from reports.offered import A_DAY, costs_by_name
from reports.placing import cells_of_cases, filtered_cases, matrix_counts
from toolevals.grading.metrics.classes import collapsed_class
from toolevals.runs.models import Grading, Transcript

# Sums of prices are decimal, so that they are the same in whichever order a database adds them up.
_EXACT: Final = DecimalField(max_digits=38, decimal_places=12)
_SPENT: Final = {
    Basis.PRICE: ("cost", Cast("transcript__cost", _EXACT)),
    Basis.TOKENS: ("tokens_in", Cast(F("transcript__tokens_in") + F("transcript__tokens_out"), _EXACT)),
}


def basis_of(grading: Grading, view: View) -> Basis | None:
    """Return what the run's costs are counted in; None where nothing tells.

    What a conversation took can't be divided over its calls: aligned calls have relative costs only.
    """
    key = f"reports:basis:{grading.pk}"
    said: str | None = cache.get(key)
    if said is None:
        said = next((basis.value for basis, (column, _) in _SPENT.items() if _is_said(grading, column)), "")
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
    elif filters.unit is Unit.MAJORITY or filters.view is View.SET:
        return _costs_of_placed(grading, filters, basis)
    else:
        costs = _costs_of_cells(grading, filters, basis)
    return _collapsed(costs, filters)


def _costs_of_cells(grading: Grading, filters: Filters, basis: Basis) -> dict[Cell, Cost]:
    column, amount = _SPENT[basis]
    rows = filtered_cases(grading, filters).exclude(expected="").order_by().values("expected", "actual")
    known = Count("pk", filter=Q(**{f"transcript__{column}__isnull": False}))
    grouped: Any = rows.annotate(known=known, spent=Sum(amount)).values_list("expected", "actual", "spent", "known")
    return {(expected, actual): Cost(spent, known) for expected, actual, spent, known in grouped if known}


def _costs_of_placed(grading: Grading, filters: Filters, basis: Basis) -> dict[Cell, Cost]:
    amounts: Any = filtered_cases(grading, filters).annotate(spent=_SPENT[basis][1]).values_list("pk", "spent")
    spent: dict[Any, Decimal | None] = dict(amounts)
    found = {}
    for cell, cases in cells_of_cases(grading, filters).items():
        known = [amount for case in cases if (amount := spent.get(case)) is not None]
        if known:
            found[cell] = Cost(sum(known, Decimal(0)), len(known))
    return found


def _collapsed(costs: dict[Cell, Cost], filters: Filters) -> dict[Cell, Cost]:
    found: defaultdict[Cell, Cost] = defaultdict(lambda: Cost(Decimal(0), 0))
    for (expected, actual), cost in costs.items():
        cell = collapsed_class(expected, filters.collapse), collapsed_class(actual, filters.collapse)
        found[cell] += cost
    return dict(found)
