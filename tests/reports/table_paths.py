"""Test where the columns of a table's file lie in a row of its answer in the REST interface: paths with dots."""

from __future__ import annotations


def rate(column: str = "rate", path: str = "rate", *, low: str = "low", high: str = "high") -> dict[str, str]:
    """Return where a rate and its ends lie."""
    return {column: f"{path}.value", f"{column}_low": f"{path}.{low}", f"{column}_high": f"{path}.{high}"}


def ends(column: str, path: str) -> dict[str, str]:
    """Return where the ends of an interval lie."""
    return {f"{column}_low": f"{path}.low", f"{column}_high": f"{path}.high"}


COUNTED = {"passed": "rate.passed"}
TALLY = {
    "episodes": "rate.total",
    "right": "rate.passed",
    "recovered": "recovery.passed",
    "errors": "error_answers",
    **rate(),
}
FIGURE = {
    f"{name}_{part}": f"{name}.{path}"
    for name in ("precision", "recall", "f1")
    for part, path in {
        "before": "before",
        "after": "after",
        "difference": "difference",
        "difference_low": "interval.low",
        "difference_high": "interval.high",
    }.items()
}
MISTAKES = {
    f"{name}_{part}": f"{name}.{part}"
    for name in ("missed", "wrong")
    for part in ("before", "after", "fixed", "broken", "p_value", "p_holm")
}
BOTH_SIDES = {
    f"{name}_{side}": f"{name}.{place}"
    for name in ("support", "predicted")
    for place, side in enumerate(("before", "after"))
}
BESIDE = {**rate("agreement", "agreement"), "kappa": "kappa.value", **ends("kappa", "kappa")}
TIMED = {
    f"{name}_{stat}_{what}": f"{name}_ms.{stat}.{part}"
    for name in ("execution", "step")
    for stat in ("p50", "p95", "p99", "most")
    for what, part in (("ms", "value"), ("case", "case"))
} | {f"{name}_recorded": f"{name}_ms.known" for name in ("execution", "step")}
SPENT = {
    column: f"{name}.{path}"
    for name in ("tokens_in", "tokens_out", "cost")
    for column, path in (
        (name, "total"),
        (f"{name}_recorded", "known"),
        (f"{name}_most", "most.value"),
        (f"{name}_most_case", "most.case"),
    )
}
DELTA = {**ends("before", "before_interval"), **ends("after", "after_interval"), **ends("difference", "interval")}
JUDGED = {
    **{
        f"{side}_{what}": f"{side}.{what}"
        for side in ("before", "after")
        for what in ("judge", "model", "version", "flag")
    },
    **{name: f"passed.{name}" for name in ("before", "after", "difference")},
    **{f"mean_{name}": f"mean.{name}" for name in ("before", "after", "difference")},
    **ends("difference", "passed.interval"),
    **ends("mean_difference", "mean.interval"),
}
TREND = {"passed": "passed", "total": "total", "rate": "value", "rate_low": "low", "rate_high": "high"}
