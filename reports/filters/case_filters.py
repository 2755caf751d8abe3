"""Hold the choice of a grading's cases by an address, and read it: the only place that reads these parameters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import date
from enum import StrEnum
from typing import Final, TypeVar
from urllib.parse import urlencode

from reports.dialects.analysis import AGREE, DIFFER
from reports.judges.analysis import PREFIX
from reports.run.analysis import WARNING
from reports.run.findings import ANY_WRONG, KIND_WORDS, KINDS, WORDS
from toolevals.grading.dialects.other_verdicts import OURS
from toolevals.grading.engine.case_findings import FAMILIES
from toolevals.grading.engine.case_metrics import METRICS
from toolevals.grading.values.problems import pointer_to
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.grading.values.verdicts import InjectionKind
from toolevals.json_types import JsonObject
from toolevals.runs.aggregates.cube import Unit, View
from toolevals.workspace.requests import whole_number


class Effect(StrEnum):
    """The effects of the expected tool, as its owner declares them."""

    READ = "read"
    WRITE = "write"
    UNSAID = "unsaid"


class Split(StrEnum):
    """The property that divides each class of the matrix: see `reports.filters.dividing`."""

    NOTHING = ""
    ARGUMENTS = "arguments"
    EFFECT = "effect"
    VALUE = "value"


# The columns of CaseGrade that hold a verdict, and a verdict's four values.
COLUMNS = (*VERDICT_NAMES, *METRICS)
STATUSES = ("passed", "failed", "unscored", "errored")
LATENT: Final = "selection"
# Before a source of gold: all cases but those.
NOT: Final = "not:"
ANY_INJECTION: Final = "any"
RECORDED: Final = ("success", "failure")
INJECTIONS: Final = (ANY_INJECTION, *InjectionKind)
LONGEST = 200
# A class of the matrix may be a set of tools.
LONGEST_CLASS = 4000
_JUDGED = re.compile(rf"{PREFIX}[a-z][a-z0-9_]{{0,49}}")

# Strata as the example says them today, by their names; bucket and difficulty stand with the case as it was graded.
EXAMPLE_STRATA: Final = ("no_call_kind", "edge_case", "error_class", "effect", "category")
# The filters that are plain text, in the order in which they are offered, and what people call them.
TEXTS: Final = {
    "bucket": "bucket",
    "difficulty": "difficulty",
    "edge_case": "edge case",
    "no_call_kind": "kind of no call",
    "error_class": "error class",
    "effect": "effect",
    "category": "category",
    "gold": "gold",
    "tag": "failure tag",
    "tagged": "tagged",
    "arguments": "arguments",
    "argument": "argument",
    "value": "value",
    "issue": "issue",
}
# What both kinds of tools filters are called, for the chips.
TITLES: Final = TEXTS | {"tools": "tools", "turn": "turn", "trial": "trial", "since": "since", "until": "until"}


@dataclass(frozen=True, slots=True)
class Filters:
    """The choice of what is counted, and of which cases; an empty field filters nothing.

    `gold` is where the gold comes from, or NOT and where not, `tag` a failure tag, `tagged` a tag of the team's own,
    `arguments` the verdict on them, `argument` and `value` a JSON pointer into a call's arguments and the JSON value
    called with, `issue` the id of an issue, `tools` the effects of the expected tool, `turn` how many messages the user
    has written, `trial` which trial, from 1, `since` and `until` the days (UTC) on which the agent answered.
    """

    view: View = View.FIRST
    bucket: str = ""
    difficulty: str = ""
    unit: Unit = Unit.TRIAL
    edge_case: str = ""
    no_call_kind: str = ""
    error_class: str = ""
    effect: str = ""
    category: str = ""
    gold: str = ""
    tag: str = ""
    tagged: str = ""
    arguments: str = ""
    argument: str = ""
    value: str = ""
    issue: str = ""
    tools: str = ""
    turn: int | None = None
    trial: int | None = None
    since: date | None = None
    until: date | None = None
    # Namespaces, or effects where these divide, whose tools are one class: none of them, some by name, or "*".
    collapse: tuple[str, ...] = ()
    split: Split = Split.NOTHING
    # A JSON pointer: the argument whose value in the gold divides, with Split.VALUE.
    split_argument: str = ""

    @property
    def conditions(self) -> dict[str, str]:
        """Return what is asked of cases, by parameter: everything but how they are counted."""
        found = {name: str(value) for name in TITLES if (value := getattr(self, name)) not in ("", None)}
        return found if "argument" in found else {name: each for name, each in found.items() if name != "value"}

    def without(self, name: str) -> Filters:
        """Return the same without one condition; an argument goes with its value."""
        names = {name, "value"} if name == "argument" else {name}
        empty: JsonObject = {each.name: each.default for each in fields(self) if each.name in names}
        return replace(self, **empty)

    def parameters(self) -> dict[str, str]:
        """Return what the address says of it."""
        return {
            "view": "" if self.view is View.FIRST else self.view,
            "unit": "" if self.unit is Unit.TRIAL else self.unit,
            "collapse": ",".join(self.collapse),
            "split": self.split,
            "split_argument": self.split_argument,
            **self.conditions,
        }


@dataclass(frozen=True, slots=True)
class CaseFilter:
    """A list of cases: of a cell, of a failure mode, of one status of one column, of one end. Empty filters nothing.

    A column is a verdict of the rules, or a judge's: `judged:` and the rubric's name.
    """

    filters: Filters = field(default_factory=Filters)
    expected: str = ""
    actual: str = ""
    mode: str = ""
    column: str = ""
    status: str = ""
    # A second verdict of the rules that they must have, too.
    and_column: str = ""
    and_status: str = ""
    # Why the conversation ended: see `toolevals.runs.aggregates.spending`.
    ended: str = ""
    # "selection": the answer is right though that failed.
    latent: str = ""
    # One way in which an argument of a tool is wrong, or any: see `reports.run.findings`.
    fault: str = ""
    tool: str = ""
    parameter: str = ""
    # What was found in cases: a family and a kind of `engine.case_findings`, of one tool (`tool`) or of all.
    found: str = ""
    # A layer that reads prose and that failed in cases whose outcome passed.
    warned: str = ""
    # What another tool says: the key of one (or ours), beside which other, whether it passed, failed, ..., or they
    # agree or differ, and for which reason (see `reports.dialects.analysis`).
    by: str = ""
    beside: str = ""
    said: str = ""
    rule: str = ""
    # Cases that hold a text that speaks to their judge: of one kind, or "any".
    injection: str = ""
    # What the source of a recorded run rewarded: a key of `reports.run.recorded.REWARDS`.
    recorded: str = ""

    @property
    def rubric(self) -> str:
        """The rubric whose judge's verdict is asked for, if one's is."""
        return self.column.removeprefix(PREFIX) if self.column.startswith(PREFIX) else ""

    @property
    def metric(self) -> str:
        """The metric that is asked for, if the column is one's."""
        return self.column if self.column in METRICS else ""

    @property
    def fault_words(self) -> str:
        """The fault as it is read."""
        return KIND_WORDS.get(self.fault, "")

    @property
    def found_kind(self) -> tuple[str, str]:
        """The family and the kind of what was found; the kind is "" where any will do."""
        family, _, kind = self.found.partition(".")
        return family, kind

    @property
    def found_words(self) -> str:
        """Return what was found as it is read."""
        family, kind = self.found_kind
        return ": ".join(filter(None, (WORDS.get(family, ""), kind.replace("_", " "))))

    @property
    def is_cell(self) -> bool:
        return bool(self.expected and self.actual)

    def parameters(self) -> dict[str, str]:
        """Return what the address says of it."""
        own = {name.name: getattr(self, name.name) for name in fields(self) if name.name != "filters"}
        return self.filters.parameters() | own


