"""Work out what changed in each parameter of each tool, on the examples that both runs hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from reports.analyses.compared.layers import ALPHA
from reports.run.arguments import ALL_TOGETHER
from toolevals.grading.metrics.clustered import FEWEST_EXAMPLES
from toolevals.grading.metrics.comparison import Comparison, Share, compare_counted, holm

# A tool and one of its parameters.
Parameter = tuple[str, str]


@dataclass(frozen=True, slots=True)
class ParameterDelta:
    """The share of calls to the right tool whose parameter is right, in both runs, paired by example.

    `p_holm` is adjusted over all parameters that are wrong somewhere in either run.
    """

    tool: str
    argument: str
    compared: Comparison
    p_holm: float | None = None

    @property
    def name(self) -> str:
        """Return what the parameter is called, as in the table of wrong arguments."""
        return self.argument or ALL_TOGETHER

    @property
    def stands(self) -> bool:
        """Return whether the change stands after the correction, in examples enough to tell."""
        return self.p_holm is not None and self.p_holm < ALPHA and self.compared.examples >= FEWEST_EXAMPLES

    @property
    def has_moved(self) -> bool:
        """Return whether any example is better or worse in it."""
        return self.compared.improved + self.compared.worsened > 0

    @property
    def moved(self) -> str:
        """Return "regressed" or "improved" where the change stands, else nothing."""
        if not self.stands or not self.compared.difference:
            return ""
        return "regressed" if self.compared.difference < 0 else "improved"


def parameter_deltas(counts: Mapping[Parameter, Mapping[tuple[Share, Share], int]]) -> tuple[ParameterDelta, ...]:
    """Return a row for each parameter, what regressed first, then by how many examples moved.

    `counts` are, by tool and parameter, (right calls, calls) of an example before and after -> how many are like it.
    """
    rows = [ParameterDelta(tool, argument, compare_counted(each)) for (tool, argument), each in counts.items()]
    known = [row for row in rows if row.compared.examples]
    adjusted = holm([row.compared.p_value for row in known])
    found = [replace(row, p_holm=p_value) for row, p_value in zip(known, adjusted, strict=True)]
    return tuple(sorted(found, key=_order))


def parameters_sentence(rows: tuple[ParameterDelta, ...]) -> str:
    """Return which parameters regressed and improved, in a sentence; only where the change stands."""
    parts = []
    for moved in ("regressed", "improved"):
        named = [f"{row.name} of {row.tool}" for row in rows if row.moved == moved]
        if named:
            more = f" and {len(named) - 3:,} more" if len(named) > 3 else ""
            parts.append(f"{', '.join(named[:3])}{more} {moved}.")
    if rows and not any(row.has_moved for row in rows):
        return "No parameter moved."
    return " ".join(parts) or "No parameter’s change stands after the correction."


def _order(row: ParameterDelta) -> tuple[bool, bool, int, str, str]:
    each = row.compared
    return row.moved != "regressed", not row.moved, -each.worsened - each.improved, row.tool, row.argument
