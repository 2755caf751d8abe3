"""Compare two runs, and one pair of tools over runs."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

from toolevals.mcp_server.answers import shortened
from toolevals.mcp_server.looking import MOST, Called, Confusion, Expected, confusion_of
from toolevals.mcp_server.rest import RefusedError, Rest

# Runs that a pair's history looks at.
MOST_RUNS = 8


class Change(TypedDict):
    """A layer in both runs: shares of passed cases, the difference with its interval, and the exact test's p."""

    layer: str
    examples: int
    before: float | None
    after: float | None
    difference: float | None
    low: float | None
    high: float | None
    p_value: float | None
    fixed: int
    broken: int


class Moved(TypedDict):
    """An example that one run solved and the other did not."""

    example: str
    expected: str
    called_before: str
    called_after: str
    page: str


class Comparison(TypedDict):
    """Two runs on the examples that both hold with the same gold."""

    baseline: int
    candidate: int
    examples: int
    sentence: str
    details: str
    cautions: list[str]
    changes: list[Change]
    fixed: list[Moved]
    broken: list[Moved]
    page: str


def compare_runs(
    rest: Rest,
    baseline: Annotated[int, "The number of the run before the change."],
    candidate: Annotated[int, "The number of the run after it."],
) -> Comparison:
    """Use when asked whether one run is better or worse than another, or a change helped: the difference, tested.

    Before and after, on the same examples: whether it is significant or may be chance, what was fixed and what broke.
    What may be chance is no improvement: the details say what this size can show.
    """
    path = f"runs/{baseline}/compare/{candidate}/"
    found = rest.get(path)
    return Comparison(
        baseline=baseline,
        candidate=candidate,
        examples=found["examples"],
        sentence=found["sentence"],
        details=found["details"],
        cautions=found["cautions"],
        changes=[_change(layer) for layer in found["layers"] if layer["before"] is not None],
        fixed=_moved(rest, path, "fixed", candidate),
        broken=_moved(rest, path, "broken", candidate),
        page=rest.page("reports:compare", baseline, candidate),
    )


def _change(layer: Any) -> Change:
    interval = layer["interval"] or {"low": None, "high": None}
    return Change(
        layer=layer["name"],
        examples=layer["examples"],
        before=layer["before"],
        after=layer["after"],
        difference=layer["difference"],
        low=interval["low"],
        high=interval["high"],
        p_value=layer["p_value"],
        fixed=layer["fixed"],
        broken=layer["broken"],
    )


def _moved(rest: Rest, path: str, how: str, candidate: int) -> list[Moved]:
    found = rest.get(f"{path}cases/", how=how, limit=MOST)
    return [
        Moved(
            example=row["external_id"],
            expected=row["after"][0]["expected"],
            called_before=shortened(row["before"][0]["actual"]),
            called_after=shortened(row["after"][0]["actual"]),
            page=rest.page("reports:case", candidate, row["after"][0]["case_id"]),
        )
        for row in found["results"][:MOST]
    ]


class PairInRun(TypedDict):
    """A confusion in one run, with the agent and its version of the tools."""

    run: int
    agent: str
    registry: str
    confusion: Confusion


class PairHistory(TypedDict):
    """A pair over the newest runs, the newest first: what was tried for it, and what came of it."""

    expected: str
    called: str
    runs: list[PairInRun]


def pair_history(
    rest: Rest,
    expected: Expected,
    called: Called,
    experiment: Annotated[str, "Only runs of this experiment (its slug). Empty: of all."] = "",
) -> PairHistory:
    """Use when asked how often the last runs mixed up a pair of tools, or whether anyone has tried to fix it.

    The trend, run by run, by agent and version of the tools: whether the mix-up got better or worse.
    """
    rows = rest.get("runs/", experiment=experiment, limit=MOST_RUNS)["results"]
    found: list[PairInRun] = []
    for row in rows:
        try:
            matrix = rest.get(f"runs/{row['number']}/matrix/")
        except RefusedError:
            # Not graded yet.
            continue
        tools = row["agent"]["tools"]
        found.append(
            PairInRun(
                run=row["number"],
                agent=row["agent"]["name"],
                registry=f"{tools['registry']}@{tools['version']}" if tools else "",
                confusion=confusion_of(rest, row["number"], _cell(matrix["cells"], expected, called)),
            )
        )
    return PairHistory(expected=expected, called=called, runs=found)


def _cell(cells: Any, expected: str, called: str) -> Any:
    """Return the cell of a pair; one without cases where the matrix has none."""
    if found := next((each for each in cells if (each["expected"], each["actual"]) == (expected, called)), None):
        return found
    total = sum(each["count"] for each in cells if each["expected"] == expected)
    shares = {"row_share": 0.0 if total else None, "row_share_low": None, "row_share_high": None}
    return {"expected": expected, "actual": called, "count": 0, "row_total": total, **shares}