def is_judged(name: str) -> bool:
    """Return whether a name is that of a judge's column: `judged:` and its rubric."""
    return _JUDGED.fullmatch(name) is not None


def address_query(parameters: Mapping[str, str | int]) -> str:
    """Return the parameters that say something as the query of an address."""
    return urlencode({name: value for name, value in parameters.items() if value})


def text(parameters: Mapping[str, str], name: str, longest: int = LONGEST) -> str:
    """Return a parameter's text, "" where it is absent or can't be a value in the database."""
    found = parameters.get(name, "")
    return "" if "\0" in found else found[:longest]


def number(parameters: Mapping[str, str], name: str) -> int | None:
    """Return a whole number, or None where there is none."""
    return whole_number(parameters.get(name, ""))


def verdict_column(parameters: Mapping[str, str], name: str) -> str:
    """Return the verdict that a parameter names, by default the outcome."""
    column = text(parameters, name)
    return column if column in VERDICT_NAMES else "outcome"


Choice = TypeVar("Choice", bound=StrEnum)


def choice(kind: type[Choice], parameters: Mapping[str, str], name: str, default: Choice) -> Choice:
    """Return one of the choices; what is none of them counts as not given."""
    try:
        return kind(parameters.get(name, default))
    except ValueError:
        return default


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
    # A family that names no kinds has those of the grading: the ids of rules.
    if family not in FAMILIES or (kind and FAMILIES[family] and kind not in FAMILIES[family]):
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
