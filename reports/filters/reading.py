"""Read the filters of an address: the only place that reads these GET parameters."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from reports.analyses.dialects import AGREE, DIFFER
from reports.filters.case_filters import (
    COLUMNS,
    INJECTIONS,
    LATENT,
    LONGEST_CLASS,
    RECORDED,
    STATUSES,
    TEXTS,
    CaseFilter,
    Effect,
    Filters,
    Split,
    choice,
    is_judged,
    number,
    text,
)
from reports.run.analysis import WARNING
from reports.run.arguments import ANY_WRONG, KINDS
from toolevals.grading.dialects.other_verdicts import OURS
from toolevals.grading.engine.case_findings import FAMILIES
from toolevals.grading.values.problems import pointer_to
from toolevals.runs.counts.counted_cases import Unit, View


def read_filters(parameters: Mapping[str, str]) -> Filters:
    """Return the filters that the address asks for; what cannot be meant counts as not given."""
    arguments, tools = text(parameters, "arguments"), text(parameters, "tools")
    split, divider = _split(parameters)
    return Filters(
        **{name: text(parameters, name) for name in TEXTS if name != "arguments"},
        view=choice(View, parameters, "view", View.FIRST),
        unit=choice(Unit, parameters, "unit", Unit.TRIAL),
        arguments=arguments if arguments in STATUSES else "",
        tools=tools if tools in list(Effect) else "",
        turn=number(parameters, "turn"),
        trial=number(parameters, "trial") or None,
        since=_day(parameters, "since"),
        until=_day(parameters, "until"),
        collapse=tuple(sorted({each for each in text(parameters, "collapse", LONGEST_CLASS).split(",") if each})),
        split=split,
        split_argument=divider,
    )


def read_case_filter(parameters: Mapping[str, str]) -> CaseFilter:
    """Return the list of cases that the address asks for."""
    column, status = text(parameters, "column"), text(parameters, "status")
    if not (column in COLUMNS or is_judged(column)) or status not in STATUSES:
        column = status = ""
    and_column, and_status = text(parameters, "and_column"), text(parameters, "and_status")
    if and_column not in COLUMNS or and_status not in STATUSES or and_column == column:
        and_column = and_status = ""
    fault = text(parameters, "fault")
    is_fault = fault in (*KINDS, ANY_WRONG)
    of_parameter = {name: text(parameters, name) for name in ("fault", "tool", "parameter")} if is_fault else {}
    of_parameter |= _of_findings(parameters)
    return CaseFilter(
        filters=read_filters(parameters),
        expected=text(parameters, "expected", LONGEST_CLASS),
        actual=text(parameters, "actual", LONGEST_CLASS),
        mode=text(parameters, "mode"),
        column=column,
        status=status,
        and_column=and_column,
        and_status=and_status,
        ended=text(parameters, "ended"),
        latent=LATENT if parameters.get("latent") == LATENT else "",
        injection=found if (found := text(parameters, "injection")) in INJECTIONS else "",
        warned=found if (found := text(parameters, "warned")) in WARNING else "",
        recorded=found if (found := text(parameters, "recorded")) in RECORDED else "",
        **of_parameter,
        **_of_dialects(parameters),
    )


def _split(parameters: Mapping[str, str]) -> tuple[Split, str]:
    """Return what divides, and the argument that does; by a value nothing divides until its argument is named."""
    split, argument = choice(Split, parameters, "split", Split.NOTHING), text(parameters, "split_argument").strip()
    if split is not Split.VALUE:
        return split, ""
    if argument and not argument.startswith("/"):
        argument = pointer_to(argument.split("."))
    return (split, argument) if argument else (Split.NOTHING, "")


def _of_findings(parameters: Mapping[str, str]) -> dict[str, str]:
    """Return what is to be found in cases; with it, "fault" asks for nothing."""
    family, _, kind = (found := text(parameters, "found")).partition(".")
    if family not in FAMILIES or (kind and kind not in FAMILIES[family]):
        return {}
    return {"fault": "", "parameter": "", "found": found, "tool": text(parameters, "tool")}


def _of_dialects(parameters: Mapping[str, str]) -> dict[str, str]:
    said = text(parameters, "said")
    if said not in (*STATUSES, AGREE, DIFFER) or not text(parameters, "by"):
        return {}
    return {"by": text(parameters, "by"), "beside": text(parameters, "beside") or OURS, "said": said} | {
        "rule": text(parameters, "rule")
    }


def _day(parameters: Mapping[str, str], name: str) -> date | None:
    try:
        return date.fromisoformat(parameters.get(name, ""))
    except ValueError:
        return None
