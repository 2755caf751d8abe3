"""Compare two runs, and one pair of tools over runs."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

from toolevals.mcp_server.answers import shortened
from toolevals.mcp_server.looking import MOST, Called, Expected
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
    """Use to decide whether a change helped: two runs on the same examples, an exact test, fixed and broken cases.

    Where the sentence says that it may be chance, it is no improvement: the details say what this size can show.
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
    """The count of cases in which a run called the one tool for the other."""

    run: int
    agent: str
    registry: str
    count: int
    expected_total: int
    share: float | None
    low: float | None
    high: float | None


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
    """Use before changing a description: how often recent runs mixed up this pair, by agent and registry version."""
    rows = rest.get("runs/", experiment=experiment, limit=MOST_RUNS)["results"]
    found: list[PairInRun] = []
    for row in rows:
        try:
            matrix = rest.get(f"runs/{row['number']}/matrix/")
        except RefusedError:
            # Not graded yet.
            continue
        tools = row["agent"]["tools"]
        cells = (each for each in matrix["cells"] if (each["expected"], each["actual"]) == (expected, called))
        cell: Any = next(cells, None)
        total = sum(each["count"] for each in matrix["cells"] if each["expected"] == expected)
        found.append(
            PairInRun(
                run=row["number"],
                agent=row["agent"]["name"],
                registry=f"{tools['registry']}@{tools['version']}" if tools else "",
                count=cell["count"] if cell else 0,
                expected_total=total,
                share=cell["row_share"] if cell else (0.0 if total else None),
                low=cell["row_share_low"] if cell else None,
                high=cell["row_share_high"] if cell else None,
            )
        )
    return PairHistory(expected=expected, called=called, runs=found)
