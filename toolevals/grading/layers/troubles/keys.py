"""Lists the keys and words of JSON answers that tell of trouble, and keeps what is known of the call that is answered.

Keys are compared in small letters without `_`, `-` and spaces; those of other languages are as programs write them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from toolevals.grading.layers.troubles.classes import ERROR_WORDS
from toolevals.grading.values import Call, ToolCall
from toolevals.grading.values.effects_by_name import Effect, effect_of_name, words_of_name


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


_ERROR_KEY: Final = re.compile(
    rf"(?:{ERROR_WORDS}|err|exception|fault)(?:e?s|message|msg|meldung|codes?|no|description|type|details?|string)?|"
    r".*errors?"
)
MESSAGE_KEYS: Final = _names(
    "message msg body detail details description title reason cause text txt info hint meldung nachricht grund "
    "mensaje motivo mensagem messaggio detalle raison сообщение 消息 信息 メッセージ 메시지"
)
# Hold an HTTP status, whatever stands beside it; the plain ones where words explain it.
CODE_KEYS: Final = _names("http statuscode httpstatus httpcode httpstatuscode responsecode errorcode errorstatus")
PLAIN_CODE_KEYS: Final = _names("status code errno codigo código codice kod err error fehler erreur")
STATUS_KEYS: Final = _names("status result outcome type state estado")
_ASIDE = (
    "timestamp time requestid traceid elapsedms tookms took duration durationms page perpage pagesize limit offset "
    "query filter filters cursor nextcursor nextpage hasmore nexttoken version apiversion meta metadata success ok "
    "links code "
)
# What comes with an error without being an answer, and what comes with an empty answer beside a message.
META_KEYS: Final = _names(
    _ASIDE + "ts path correlationid instance type doc docs documentationurl help link retryafter retryafterms "
    "retryafterseconds retryable retry jsonrpc id locations extensions stack service operation method moreinfo field "
    "fields param parameter expected received got allowed value server host region url status state errors warnings "
    "iserror grpcstatus"
)
QUIET_KEYS: Final = _names(_ASIDE + "count total statuscode from to sort order q pages totalpages shards")
FAILURE_WORDS: Final = _names(
    "error errored err failed failure fail ko nok exception timeout timedout rejected denied declined refused "
    "unavailable"
)
# Of a thing that was asked for, the other words may well be its own state.
SURE_FAILURES: Final = _names("error errored exception ko nok")
PARTIAL_KEYS: Final = _names("partial ispartial partialresults truncated istruncated incomplete isincomplete")
PARTIAL_WORDS: Final = _names("partial partialsuccess incomplete multistatus")
# Lists or counts of what did not work, beside what did.
FAILED_PARTS: Final = _names(
    "failed failures rejected notfound unavailable failedcount errorcount faileditems failedids"
)
# With more to come, what is here is a page and no failure.
NEXT_PAGE: Final = _names("next nextcursor nextpage nexttoken nextpagetoken nextlink continuation hasmore")
NO_ERROR: Final = _names("none null no ok success false 0 n/a")
# A caller that asks for these is answered by faults; in the singular.
_FAULTS: Final = _names(
    "error fault log alert alarm issue incident problem warning diagnose diagnostic exception failure lint validate "
    "validation verify test build ci health monitor uptime ping outage defect bug violation conflict vulnerability "
    "audit trace job pipeline deployment"
)
ENVELOPES: Final = ("result", "data", "response", "body", "output", "results", "content")
EMPTY_VALUES: Final[tuple[Any, ...]] = (None, "", [], {}, 0, False)
# So many values of a call's arguments, up to this length, are known again in an answer.
_MOST_ECHOED, LONGEST_EXCERPT = 200, 200


@dataclass(frozen=True, slots=True)
class CallFacts:
    """The facts about the call: its tool's effect and words, and the values of its arguments."""

    effect: Effect
    words: tuple[str, ...] = ()
    echo: frozenset[str] = frozenset()

    @classmethod
    def of(cls, call: Call | None, effect: Effect | None) -> CallFacts:
        """Return what is known of a call; its tool's effect by its name where `effect` is not given."""
        if call is None or not call.name:
            return cls(effect or "unknown")
        echo = _leaves(call.arguments) if isinstance(call, ToolCall) else frozenset[str]()
        return cls(effect or effect_of_name(call.name), words_of_name(call.name), echo)

    @property
    def about_faults(self) -> bool:
        """Return whether the tool was asked for faults, so that faults in its answer are none of its own."""
        return about_faults(self.words)

    def echoes(self, value: object) -> bool:
        """Return whether a value of the answer is one of the call's arguments."""
        return isinstance(value, str | int | float) and str(value).casefold() in self.echo


def plain_key(key: str) -> str:
    """Return a key in the form in which keys are compared."""
    return key.casefold().replace("_", "").replace("-", "").replace(" ", "")


def is_error_key(plain: str) -> bool:
    """Tell whether a key in plain form holds an error: `error`, `userErrors`, `Fehler`."""
    return _ERROR_KEY.fullmatch(plain) is not None


def about_faults(words: Iterable[str]) -> bool:
    """Tell whether words of a tool's name, or of a key, ask for faults."""
    return any(word in _FAULTS or word.removesuffix("s") in _FAULTS for word in words)


def pointer_to(*keys: str | int) -> str:
    """Return the JSON pointer of these keys."""
    return "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in keys)


def _leaves(value: object) -> frozenset[str]:
    found: set[str] = set()
    waiting = [value]
    while waiting and len(found) < _MOST_ECHOED:
        each = waiting.pop()
        if isinstance(each, dict | list | tuple):
            waiting += list(each.values() if isinstance(each, dict) else each)[:_MOST_ECHOED]
        elif isinstance(each, str) and len(each) <= LONGEST_EXCERPT:
            found.add(each.casefold())
        elif isinstance(each, int | float) and not isinstance(each, bool) and abs(each) < 1e300:
            found.add(str(each))
    return frozenset(found)
