"""What went wrong in a tool's answer: its error class, by status codes, flags and the words that errors begin with.

A body that is domain data may well speak of errors, so that only what cannot be anything else counts: an error flag,
an error's own keys at the top of a JSON body, and words at the beginning of plain text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import orjson

ErrorClass = Literal["400", "401", "403", "404", "408", "429", "5xx", "timeout", "empty", "partial", "unknown"]

ERROR_CLASSES: Mapping[ErrorClass, str] = {
    "400": "The request, as it was made, is refused: bad arguments or a rule they break; every 4xx not named here.",
    "401": "The caller is not authenticated.",
    "403": "The caller may not do this.",
    "404": "What was asked for does not exist.",
    "408": "The server gave up waiting for the request.",
    "429": "Too many requests.",
    "5xx": "The tool or what it stands on is broken or unavailable.",
    "timeout": "The tool did not answer in time.",
    "empty": "The tool answered, and there is nothing in the answer.",
    "partial": "The tool answered with a part of what was asked for, and says so.",
    "unknown": "An error that does not say what it is.",
}
# Nothing was wrong with the arguments: sending them again may well help.
TRANSIENT: frozenset[ErrorClass] = frozenset({"408", "429", "5xx", "timeout"})

LONGEST_EXCERPT = 200
# Errors say what they are at their beginning.
_HEAD = 400
# Bodies longer than this hold something.
_LONGEST_EMPTY = 300

_AFTER_A_CODE = (
    r"[ :-]{1,3}(?:bad|unauthori|forbidden|not |request|too many|internal|service|gateway|conflict|unprocess|client|"
    r"server|error|payment required|method|gone)"
)
_OPENS_AS_ERROR = re.compile(
    r"[\s\"'`*\[(<!⚠❌-]{0,8}(?:"
    r"\w{0,60}(?:error|exception)\b|err:|fatal\b|traceback \(most recent|"
    r"fail(?:ed|ure)\b|(?:the |this |your )?(?:request|call|tool|operation|execution|function|query|server)\b"
    r"[^.:\n]{0,40}(?:failed|timed out|timeout|error|denied|rejected)|"
    r"time(?:d)?[ -]?out\b|deadline exceeded|rate limit|too many requests|unauthori[sz]ed\b|forbidden\b|"
    r"(?:permission|access) denied|not found\b|internal server error|bad (?:gateway|request)|"
    r"service (?:temporarily )?unavailable|gateway time-?out|connection (?:refused|reset|error|timed out|aborted)|"
    r"invalid (?:argument|parameter|input|request|json|value|api key|token)|"
    r"missing (?:required|argument|parameter)|validation (?:error|failed)|unknown tool\b|no such tool\b|"
    r"(?:http(?:/[\d.]+)?|status(?: code)?|code)[ :=]{1,3}[45]\d\d\b|[45]\d\d" + _AFTER_A_CODE + ")",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"(?:http(?:/[\d.]+)?|status(?:[ _]?code)?|\bcode|error)\W{0,4}([1-5]\d\d)\b|"
    r"^\W{0,4}([45]\d\d)\b|"
    r"\b([45]\d\d)\b" + _AFTER_A_CODE,
    re.IGNORECASE,
)
_WORDS: tuple[tuple[ErrorClass, re.Pattern[str]], ...] = (
    ("429", re.compile(r"rate.?limit|too many requests|throttl|quota", re.IGNORECASE)),
    ("408", re.compile(r"request time-?out", re.IGNORECASE)),
    ("5xx", re.compile(
        r"internal (?:server )?error|bad gateway|gateway time-?out|unavailable|overloaded|server error|"
        r"connection (?:refused|reset|error|aborted)|try again later|out of service", re.IGNORECASE)),
    ("timeout", re.compile(r"time(?:d)?[ -]?out|deadline exceeded", re.IGNORECASE)),
    ("401", re.compile(
        r"unauthori[sz]ed|unauthenticated|not (?:logged in|authenticated)|authentication|"
        r"(?:invalid|expired|missing) (?:access |api |auth )?(?:token|key|credential)", re.IGNORECASE)),
    ("403", re.compile(r"forbidden|permission|access denied|not authori[sz]ed|privilege", re.IGNORECASE)),
    ("404", re.compile(r"not found|not exist|no such|unknown (?:tool|function|id|user|order|resource)", re.IGNORECASE)),
    ("400", re.compile(
        r"invalid|missing|required|malformed|unexpected|unprocessable|conflict|already|insufficient|exceed|"
        r"bad request|validation|schema|must|should|cannot|can't|does not|doesn't|"
        r"\bno[nt][ -](?:enough|available|allowed|sufficient|eligible|supported|valid|possible|match)|"
        r"(?:type|value|key|attribute|index|argument)error", re.IGNORECASE)),
)  # fmt: skip
_EMPTY_TEXT = re.compile(
    r"\W*(?:null|none|nil|n/a|nothing(?: was)? found|empty(?: result| list| response)?|"
    r"no (?:\w+ ){0,3}(?:results?|matches|records?|rows|items|data|entries|documents|found|available)"
    r"(?: (?:were |was )?(?:found|available|returned|matched))?(?: for [^\n]{0,100})?|"
    r"(?:found )?(?:0|zero) (?:\w+ ){0,2}(?:results?|matches|records?|rows|items)(?: found)?)?\W*",
    re.IGNORECASE,
)
_PARTIAL_TEXT = re.compile(
    r"[\[(<]\s*(?:output |results? |response )?truncated\b|\bpartial (?:results?|response|content|data)\b|"
    r"\b(?:results?|output|response) (?:was |were |is |are )?truncated\b",
    re.IGNORECASE,
)
_ENVELOPES = ("result", "data", "response", "body")
_STATUS_KEYS = ("status_code", "statusCode", "http_status", "httpStatus", "status", "code")
_EXPLAINING_KEYS = frozenset({"error", "errors", "message", "detail", "details", "title", "reason", "error_message"})
_ERROR_KEYS = ("error", "errors", "exception", "error_message", "errorMessage")
_PARTIAL_KEYS = ("partial", "is_partial", "isPartial", "truncated", "is_truncated", "isTruncated", "incomplete")
_HINTS = ("rror", "xception", '"success"', '"ok"', "artial", "runcated", "ncomplete")
_CODED = re.compile(
    r'"(?:status|code|http_?status)[_a-z]{0,5}"\s*:\s*(?:"?[245][0-9][0-9]\b|"(?:err|fail|part|incompl))', re.IGNORECASE
)
_EMPTY_VALUES: tuple[Any, ...] = (None, "", [], {}, 0, False)


@dataclass(frozen=True, slots=True)
class Trouble:
    """An answer that is an error, or has nothing or only a part in it. `excerpt` is its beginning."""

    error_class: ErrorClass
    excerpt: str

    @property
    def is_error(self) -> bool:
        """Tell an error from an answer that is merely empty or partial."""
        return self.error_class not in ("empty", "partial")


def trouble_in(content: str, *, is_error: bool = False) -> Trouble | None:
    """Return what is wrong with a tool's answer, None where nothing is. Text without a character is `empty`."""
    found = _class_of(content, is_error)
    return None if found is None else Trouble(found, content[:LONGEST_EXCERPT].strip())


