"""Finds trouble in a JSON answer: an error, failed parts, or nothing in it.

Keys are compared in small letters without `_`, `-` and spaces; those of other languages are as programs write them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from toolevals.grading.layers.troubles.texts import (
    ERROR_WORDS,
    ClassifiedError,
    ErrorClass,
    class_of_code,
    class_of_words,
    error_code,
    http_code,
    trouble_in_text,
)
from toolevals.grading.values import Call, ToolCall
from toolevals.grading.values.problems import pointer_to
from toolevals.grading.values.tools import Effect, effect_of_name, words_of_name
from toolevals.json_types import JsonMapping, JsonObject


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


Body = JsonObject


def trouble_in_body(body: Body | list[Any], call_facts: CallFacts, *, is_error: bool = False) -> ClassifiedError | None:
    """Return what is wrong with a JSON answer; None where nothing is."""
    if (blocks := _text_blocks(body)) is not None:
        flagged = is_error or (isinstance(body, dict) and body.get("isError") is True)
        text = "\n".join(blocks)
        return (
            trouble_in_text(text, is_error=flagged, about_faults=call_facts.about_faults) if text or flagged else None
        )
    if isinstance(body, list):
        return _failed_elements(body, call_facts, "") or _empty_list(body, call_facts)
    return _in_object(body, call_facts, nested=False)


def _text_blocks(body: Body | list[Any]) -> list[str] | None:
    """Return the texts of an MCP result or of content blocks, None of all else."""
    blocks = body.get("content") if isinstance(body, dict) else body
    if not isinstance(blocks, list) or not blocks or (isinstance(body, dict) and len(body) > 4):
        return None
    texts = [block["text"] for block in blocks if isinstance(block, dict) and block.get("type") == "text"
             and isinstance(block.get("text"), str)]  # fmt: skip
    return texts if len(texts) == len(blocks) else None


def _in_object(body: Body, call_facts: CallFacts, *, nested: bool) -> ClassifiedError | None:
    errors = Errors(body, call_facts)
    if (found := errors.found() or _partial(body, errors.plain, call_facts)) is not None:
        return found
    for key in () if nested else ENVELOPES:
        inner = body.get(key)
        if isinstance(inner, dict) and (found := _in_object(inner, call_facts, nested=True)) is not None:
            others = (value for name, value in body.items() if name != key)
            if found.error_class == "empty" and any(isinstance(value, dict | list) and value for value in others):
                continue
            return found._replace(pointer=f"/{key}{found.pointer}")
    return None if nested and not body else _empty_object(body, call_facts)


def _partial(body: Body, plain: Mapping[str, str], call_facts: CallFacts) -> ClassifiedError | None:
    has_next = any(body[plain[name]] not in EMPTY_VALUES for name in NEXT_PAGE & plain.keys())
    writes = call_facts.effect == "writes"
    for name, key in plain.items():
        value = body[key]
        if (
            (name in PARTIAL_KEYS and value is True and not has_next)
            or (name in ("status", "result") and isinstance(value, str) and plain_key(value) in PARTIAL_WORDS)
            or (name in CODE_KEYS | PLAIN_CODE_KEYS and http_code(value) in (206, 207))
            or (name in ("shards", "timedout") and (value is True or (isinstance(value, dict) and value.get("failed"))))
        ):
            return ClassifiedError("partial", f"{key}: {value}"[:200], pointer_to([key]))
        some_failed = name in FAILED_PARTS and _counts(value) and not call_facts.about_faults
        if some_failed and (writes or (isinstance(value, list) and name in ("notfound", "unavailable", "failed"))):
            went_well = any(other != key and _counts(worth) for other, worth in body.items())
            words = words_of({}, value) if isinstance(value, list) else ""
            error_class: ErrorClass = "partial" if went_well else class_of_words(words)
            return ClassifiedError(error_class, words or f"{key}: {value}"[:200], pointer_to([key]))
        if isinstance(value, list) and not is_error_key(name) and (found := _failed_elements(value, call_facts, key)):
            return found
    return None


def _counts(value: object) -> bool:
    return (type(value) is int and value > 0) or (isinstance(value, list) and bool(value))


def _failed_elements(rows: list[Any], call_facts: CallFacts, key: str) -> ClassifiedError | None:
    """Return what is wrong where elements of a batch failed: `partial`, or the first one's class where all did."""
    objects = [(place, row) for place, row in enumerate(rows) if isinstance(row, dict)]
    if call_facts.about_faults:
        return None
    failed = [
        (place, found)
        for place, row in objects
        if (found := Errors(row, call_facts).found(is_element=True)) is not None
    ]
    if not failed:
        return None
    place, found = failed[0]
    error_class: ErrorClass = found.error_class if len(failed) == len(rows) else "partial"
    return ClassifiedError(error_class, found.words, f"{pointer_to([key]) if key else ''}/{place}{found.pointer}")


