"""Define the tables of cases, and tell what a case says in words, calls and states, as their cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast

from labeling.conversation.turns import last_request
from reports.cases.analysis import state_differences
from reports.cases.queries import KEYSET_PAGE
from toolevals.grading.values.canonical import canonical, parse
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.json_types import JsonMapping
from toolevals.presentation.table import Column, Table, in_file
from toolevals.runs.models import CaseGrade, Grading

# The ids that join a row with labels, grades, judges' scores and traces; trials from 0.
WHOSE: Final = (
    Column("case_id", UUID),
    Column("transcript_id", UUID),
    Column("revision_id", UUID),
    Column("external_id"),
    Column("trial", int),
)


def whose(case: str, at: str = "") -> tuple[Column, ...]:
    """Return the same where they lie in a model: `case` is the id of its case, and `at` leads to the case."""
    entry = f"{at}transcript.entry"
    ids = f"{at}transcript_id", f"{entry}.revision_id", f"{entry}.revision.example.external_id", f"{at}transcript.trial"
    return tuple(replace(column, value=path) for column, path in zip(WHOSE, (case, *ids), strict=True))


CASES: Final = Table(
    "GradedCase",
    "One graded case, as a row of `cases.csv`.",
    (
        *whose("pk"),
        *(Column(name, None) for name in ("bucket", "difficulty", "expected", "actual", *VERDICT_NAMES)),
        *(Column(name, None) for name in ("tag", "mode", "decided_by", "injection")),
        Column("ended", str, "transcript.ended"),
        Column("answered_by", str, "transcript.model"),
        *(Column(f"tokens_{of}", int, f"transcript.tokens_{of}", optional=True) for of in ("in", "out", "cached")),
        *(Column(name, float, f"transcript.{name}", optional=True) for name in ("cost", "latency_ms")),
    ),
)
# What a case says, from `reports.cases.table`.
TEXTS: Final = Table(
    "CaseTexts",
    "What a case says.",
    (
        Column("message"),
        Column("expected_calls", words="JSON, as are the next four."),
        *(Column(name) for name in ("expected_arguments", "actual_calls", "actual_arguments", "reasons")),
    ),
)
JUDGED: Final = Table(
    "JudgedRow",
    "One judge's verdict on one case, as a row of `judged.csv`.",
    (
        *WHOSE,
        Column("rubric"),
        Column("version", int),
        Column("judge"),
        Column("model"),
        Column("pinned", bool),
        Column("status"),
        Column("value", float, optional=True),
        *(Column(name) for name in ("reason", "flag", "injection")),
    ),
)
DIFFERENCES: Final = Table(
    "StateDifference",
    "One place where the state is another than the expected one; values as JSON, empty where there is nothing.",
    tuple(Column(name) for name in ("kind", "record", "path", "expected", "actual")),
)
STATE: Final = Table(
    "StateCase",
    "One case that left another state: its rows of `state.csv`.",
    (*WHOSE, Column("differences", DIFFERENCES, many="list", only="answer"), *in_file(DIFFERENCES.columns)),
)
REMARKS: Final = Table(
    "Remark",
    "A tag or a note, as a row of `remarks.csv`; `case_id` is null where this grading has no grade of the trial.",
    (
        replace(WHOSE[0], optional=True),
        *WHOSE[1:],
        Column("remark_id", UUID),
        Column("kind", ("tag", "note")),
        Column("text"),
        Column("person"),
        Column("created_at", datetime),
    ),
)


def state_cases(grading: Grading) -> QuerySet[CaseGrade]:
    """Return the cases whose calls left another state than the expected one, in no order yet."""
    return CaseGrade.objects.filter(grading=grading, execution="failed")


def failed_by_state(grading: Grading) -> QuerySet[CaseGrade]:
    """Return the same with their examples loaded, in the order of their ids."""
    cases = state_cases(grading).order_by("pk").select_related("transcript__entry__revision__example")
    return cases.defer("transcript__document", "transcript__entry__revision__input")


def state_of(case: CaseGrade) -> tuple[tuple[Any, ...], list[tuple[Any, ...]]]:
    """Return whose differences they are, and each: together the columns of `cases.STATE`."""
    transcript = case.transcript
    revision = transcript.entry.revision
    whose = case.pk, transcript.pk, revision.pk, revision.example.external_id, transcript.trial
    return whose, [tuple(each) for each in state_differences(case.detail.get("details", {}))]


def state_rows(grading: Grading) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each difference, in the order of `cases.STATE`, a page of cases at a time."""
    cases = failed_by_state(grading)
    page = list(cases[:KEYSET_PAGE])
    while page:
        for whose, differences in map(state_of, page):
            for difference in differences:
                yield (*whose, *difference)
        page = list(cases.filter(pk__gt=page[-1].pk)[:KEYSET_PAGE])


