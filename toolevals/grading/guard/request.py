"""Defines what a guard is asked, what it must know of what came before, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Self

from toolevals.grading.values.documents import require_valid
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping, JsonObject, JsonValue

NO_RESULT: Final = object()
"""The result of a call that is not made yet."""


@dataclass(frozen=True, slots=True)
class Request:
    """One call that an agent is about to make or, with its `result`, one that was made and whose result was not read.

    Pointers of reasons lead into its document. `arguments` and `result` are any JSON value. Empty text says that the
    caller does not know. `name` is empty where only the key, model, provider and address are asked about.
    """

    name: str = ""
    arguments: JsonValue = field(default_factory=dict)
    result: JsonValue = NO_RESULT
    key: str = ""
    model: str = ""
    provider: str = ""
    address: str = ""
    server: str = ""

    @property
    def has_result(self) -> bool:
        """Tell whether it is the result that is asked about."""
        return self.result is not NO_RESULT

    @classmethod
    def from_document(cls, document: JsonValue) -> Self:
        """Read `request` of `schemas/guard_question.v1.json`. Raises InvalidDocument."""
        require_valid({"request": document}, "guard_question")
        return cls(**document)

    def to_document(self) -> JsonObject:
        """Return the normal form, without what is at its default."""
        said = ("name", "key", "model", "provider", "address", "server")
        document = {name: value for name in said if (value := getattr(self, name))}
        if self.name:
            document["arguments"] = self.arguments
        if self.has_result:
            document["result"] = self.result
        return document


@dataclass(frozen=True, slots=True)
class PastCall:
    """A call that was made earlier in the conversation, with its result where that is known.

    `result` is any JSON value, most often text; `is_error` says that it reports a failure.
    """

    name: str
    arguments: JsonValue = field(default_factory=dict)
    result: JsonValue = NO_RESULT
    is_error: bool = False

    @classmethod
    def from_document(cls, document: JsonMapping) -> Self:
        """Read what `to_document` gives."""
        return cls(**document)

    def to_document(self) -> JsonObject:
        """Return the normal form."""
        document: JsonObject = {"name": self.name, "arguments": self.arguments}
        if self.result is not NO_RESULT:
            document["result"] = self.result
        if self.is_error:
            document["is_error"] = True
        return document


@dataclass(frozen=True, slots=True)
class State:
    """The past of a request, as its caller knows it; None where it does not.

    `calls` are those of the conversation that were made, oldest first; the current request of the user began before
    the call at `request_from`. `user_texts` are the user's own words, None where they are not known. `lists` are values
    that a person has confirmed, by the list's name. The counts are those of the request's key in the last minute,
    without this request.
    `is_late` tells whether the deadline has passed; it is no part of the document.
    """

    calls: tuple[PastCall, ...] = ()
    request_from: int = 0
    user_texts: tuple[str, ...] | None = ()
    lists: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    requests_last_minute: int | None = None
    tokens_last_minute: int | None = None
    tool_calls_last_minute: Mapping[str, int] | None = None
    is_late: Callable[[], bool] | None = field(default=None, compare=False)

    @property
    def request_calls(self) -> tuple[PastCall, ...]:
        """The calls of the current request of the user."""
        return self.calls[self.request_from :] if self.request_from else self.calls

    @classmethod
    def from_document(cls, document: JsonValue, is_late: Callable[[], bool] | None = None) -> Self:
        """Read `state` of `schemas/guard_question.v1.json`. Raises InvalidDocument."""
        require_valid({"request": {}, "state": document}, "guard_question")
        if document.get("request_from", 0) > len(document.get("calls", ())):
            raise InvalidDocument.at("/state/request_from", "is more than there are calls")
        return cls(
            calls=tuple(map(PastCall.from_document, document.get("calls", ()))),
            request_from=document.get("request_from", 0),
            user_texts=_user_texts(document.get("user_texts", ())),
            lists={name: tuple(values) for name, values in document.get("lists", {}).items()},
            requests_last_minute=document.get("requests_last_minute"),
            tokens_last_minute=document.get("tokens_last_minute"),
            tool_calls_last_minute=document.get("tool_calls_last_minute"),
            is_late=is_late,
        )

    def to_document(self) -> JsonObject:
        """Return the normal form, without what is at its default."""
        document: JsonObject = {}
        if self.calls:
            document["calls"] = [call.to_document() for call in self.calls]
        if self.request_from:
            document["request_from"] = self.request_from
        if self.user_texts is None:
            document["user_texts"] = None
        elif self.user_texts:
            document["user_texts"] = list(self.user_texts)
        if self.lists:
            document["lists"] = {name: list(values) for name, values in self.lists.items()}
        for name in ("requests_last_minute", "tokens_last_minute"):
            if (count := getattr(self, name)) is not None:
                document[name] = count
        if self.tool_calls_last_minute is not None:
            document["tool_calls_last_minute"] = dict(self.tool_calls_last_minute)
        return document


def _user_texts(texts: list[str] | None) -> tuple[str, ...] | None:
    return None if texts is None else tuple(texts)


class Reason(NamedTuple):
    """The reason of a rule to refuse, or for which it cannot tell: the rule's id, a pointer, and a sentence."""

    rule: str
    pointer: str
    sentence: str

    def to_document(self) -> dict[str, str]:
        """Return the normal form."""
        return self._asdict()


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer of a guard.

    `reasons` are those of the enforced rules that refuse; there is one where `allowed` is false. `would_refuse` are
    those of the rules in audit. `unanswered` names the rules that could not tell; where the policy fails closed, they
    are among the others as well.
    """

    allowed: bool
    reasons: tuple[Reason, ...] = ()
    would_refuse: tuple[Reason, ...] = ()
    unanswered: tuple[Reason, ...] = ()

    def to_document(self) -> JsonObject:
        """Return the normal form."""
        return {
            "allowed": self.allowed,
            "reasons": [reason.to_document() for reason in self.reasons],
            "would_refuse": [reason.to_document() for reason in self.would_refuse],
            "unanswered": [reason.to_document() for reason in self.unanswered],
        }
