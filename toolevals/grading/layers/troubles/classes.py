"""Names the classes of trouble, and finds the class that a status code or an error's words stand for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

ErrorClass = Literal["400", "401", "403", "404", "408", "429", "5xx", "timeout", "empty", "partial", "unknown"]

ERROR_CLASSES: Mapping[ErrorClass, str] = {
    "400": "The request, as it was made, is refused: bad arguments or a rule they break; every 4xx not named here.",
    "401": "The caller is not authenticated.",
    "403": "The caller may not do this.",
    "404": "What was asked for does not exist.",
    "408": "The server gave up waiting for the request.",
    "429": "Too many requests.",
    "5xx": "The tool or what it depends on is broken or unavailable.",
    "timeout": "The tool did not answer in time.",
    "empty": "The tool answered, and there is nothing in the answer.",
    "partial": "The tool answered with a part of what was asked for, and says so.",
    "unknown": "An error that does not say what it is.",
}
# Nothing was wrong with the arguments: sending them again may well help.
TRANSIENT: frozenset[ErrorClass] = frozenset({"408", "429", "5xx", "timeout"})

# Errors say what they are at their beginning.
HEAD = 400

_CLIENT_CODES = frozenset({*range(400, 419), 421, 422, 423, 424, 425, 426, 428, 429, 431, 440, 451, 498, 499})
_SERVER_CODES = frozenset({*range(500, 512), *range(520, 531), 598, 599})
# The reason that follows a code in a status line.
AFTER_A_CODE = (
    r"[ :,-]{1,3}(?:bad|unauthori|forbidden|not |request|too many|internal|service|gateway|conflict|unprocess|client|"
    r"server|error|payment required|method|gone|time)"
)
_CODE = re.compile(
    r"(?:http(?:/[\d.]+)?|status(?:[ _]?code)?|\bcode|error|\w*fehler|erreur|errore?|erro|fout|fel|feil|fejl|virhe|"
    r"b[łl][ąa]d|chyba|hiba|hata|ошибка|错误|錯誤|エラー|오류)\W{0,4}([1-5]\d\d)\b|"
    r"^\W{0,4}([45]\d\d)\b|"
    r"\b([45]\d\d)\b(?:" + AFTER_A_CODE + r")|[:(] ?([45]\d\d)\)?\W*$",
    re.IGNORECASE,
)
# `RATE_LIMITED`, `NotFoundException`: as words.
_JOINT = re.compile(r"_|(?<=[a-z])(?=[A-Z])")


def _words(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts), re.IGNORECASE)


_WORDS: tuple[tuple[ErrorClass, re.Pattern[str]], ...] = (
    ("429", _words(
        r"rate.?limit", r"(?:daily|hourly|weekly|monthly|usage|requests?|sending|api|calls?) (?:\w+ )?limit",
        r"too many (?:requests|calls|attempts)", r"throttl", r"quota", r"resource exhausted", r"slow down",
    )),
    # A broken query names what does not exist: that is about the query.
    ("400", _words(
        r"syntax error", r"\bsqlstate\b", r"(?:unknown|undefined|no such|invalid|ambiguous) column",
        r"\b(?:column|relation) \S{1,80} (?:does not exist|is ambiguous|not found)", r"cannot query field",
        r"\w*constraint", r"command not found", r"unrecogni[sz]ed (?:argument|option)",
    )),
    ("408", _words(
        r"request time-?out",
    )),
    ("timeout", _words(
        r"time(?:d|s)?[ -]?out\b", r"deadline exceeded", r"etimedout", r"took too long",
        r"no (?:answer|response|reply) (?:within|after|in)\b",
    )),
    ("5xx", _words(
        r"internal (?:server )?(?:error|failure|exception)", r"^\W*internal\W*$", r"bad gateway",
        r"overload", r"server error", r"connection (?:refused|reset|error|aborted|closed|lost|failed)",
        r"\be(?:connrefused|connreset|hostunreach|netunreach|notfound|ai_again|pipe)\b",
        r"(?:un|not )reachable", r"could(?: not|n't) (?:connect|reach|be reached)", r"try again later",
        r"out of service", r"maintenance", r"\boffline\b", r"upstream", r"\bback-?end\b",
        r"(?:service|server|system|database|host|api|gateway|feed|provider|controller)\W+"
        r"(?:is |was |are )?(?:\w+ )?(?:unavailable|not available|down)\b",
        r"temporar(?:ily|y)", r"(?:^\d{0,2}|\bcode\b)\W*unavailable", r"no route to host",
        r"name resolution", r"resolve host", r"no space left", r"out of memory",
        r"(?:disk|storage) (?:is )?(?:full|space)", r"deadlock", r"is locked\b", r"data loss", r"crash",
        r"null ?pointer", r"segmentation fault",
    )),
    ("401", _words(
        r"unauthori[sz]ed", r"unauthenticated", r"not (?:logged|signed) in", r"authenticat", r"\blog ?in\b",
        r"(?:invalid|expired|missing|revoked|bad|wrong|no) (?:access |api |auth |bearer |session )?"
        r"(?:token|key|credential|password)",
        r"(?:token|session|credentials?|key) (?:has |have |is )?(?:been )?(?:expired|invalid|missing|revoked)",
    )),
    ("403", _words(
        r"forbidden", r"permission", r"access (?:is )?denied", r"not (?:authori[sz]ed|permitted|entitled)",
        r"privilege", r"insufficient (?:scope|rights|role)", r"\be(?:acces|perm|rofs)\b", r"read-only",
        r"only (?:admins?|owners?|managers?|editors?|administrators) (?:may|can)",
    )),
    ("404", _words(
        r"not (?:be )?found", r"(?:do|does|did)(?: not|n't) exist", r"no such", r"\benoent\b",
        r"no longer exists", r"unknown (?!error|reason|failure|problem|exception)\w",
        r"\bno \w+ (?:with|by|named|match(?:es|ing)?|called|under) ",
    )),
    ("400", _words(
        r"invalid", r"missing", r"requires?d?\b", r"malformed",
        r"unexpected(?! (?:error|condition|failure|problem|exception))", r"unprocessable", r"conflict",
        r"already", r"insufficient", r"exceed", r"bad (?:request|input|user input)", r"validation",
        r"schema", r"\bmust\b", r"should", r"cannot", r"can't", r"does not", r"doesn't",
        r"too (?:late|early|long|short|large|small|many|few|old)", r"out of range", r"precondition",
        r"declined", r"rejected", r"\bexpected", r"unsupported", r"duplicate", r"illegal", r"sold out",
        r"full(?:y booked)?\b", r"taken\b", r"\bonly\b",
        r"\bno[nt]?[ -](?:enough|available|allowed|sufficient|eligible|supported|valid|possible|match)",
        r"\bparse\b", r"(?:type|value|key|attribute|index|argument|parse) ?error", r"\bformat\b",
        r":client\b", r":sender\b",
    )),
    ("5xx", _words(
        r":server\b", r":receiver\b",
    )),
)  # fmt: skip


def http_code(value: object) -> int | None:
    """Return an HTTP status code from 100 to 599, as a number or as text of three digits; None for all else."""
    if isinstance(value, str) and len(value) == 3 and value.isascii() and value.isdigit():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 100 <= value <= 599 else None


def error_code(value: object) -> int | None:
    """Return a status code that stands for an error and is in use; None for all else."""
    code = http_code(value)
    return code if code in _CLIENT_CODES or code in _SERVER_CODES else None


def class_of_code(code: int) -> ErrorClass:
    """Return the class of an HTTP status code of 400 or more."""
    match code:
        case 401 | 407 | 440 | 498:
            return "401"
        case 403 | 451:
            return "403"
        case 404 | 410:
            return "404"
        case 408:
            return "408"
        case 429:
            return "429"
        case 504 | 524 | 598 | 599:
            return "timeout"
    return "5xx" if code >= 500 else "400"


def class_of_words(text: str) -> ErrorClass:
    """Return the class that an error's words stand for, by a status code first; 400 characters are read."""
    head = text[:HEAD]
    if (found := _CODE.search(head)) is not None:
        code = int(next(filter(None, found.groups())))
        if code >= 400:
            return class_of_code(code)
    plain = _JOINT.sub(" ", head)
    return next((error_class for error_class, words in _WORDS if words.search(plain)), "unknown")
