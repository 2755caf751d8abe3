"""Tell what a case says in words and calls, as cells of a table.

The message, both sides' calls, and verdicts' reasons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from django.db.models import TextField
from django.db.models.functions import Cast

from labeling.conversation.turns import last_request
from toolevals.grading.values.canonical import canonical, parse

# What `case_texts` reads, from a case grade of `reports.queries.grading.with_gold`.
READ: Final = ("transcript__entry__revision__input", "gold_expectation", "transcript__document", "detail")
# Characters of a cell. Longer text is cut, and ends with an ellipsis. A spreadsheet takes 32,767.
LONGEST_MESSAGE: Final = 2_000
LONGEST_JSON: Final = 10_000
# The documents of so many examples are kept: the trials of one example mostly follow each other.
_KEPT: Final = 256


def case_texts(
    shown: Any, expectation: Mapping[str, Any], transcript: Mapping[str, Any] | None, detail: Mapping[str, Any]
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


def _expected(expectation: Mapping[str, Any]) -> tuple[str, str]:
    due = _due(expectation)
    return _json(due), _json(_first_arguments(due))


def _done(transcript: Mapping[str, Any] | None) -> tuple[str, str]:
    made = (
        None
        if transcript is None
        else [call for each in transcript.get("messages", ()) for call in each.get("calls", ())]
    )
    return _json(made), _json(_first_arguments(made))


def _reasons(detail: Mapping[str, Any]) -> str:
    said = {name: verdict["reason"] for name, verdict in detail.get("verdicts", {}).items() if verdict.get("reason")}
    return _json(said or None)


def _due(expectation: Mapping[str, Any]) -> list[Any] | None:
    """Return the calls of the gold's first alternative, none for no call; None where any call is right."""
    if expectation["kind"] == "some_call":
        return None
    first: Mapping[str, Any] = next(iter(expectation.get("alternatives", ())), {})
    return [*first.get("ordered", ()), *first.get("unordered", ())]


def _first_arguments(calls: Sequence[Mapping[str, Any]] | None) -> Any:
    """Return the arguments of the first call, where it is a single one that can be read."""
    first = calls[0] if calls else {}
    return first.get("arguments", {}) if "tool" in first or ("name" in first and "malformed" not in first) else None


def _json(value: Any) -> str:
    return "" if value is None else _cut(canonical(value), LONGEST_JSON)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
