"""Tell what a case's findings decide: the status and value of each verdict, the failure mode and the tag."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from toolevals.grading.values.value_classes import value_class
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.grading.values.verdicts import CALLS, FailureTag, Status


class Findings(NamedTuple):
    """All that the verdicts on calls depend on, in numbers.

    `selection_mode` says what is wrong with the tools. Of the `total` expected calls `matched` were made without a
    fault, `misshapen` with another shape, `broken` against their schema, `bad` with a fault or against their schema;
    `argument_mode` names the first fault. `judge` says that a judge has still to see an argument. `checked` counts all
    calls whose schema is known, `failing` those that break it.
    """

    selection_mode: str
    checked: int
    failing: int
    total: int = 0
    matched: int = 0
    misshapen: int = 0
    broken: int = 0
    bad: int = 0
    argument_mode: str = ""
    judge: bool = False


@value_class
class Decision:
    """Statuses and values by the names of VERDICT_NAMES, and what went wrong.

    `tag` and `mode` are the outcome's, `call_mode` is what is wrong with the calls, whatever decides. `said_by` is the
    verdict whose reason is the outcome's: CALLS, CUT, or the name of a layer.
    """

    statuses: Mapping[str, Status]
    values: Mapping[str, float | None]
    tag: str
    mode: str
    call_mode: str = ""
    said_by: str = CALLS

    def cut_off(self) -> Decision:
        """Return the decision on a conversation that was cut before its end: failed, whatever it had done by then."""
        if self.statuses["outcome"] == "errored":
            return self
        mode, said_by = (self.mode, self.said_by) if self.mode else ("cut_off", CUT)
        statuses: dict[str, Status] = {**self.statuses, "outcome": "failed"}
        return Decision(statuses, {**self.values, "outcome": 0.0}, tag_of(mode), mode, self.call_mode, said_by)


# What the outcome of a conversation that was cut says.
CUT = "cut"


@lru_cache(maxsize=4096)
def decision_of(found: Findings) -> Decision:
    """Return what the findings decide. The same few findings come again and again."""
    given: dict[str, tuple[Status, float | None]] = dict.fromkeys(VERDICT_NAMES, ("unscored", None))
    given["selection"] = ("failed", 0.0) if found.selection_mode else ("passed", 1.0)
    if found.checked:
        given["schema"] = _share_of(found.failing, found.checked)
    mode = found.selection_mode
    if found.total and mode:
        given["equivalence"] = ("failed", found.matched / found.total)
    elif found.total:
        given["shape"] = _share_of(found.misshapen, found.total)
        given["equivalence"] = _equivalence(found)
        given["arguments"] = _share_of(found.bad, found.total) if found.bad or not found.judge else ("unscored", None)
        mode = ("schema_error" if found.broken else found.argument_mode) if found.bad else ""
    if mode:
        given["outcome"] = ("failed", 0.0)
    elif not found.judge:
        given["outcome"] = ("passed", 1.0)
    return Decision(
        {name: status for name, (status, _) in given.items()},
        {name: value for name, (_, value) in given.items()},
        tag_of(mode),
        mode,
        mode,
    )


def tag_of(mode: str) -> str:
    """Return the tag of a failure mode; none without one."""
    if not mode:
        return ""
    return (FailureTag.MALFORMED_OUTPUT if mode == "malformed_output" else FailureTag.WRONG_ANSWER).value


def _equivalence(found: Findings) -> tuple[Status, float | None]:
    if found.matched < found.total:
        return "failed", found.matched / found.total
    if found.broken:
        return "failed", 1 - found.broken / found.total
    return ("unscored", None) if found.judge else ("passed", 1.0)


def _share_of(failing: int, total: int) -> tuple[Status, float | None]:
    return ("failed", 1 - failing / total) if failing else ("passed", 1.0)