def _class_of(content: str, is_error: bool) -> ErrorClass | None:
    first = content[:64].lstrip()[:1]
    body: Any = None
    if first in ("{", "[", '"') and _worth_parsing(content):
        try:
            body = orjson.loads(content)
        except ValueError:
            body = None
    if isinstance(body, str):
        return _class_of_text(body, is_error)
    if isinstance(body, dict | list):
        found = _class_of_body(body)
        return _class_of_words(content) if is_error and found in (None, "empty", "unknown") else found
    if first in ("{", "[") and not is_error:
        return "partial" if _speaks_of_a_part(content[-_HEAD:]) else None
    return _class_of_text(content, is_error)


def _worth_parsing(content: str) -> bool:
    if len(content) <= _LONGEST_EMPTY:
        return True
    for hint in _HINTS:
        if hint in content:
            return True
    return ('"status' in content or '"code"' in content or '"http' in content) and _CODED.search(content) is not None


def _class_of_text(text: str, is_error: bool) -> ErrorClass | None:
    head = text[:_HEAD]
    if is_error or _OPENS_AS_ERROR.match(head):
        return _class_of_words(head)
    if len(text) <= _LONGEST_EMPTY and _EMPTY_TEXT.fullmatch(text):
        return "empty"
    if _speaks_of_a_part(head) or (len(text) > _HEAD and _speaks_of_a_part(text[-_HEAD:])):
        return "partial"
    return None