# What `case_texts` reads, from a case grade of `reports.cases.queries.with_gold`.
READ: Final = ("transcript__entry__revision__input", "gold_expectation", "transcript__document", "detail")
# Characters of a cell. Longer text is cut, and ends with an ellipsis. A spreadsheet takes 32,767.
LONGEST_MESSAGE: Final = 2_000
LONGEST_JSON: Final = 10_000
# The documents of so many examples are kept: the trials of one example mostly follow each other.
_KEPT: Final = 256


def case_texts(
    shown: Any, expectation: JsonMapping, transcript: JsonMapping | None, detail: JsonMapping
) -> tuple[str, ...]:
    """Return the cells of `cases.TEXTS` from an example's input, its gold, what the agent did, and its verdicts."""
    return _message(shown), *_expected(expectation), *_done(transcript), _reasons(detail)


def unread_columns() -> list[Cast]:
    """Return the columns of READ for `values_list` as the texts that the database keeps, for `texts_of_unread`."""
    return [Cast(name, TextField()) for name in READ]


def texts_of_unread(shown: str, expectation: str, transcript: str | None, detail: str) -> tuple[str, ...]:
    """Return the cells of `case_texts` from the documents' texts. The trials of an example share what is read of it."""
    done = _done(None if transcript is None else parse(transcript))
    return _message_in(shown), *_expected_in(expectation), *done, _reasons_in(detail)


@lru_cache(_KEPT)
def _message_in(text: str) -> str:
    return _message(parse(text))


@lru_cache(_KEPT)
def _expected_in(text: str) -> tuple[str, str]:
    return _expected(parse(text))


@lru_cache(_KEPT)
def _reasons_in(text: str) -> str:
    return _reasons(parse(text))


def _message(shown: Any) -> str:
    return _cut(last_request(shown), LONGEST_MESSAGE)


def _expected(expectation: JsonMapping) -> tuple[str, str]:
    due = _due(expectation)
    return _json(due), _json(_first_arguments(due))


def _done(transcript: JsonMapping | None) -> tuple[str, str]:
    made = (
        None
        if transcript is None
        else [call for each in transcript.get("messages", ()) for call in each.get("calls", ())]
    )
    return _json(made), _json(_first_arguments(made))


def _reasons(detail: JsonMapping) -> str:
    said = {name: verdict["reason"] for name, verdict in detail.get("verdicts", {}).items() if verdict.get("reason")}
    return _json(said or None)


def _due(expectation: JsonMapping) -> list[Any] | None:
    """Return the calls of the gold's first alternative, none for no call; None where any call is right."""
    if expectation["kind"] == "some_call":
        return None
    first: JsonMapping = next(iter(expectation.get("alternatives", ())), {})
    return [*first.get("ordered", ()), *first.get("unordered", ())]


def _first_arguments(calls: Sequence[JsonMapping] | None) -> Any:
    """Return the arguments of the first call, where it is a single one that can be read."""
    first = calls[0] if calls else {}
    return first.get("arguments", {}) if "tool" in first or ("name" in first and "malformed" not in first) else None


def _json(value: Any) -> str:
    return "" if value is None else _cut(canonical(value), LONGEST_JSON)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
