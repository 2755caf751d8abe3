"""Names the classes of trouble, and finds the class that a status code or an error's words stand for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

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
_CODES = frozenset({*range(400, 419), *range(421, 427), 428, 429, 431, 440, 451, 498, 499, *range(500, 512),
                    *range(520, 531), 598, 599})  # fmt: skip
# The word for an error in some fifteen languages.
ERROR_WORDS = (
    r"error|fehler|erreur|errore|erro|fout|fel|feil|fejl|virhe|b[łl][ąa]d|chyba|hiba|hata|ошибка|错误|錯誤|エラー|오류"
)
# The reason that follows a code in a status line.
AFTER_A_CODE = (
    r"[ :,-]{1,3}(?:bad|unauthori|forbidden|not |request|too many|internal|service|gateway|conflict|unprocess|client|"
    r"server|error|payment required|method|gone|time)"
)
_CODE = re.compile(
    rf"(?:http(?:/[\d.]+)?|status(?:[ _]?code)?|\bcode|{ERROR_WORDS})\W{{0,4}}([1-5]\d\d)\b|^\W{{0,4}}([45]\d\d)\b|"
    rf"\b([45]\d\d)\b(?:{AFTER_A_CODE})|[:(] ?([45]\d\d)\)?\W*$",
    re.IGNORECASE,
)
# `RATE_LIMITED`, `NotFoundException`: as words.
_JOINT = re.compile(r"_|(?<=[a-z])(?=[A-Z])")
# The first that is found counts.
_WORDS: tuple[tuple[ErrorClass, str], ...] = (
    (
        "429",
        r"rate.?limit|(?:daily|hourly|monthly|usage|requests?|api|calls?) (?:\w+ )?limit|throttl|quota|slow down|"
        r"too many (?:requests|calls|attempts)|resource exhausted",
    ),
    # A broken query names what does not exist: that is about the query.
    (
        "400",
        r"syntax error|\bsqlstate\b|(?:unknown|undefined|no such|invalid|ambiguous) column|command not found|"
        r"\b(?:column|relation) \S{1,80} (?:does not exist|is ambiguous)|cannot query field|\w*constraint",
    ),
    ("408", r"request time-?out"),
    (
        "timeout",
        r"time(?:d|s)?[ -]?out\b|deadline exceeded|took too long|no (?:answer|response) (?:within|after|in)\b",
    ),
    (
        "5xx",
        r"internal (?:server )?(?:error|failure)|^\W*internal\W*$|bad gateway|overload|server error|"
        r"connection (?:refused|reset|error|aborted|closed|lost|failed)|\be(?:conn\w+|hostunreach|pipe)\b|(?:un|"
        r"not )reachable|could(?: not|n't) (?:connect|reach|be reached)|try again later|out of service|maintenance|"
        r"\boffline\b|upstream|\bback-?end\b|temporar(?:ily|y)|(?:^\d{0,2}|\bcode\b)\W*unavailable|(?:service|server|"
        r"system|database|host|api|gateway|feed|controller)\W+(?:is |was |are )?(?:\w+ )?(?:unavailable|"
        r"not available|down)\b|no route to host|name resolution|out of memory|disk full|deadlock|is locked\b|crash|"
        r"null ?pointer",
    ),
    (
        "401",
        r"unauthori[sz]ed|unauthenticated|not (?:logged|signed) in|authenticat|\blog ?in\b|(?:invalid|expired|"
        r"missing|revoked|bad|wrong|no) (?:access |api |auth |bearer |session )?(?:token|key|credential|password)|"
        r"(?:token|session|credentials?|key) (?:has |have |is )?(?:been )?(?:expired|invalid|missing|revoked)",
    ),
    (
        "403",
        r"forbidden|permission|access (?:is )?denied|not (?:authori[sz]ed|permitted|entitled)|privilege|read-only|"
        r"insufficient (?:scope|rights|role)|\be(?:acces|perm)\b|only (?:admins?|owners?|managers?|editors?) (?:may|"
        r"can)",
    ),
    (
        "404",
        r"not (?:be )?found|(?:do|does|did)(?: not|n't) exist|no such|\benoent\b|no longer exists|unknown (?!error|"
        r"reason|failure|problem)\w|\bno \w+ (?:with|by|named|match(?:es|ing)?|called|under) ",
    ),
    (
        "400",
        r"invalid|missing|requires?d?\b|malformed|unexpected(?! (?:error|condition|failure|problem))|unprocessable|"
        r"conflict|already|insufficient|exceed|bad (?:request|input)|validation|schema|\bmust\b|should|cannot|can't|"
        r"does not|doesn't|too (?:late|early|long|short|large|small|many|few|old)|out of range|precondition|declined|"
        r"rejected|\bexpected|unsupported|duplicate|illegal|sold out|full(?:y booked)?\b|taken\b|\bonly\b|\bparse\b|"
        r"\bno[nt]?[ -](?:enough|available|allowed|sufficient|eligible|supported|valid|possible|match)|\bformat\b|"
        r"(?:type|value|key|attribute|index|argument|parse) ?error|:client\b|:sender\b",
    ),
    ("5xx", r":server\b|:receiver\b"),
)
_CLASSES = tuple((error_class, re.compile(words, re.IGNORECASE)) for error_class, words in _WORDS)


class ClassifiedError(NamedTuple):
    """A class and the words that tell it, at `pointer` within a JSON answer."""

    error_class: ErrorClass
    words: str
    pointer: str = ""


def http_code(value: object) -> int | None:
    """Return an HTTP status code from 100 to 599, as a number or as text of three digits; None for all else."""
    if isinstance(value, str) and len(value) == 3 and value.isascii() and value.isdigit():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 100 <= value <= 599 else None


def error_code(value: object) -> int | None:
    """Return a status code that stands for an error and is in use; None for all else."""
    code = http_code(value)
    return code if code in _CODES else None


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
    return next((error_class for error_class, words in _CLASSES if words.search(plain)), "unknown")