def _speaks_of_a_part(text: str) -> bool:
    small = text.lower()
    return ("truncated" in small or "partial" in small) and _PARTIAL_TEXT.search(small) is not None


def _class_of_words(text: str) -> ErrorClass:
    head = text[:_HEAD]
    if (found := _CODE.search(head)) is not None:
        code = int(found.group(1) or found.group(2) or found.group(3))
        if code >= 400:
            return _class_of_code(code)
    return next((error_class for error_class, words in _WORDS if words.search(head)), "unknown")


def _class_of_code(code: int) -> ErrorClass:
    match code:
        case 401 | 407:
            return "401"
        case 403 | 451:
            return "403"
        case 404 | 410:
            return "404"
        case 408:
            return "408"
        case 429:
            return "429"
        case 504:
            return "timeout"
    return "5xx" if code >= 500 else "400"


def _class_of_body(body: dict[str, Any] | list[Any], *, nested: bool = False) -> ErrorClass | None:
    if isinstance(body, list):
        return "empty" if not nested and all(item in _EMPTY_VALUES for item in body) else None
    if (found := _error_in(body)) is not None:
        return found
    if _says_partial(body):
        return "partial"
    if not nested:
        for key in _ENVELOPES:
            inner = body.get(key)
            if isinstance(inner, dict) and (found := _class_of_body(inner, nested=True)) is not None:
                return found
        if _is_empty(body):
            return "empty"
    return None


def _error_in(body: dict[str, Any]) -> ErrorClass | None:
    code = _status_code(body)
    if code is not None and code >= 400:
        return _class_of_code(code)
    said = next((body[key] for key in _ERROR_KEYS if body.get(key) not in _EMPTY_VALUES), None)
    if said is not None:
        if not _is_error_value(said):
            return None
        # Some data came with the errors: a part of what was asked for.
        if body.get("data") not in _EMPTY_VALUES and "errors" in body:
            return "partial"
        inner = _status_code(said) if isinstance(said, dict) else None
        return _class_of_code(inner) if inner is not None and inner >= 400 else _class_of_words(_words(body, said))
    flagged = (
        body.get("success") is False
        or body.get("ok") is False
        or body.get("isError") is True
        or body.get("is_error") is True
        or body.get("status") == "error"
        or (body.get("status") in ("fail", "failed", "failure") and not _EXPLAINING_KEYS.isdisjoint(body))
    )
    return _class_of_words(_words(body, None)) if flagged else None


def _is_error_value(said: Any) -> bool:
    """Tell an error from a number about errors, such as an error rate."""
    return isinstance(said, str | dict | list) or said is True


def _status_code(body: dict[str, Any]) -> int | None:
    for key in _STATUS_KEYS:
        value = body.get(key)
        if isinstance(value, str) and len(value) == 3 and value.isascii() and value.isdigit():
            value = int(value)
        plain = key in ("status", "code")
        if isinstance(value, int) and 100 <= value <= 599 and (not plain or not _EXPLAINING_KEYS.isdisjoint(body)):
            return value
    return None


def _words(body: dict[str, Any], said: Any) -> str:
    told = [said] if isinstance(said, str) else []
    for holder in (said, body):
        if isinstance(holder, dict):
            told += [
                value
                for key in ("code", "type", "message", "detail", "title", "reason", "error_message", "content", "text")
                if isinstance(value := holder.get(key), str)
            ]
    if isinstance(said, list):
        told += [item if isinstance(item, str) else str(item.get("message", "")) for item in said[:3]
                 if isinstance(item, str | dict)]  # fmt: skip
    return " ".join(part[:_HEAD] for part in told)


def _says_partial(body: dict[str, Any]) -> bool:
    status = body.get("status")
    return (
        any(body.get(key) is True for key in _PARTIAL_KEYS)
        or (isinstance(status, str) and status.lower() in ("partial", "partial_success", "incomplete"))
        or _status_code(body) == 206
    )


def _is_empty(body: dict[str, Any]) -> bool:
    """Tell whether all that could hold something is empty: `{}`, `{"results": [], "total": 0}`."""
    holders = [value for value in body.values() if isinstance(value, dict | list) or value is None]
    if not body:
        return True
    if not holders or any(holders):
        return False
    others = (value for value in body.values() if not isinstance(value, dict | list) and value is not None)
    return all(isinstance(value, bool) or value in _EMPTY_VALUES for value in others)