def _empty_list(rows: list[Any], call_facts: CallFacts) -> ClassifiedError | None:
    if call_facts.about_faults or not all(item in EMPTY_VALUES for item in rows):
        return None
    return ClassifiedError("empty", str(rows)[:200])


def _empty_object(body: Body, call_facts: CallFacts) -> ClassifiedError | None:
    """Return `empty` where all that could hold something is empty: `{}`, `{"results": [], "total": 0}`."""
    if call_facts.about_faults:
        return None
    empty = None if body else "{}"
    for key, value in body.items():
        plain = plain_key(key)
        is_quiet = plain in QUIET_KEYS or isinstance(value, bool) or call_facts.echoes(value)
        if is_quiet or is_error_key(plain) or (isinstance(value, str) and plain_key(value) in NO_ERROR):
            continue
        if value not in EMPTY_VALUES or about_faults(words_of_name(key)):
            return None
        if value is None or isinstance(value, dict | list):
            empty = empty or key
    if empty is None:
        return None
    return ClassifiedError("empty", f"{empty}: {body[empty]}" if body else empty, pointer_to([empty]) if body else "")


# `E0421`, `ERR_17`: a code of an error.
_OWN_CODE = re.compile(r"E(?:RR(?:OR)?)?[-_]?\d+", re.IGNORECASE)
_EXPLAINS = frozenset({"message", "msg", "detail", "details", "reason", "description"})
# What tells of an error besides messages.
_TOLD = MESSAGE_KEYS | {"code", "type", "status", "name", "extensions", "content"}
_MOST_MEMBERS, _LONGEST = 50, 200


