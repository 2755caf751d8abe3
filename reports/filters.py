"""Which cases of a grading are looked at, as the address says it: the one reading of these GET parameters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import TypeVar
from urllib.parse import urlencode

from reports.analyses.judges import PREFIX
from toolevals.grading.verdicts import VERDICT_NAMES


class View(StrEnum):
    """What is counted: the first call of each case, or each expected call beside the actual one that fits it best."""

    FIRST = "first"
    ALIGNED = "aligned"


# The columns of CaseGrade that hold a verdict, and a verdict's four values.
COLUMNS = VERDICT_NAMES
STATUSES = ("passed", "failed", "unscored", "errored")
LONGEST = 200
_JUDGED = re.compile(rf"{PREFIX}[a-z][a-z0-9_]{{0,49}}")


@dataclass(frozen=True, slots=True)
class Filters:
    """What is counted, and of which strata; empty text filters nothing."""

    view: View = View.FIRST
    bucket: str = ""
    difficulty: str = ""

    @property
    def unfiltered(self) -> bool:
        """True where the counts that were made with the grading answer at once."""
        return not (self.bucket or self.difficulty)

    def parameters(self) -> dict[str, str]:
        """Return what the address says of it."""
        return {
            "view": "" if self.view is View.FIRST else self.view,
            "bucket": self.bucket,
            "difficulty": self.difficulty,
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
    # Why the conversation ended: see `toolevals.runs.endings`.
    ended: str = ""

    @property
    def rubric(self) -> str:
        """The rubric whose judge's verdict is asked for, if one's is."""
        return self.column.removeprefix(PREFIX) if self.column.startswith(PREFIX) else ""

    @property
    def is_cell(self) -> bool:
        return bool(self.expected and self.actual)

    def parameters(self) -> dict[str, str]:
        """Return what the address says of it."""
        own = {name.name: getattr(self, name.name) for name in fields(self) if name.name != "filters"}
        return self.filters.parameters() | own


def read_filters(parameters: Mapping[str, str]) -> Filters:
    """Return the filters that the address asks for."""
    return Filters(
        view=choice(View, parameters, "view", View.FIRST),
        bucket=text(parameters, "bucket"),
        difficulty=text(parameters, "difficulty"),
    )


def read_case_filter(parameters: Mapping[str, str]) -> CaseFilter:
    """Return the list of cases that the address asks for."""
    column, status = text(parameters, "column"), text(parameters, "status")
    if not (column in COLUMNS or _JUDGED.fullmatch(column)) or status not in STATUSES:
        column = status = ""
    return CaseFilter(
        filters=read_filters(parameters),
        expected=text(parameters, "expected"),
        actual=text(parameters, "actual"),
        mode=text(parameters, "mode"),
        column=column,
        status=status,
        ended=text(parameters, "ended"),
    )


def address_query(parameters: Mapping[str, str | int]) -> str:
    """Return the parameters that say something as the query of an address."""
    return urlencode({name: value for name, value in parameters.items() if value})


def text(parameters: Mapping[str, str], name: str) -> str:
    """Return a parameter's text, "" where it is absent or can't be a value in the database."""
    found = parameters.get(name, "")
    return "" if "\0" in found else found[:LONGEST]


def number(parameters: Mapping[str, str], name: str) -> int | None:
    """Return a whole number, or None where there is none."""
    found = parameters.get(name, "")
    return int(found) if found.isascii() and found.isdigit() and len(found) <= 9 else None


Choice = TypeVar("Choice", bound=StrEnum)


def choice(kind: type[Choice], parameters: Mapping[str, str], name: str, default: Choice) -> Choice:
    """Return one of the choices; what is none of them counts as not given."""
    try:
        return kind(parameters.get(name, default))
    except ValueError:
        return default