class Errors:
    """Looks for the member of an object that says that the call failed. `plain` are its keys in plain form."""

    def __init__(self, body: JsonMapping, call_facts: CallFacts) -> None:
        self.body, self.call_facts = body, call_facts
        self.plain = {plain_key(key): key for key in reversed(list(body))}
        # What the object holds beside its error and what was asked.
        self.content = [
            key
            for name, key in self.plain.items()
            if not (name in MESSAGE_KEYS | META_KEYS | CODE_KEYS or is_error_key(name))
            and not (body[key] in EMPTY_VALUES or call_facts.echoes(body[key]))
        ]
        self.explained = any(
            body[key] and (is_error_key(name) or name in MESSAGE_KEYS) for name, key in self.plain.items()
        )
        self._reads = call_facts.effect != "writes" and bool(call_facts.words)
        # It is about a thing that failed, and answers what was asked about it.
        self._is_record = self._reads and len(self.content) >= 2

    def found(self, *, is_element: bool = False) -> ClassifiedError | None:
        """Return the error, None where there is none. An element of a list may well be a record about an error."""
        for flag in ("isError", "is_error"):
            if self.body.get(flag) is True:
                return self._told(flag, None)
        found = self._coded() or self._said() or self._flagged() or self._numbered()
        return found or (None if is_element else self._worded())

    def _told(self, key: str, said: object) -> ClassifiedError:
        first = said[0] if isinstance(said, list) and said else said
        holders = (first, self.body) if isinstance(first, dict) else (self.body,)
        code = next((code for holder in holders if (code := _code_in(holder)) is not None), None)
        words = words_of(self.body, said)
        error_class = class_of_words(words) if code is None else class_of_code(code)
        return ClassifiedError(error_class, words or f"{key}: {self.body[key]}", pointer_to([key]))

    def _coded(self) -> ClassifiedError | None:
        for name, key in self.plain.items():
            sure = name in CODE_KEYS
            code = error_code(self.body[key]) if sure or name in PLAIN_CODE_KEYS else None
            if code is not None and (
                not self.content or (sure and not self._reads) or (self.explained and (sure or not self._is_record))
            ):
                words = words_of(self.body, None)
                return ClassifiedError(class_of_code(code), words or f"{key}: {self.body[key]}", pointer_to([key]))
        return None

    def _said(self) -> ClassifiedError | None:
        for name, key in self.plain.items():
            said = self.body[key]
            if not is_error_key(name) or not self._is_error_value(said):
                continue
            if isinstance(said, list | dict) and name.endswith("errors"):
                if self.call_facts.about_faults:
                    continue
                if any(_has_data(value) for other, value in self.body.items() if other in ENVELOPES):
                    return ClassifiedError("partial", words_of(self.body, said), pointer_to([key]))
            if not self._is_record or _code_in(self.body) is not None:
                return self._told(key, said)
        return None

    def _is_error_value(self, said: object) -> bool:
        """Tell an error from a number about errors, such as an error rate, and from what says that there is none."""
        match said:
            case str():
                return bool(said.strip()) and said.strip().lower() not in NO_ERROR
            case bool():
                return said
            case dict():
                codes = PLAIN_CODE_KEYS | CODE_KEYS
                return any(
                    value not in EMPTY_VALUES and (not isinstance(value, int | float) or plain_key(key) in codes)
                    for key, value in said.items()
                )
            case list():
                return any(isinstance(item, str | dict) and item for item in said)
            case int():
                told = (self.body[key] for name, key in self.plain.items() if name in MESSAGE_KEYS)
                return said != 0 and any(isinstance(words, str) for words in told)
        return False

    def _flagged(self) -> ClassifiedError | None:
        for name in ("success", "ok", "succeeded", "successful"):
            key = self.plain.get(name)
            if key is not None and (self.body[key] is False or self.body[key] == "false") and not self._is_record:
                return self._told(key, None)
        for name in STATUS_KEYS & self.plain.keys():
            key = self.plain[name]
            word = plain_key(self.body[key]) if isinstance(self.body[key], str) else ""
            is_failure = word in FAILURE_WORDS or word.endswith(("error", "exception"))
            is_state = word in FAILURE_WORDS - SURE_FAILURES and self._reads and self.content
            told = self.explained or (word == "error" and not self.content)
            if is_failure and told and not is_state and not self._is_record:
                return self._told(key, None)
        code, stderr = self.plain.get("exitcode") or self.plain.get("returncode"), self.plain.get("stderr")
        if (
            code
            and stderr
            and self.body[code] not in EMPTY_VALUES
            and self.body[stderr]
            and not self.body.get("stdout")
        ):
            words = str(self.body[stderr])
            return ClassifiedError(class_of_words(words), words, pointer_to([stderr]))
        return None

    def _numbered(self) -> ClassifiedError | None:
        """A code of the tool's own next to words that tell of an error, and nothing else: gRPC's status object."""
        code = self.plain.get("code")
        message = next((key for name, key in self.plain.items() if name in _EXPLAINS), None)
        if not code or not message or self.content or not isinstance(self.body[code], int | str):
            return None
        words, own = words_of(self.body, None), str(self.body[code])[:20]
        error_class = class_of_words(words)
        if own in ("0", "200") or (error_class == "unknown" and not _OWN_CODE.fullmatch(own)):
            return None
        return ClassifiedError(error_class, words, pointer_to([message]))

    def _worded(self) -> ClassifiedError | None:
        """Nothing but a message, which reads as an error does."""
        said = (key for name, key in self.plain.items() if name in MESSAGE_KEYS and name != "title")
        key = next((key for key in said if isinstance(self.body[key], str)), None)
        if key is None or self.content:
            return None
        told = trouble_in_text(self.body[key], is_error=False, about_faults=self.call_facts.about_faults)
        if told is None or told.error_class in ("empty", "partial"):
            return None
        return told._replace(pointer=pointer_to([key]))


def _code_in(body: JsonMapping) -> int | None:
    codes = (error_code(value) for key, value in body.items() if plain_key(key) in CODE_KEYS | PLAIN_CODE_KEYS)
    return next((code for code in codes if code is not None), None)


def words_of(body: JsonMapping, said: object) -> str:
    """Return what an object says of its error, in the order in which it says it."""
    told = [part[:_LONGEST] for holder in (said, body) for part in _texts(holder, 2) if part]
    return " ".join(dict.fromkeys(told))[: 2 * _LONGEST]


def _texts(holder: object, depth: int) -> Iterator[str]:
    if isinstance(holder, str):
        yield holder
    elif isinstance(holder, list):
        for item in holder[:3]:
            yield from _texts(item, depth)
    elif isinstance(holder, dict) and depth >= 0:
        for key, value in list(holder.items())[:_MOST_MEMBERS]:
            if is_error_key(plain_key(key)) or plain_key(key) in _TOLD:
                yield from _texts(value, depth - 1)


def _has_data(value: object) -> bool:
    """Tell whether a value holds anything but nulls and empty text, at any depth."""
    if isinstance(value, dict | list):
        return any(map(_has_data, value.values() if isinstance(value, dict) else value))
    return value is not None and value != ""
