"""Finds trouble in plain text: what errors begin with, error pages, and answers that say that there is nothing.

Names the classes of trouble, and finds the class that a status code or an error's words stand for.
"""

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


# Longer texts than these hold something; a refusal in words is short.
_LONGEST_EMPTY, _LONGEST_REFUSAL = 300, 240
# A traceback's last line says what was raised.
_TAIL = 600
_TRACEBACK = re.compile(r"\W{0,8}traceback \(most recent", re.IGNORECASE)
_OPENS_AS_ERROR = re.compile(
    r"[\s\"'`*\[(<!⚠❌✗✘-]{0,8}(?:\ufe0f\s*)?(?:"
    rf"(?:[\w.]{{0,80}}(?:error|exception)|(?:[\w-]{{1,30}} ){{1,2}}(?:error|exception)(?= ?[:(\d-])|err|{ERROR_WORDS})"
    r"(?:\b|(?=\d))|fatal\b|panic:|uncaught\b|unhandled\b|traceback \(most recent|fail(?:ed|ure)\b|(?:the |this |"
    r"your )?(?:request|call|tool|operation|execution|function|query|server)\b[^.:\n]{0,40}(?:failed|timed out|"
    r"timeout|error|denied|rejected)|time(?:d)?[ -]?out\b|(?:context )?deadline exceeded|(?:\w+ ){0,2}rate limit|"
    r"too many requests|unauthori[sz]ed\b|forbidden\b|(?:permission|access) (?:is )?denied|not found\b|"
    r"internal server error|bad (?:gateway|request)|service (?:temporarily )?unavailable|gateway time-?out|"
    r"connection (?:refused|reset|error|timed out|aborted)|\be(?:timedout|conn\w+|hostunreach|noent|acces|perm)\b|"
    r"no (?:answer|response|reply) (?:within|after)\b|invalid (?:argument|parameter|input|request|json|value|token)|"
    r"missing (?:required|argument|parameter)|validation (?:error|failed)|unknown tool\b|no such \w+\b|"
    r"(?-i:[a-z_]\w{0,40}(?:\.\w{1,40}){0,6}\.[A-Z]\w{0,60}: )|not authenticated|rpc error\b|sqlstate|ora-\d{5}|"
    r"syntax error\b|near \"[^\"\n]{0,60}\": syntax|oops\b|something went wrong\b|upstream (?:request )?(?:timeout|"
    r"error)|(?:status|result|state) ?[=:] ?(?:err|error|fail(?:ed|ure)?)\b|"
    rf"(?:http(?:/[\d.]+)?|status(?: code)?|code)[ :=]{{1,3}}[45]\d\d\b|[45]\d\d{AFTER_A_CODE})",
    re.IGNORECASE,
)
# `ls: cannot access 'x'`, `14 UNAVAILABLE: ...`
_PROGRAM_SAYS = re.compile(
    r"\s*(?:[\w./-]{1,40}: [^\n]{0,200}\b(?:no such|not found|cannot|can't|permission denied|error|failed|refused|"
    r"could not|timed out|unreachable|invalid|not (?:reachable|available|ready|responding|connected))\b|"
    r"\d{1,2} (?:unavailable|not_found|deadline_exceeded|invalid_argument|permission_denied|unauthenticated|"
    r"resource_exhausted|internal|aborted|failed_precondition|unknown|already_exists|unimplemented)\b)",
    re.IGNORECASE,
)
_REFUSES = re.compile(
    r"\s*(?:(?:i'?m )?sorry\b[,.!]? ?)?(?:we |i |it |the \w+ )?(?:(?:was|is|am|are) )?(?:unable to|could(?: not|n't)|"
    r"can(?:not|'t| not)|failed to)(?: be)? (?:\w+ly )?(?:find|found|reach|connect|process|complete|locate|load|open|"
    r"access|fetch|retrieve|read|parse|execut|creat|updat|delet|sav|send|book|cancel|post|submit|print|perform|"
    r"write)\w*\b|no \w+ match(?:es|ed)?\b|no \w+ (?:is |are )?available\b|[^.\n]{1,120}\bdid(?: not|n't) (?:answer|"
    r"respond)\b|[^.\n]{1,120}\bnicht gefunden\b|[^\n]{1,200}[(\[][45]\d\d[)\]]\W*$|[^.\n]{1,120}\b(?:not found|"
    r"does not exist|doesn't exist|(?:is|are) (?:currently |temporarily )?(?:unavailable|unreachable|offline)|"
    r"timed out|(?:has|have)(?: been)? (?:expired|revoked|blocked)|access denied)\b[^\n]{0,60}$",
    re.IGNORECASE,
)
# How mail and file servers answer: a number of their own, then words.
_OPENS_WITH_CODE = re.compile(r"\s*[45]\d\d(?:[ -]\d\.\d{1,3}\.\d{1,3})?[ -]\D")
_EXITED = re.compile(r"\b(?:exit(?:ed)?(?: with)?(?: code| status)?|returned)[ :=]{1,2}[1-9]\d{0,2}\W*$", re.IGNORECASE)
# A line about one element of a batch: `T3 ERROR session expired`.
_ELEMENT = re.compile(r"\S{1,80}:? (?:(ok|done|success\w*)|error|failed|failure)\b", re.IGNORECASE)
# Lines of a log, or of a program that says what it did.
_LOG_LINE = re.compile(
    r"\W{0,3}(?:\d{4}-\d\d-\d\d|\d\d:\d\d|(?:error|warn(?:ing)?|info|debug|fatal)\b\W{0,3}(?:\d{4}-|\d\d:\d\d|\[))",
    re.IGNORECASE,
)
_EMPTY_TEXT = re.compile(
    r"\W*(?:null|none|nil|undefined|n/a|nothing(?: was)? found|empty(?: result| list| response| set)?|"
    r"no (?:\w+ ){0,3}(?:results?|matches|records?|rows|items|data|entries|documents|found|available|output|"
    r"reading)(?: (?:were |was )?(?:found|available|returned))?(?: (?:for|in|on|at) [^\n]{0,100})?)?\W*",
    re.IGNORECASE,
)
_PARTIAL_TEXT = re.compile(
    r"[\[(<]\s*(?:\w+ ){0,3}truncated\b|\bpartial (?:results?|response|data)\b|\b(?:results?|output|"
    r"response) (?:was |were |is |are )?(?:truncated|cut off|incomplete)\b",
    re.IGNORECASE,
)
_IS_MARKUP = re.compile(
    r"\s*<(?:!doctype html|html|head|body|\?xml|\w{0,20}:?(?:envelope|error|fault)\b)", re.IGNORECASE
)
# In a page's title or first heading, or in an XML fault.
_TITLE = re.compile(r"<(?:title|h1|faultstring|message|faultcode|code)[^>]{0,80}>\s*([^<]{1,200})", re.IGNORECASE)
_TELLS_ERROR = re.compile(
    r"\b[45]\d\d\b|error|not found|forbidden|unauthori[sz]ed|denied|unavailable|bad gateway|time-?out|maintenance",
    re.IGNORECASE,
)
_IS_FAULT = re.compile(r"<(?:\w{1,20}:)?(?:fault|error)\b", re.IGNORECASE)


def trouble_in_text(text: str, *, is_error: bool, about_faults: bool) -> ClassifiedError | None:
    """Return what is wrong with an answer in plain text; None where nothing is. `is_error`: it is flagged."""
    head = text[:HEAD]
    first_line = head.strip().split("\n", 1)[0]
    if not is_error:
        if _IS_MARKUP.match(head):
            return _in_markup(text)
        if len(text) <= _LONGEST_EMPTY and _EMPTY_TEXT.fullmatch(text):
            return None if about_faults and text.strip() else ClassifiedError("empty", text.strip())
    if is_error or (_begins_as_error(text, head) and not (about_faults and _LOG_LINE.match(head))):
        told = text[-_TAIL:].strip().rsplit("\n", 1)[-1] if _TRACEBACK.match(head) else head
        return ClassifiedError(class_of_words(told), first_line)
    if not about_faults and (failed := _failed_line(head)):
        return ClassifiedError("partial", failed)
    part = part_told(head) or part_told(text[-HEAD:])
    return ClassifiedError("partial", part) if part else None


def reads_as_error(text: str) -> bool:
    """Tell whether a text of words begins as errors do."""
    return any(map(str.isalpha, text[:HEAD])) and _OPENS_AS_ERROR.match(text[:HEAD]) is not None


def part_told(text: str) -> str:
    """Return the words by which a text says that something was cut off or is partial, empty where it does not."""
    found = _PARTIAL_TEXT.search(text)
    return found.group() if found else ""


def _failed_line(head: str) -> str:
    """Return the line of an element that failed where each line says of one whether it worked, else nothing."""
    lines = head.strip().split("\n")
    told = [found for line in lines if (found := _ELEMENT.match(line))]
    failed = [found.string for found in told if not found.group(1)]
    return failed[0] if 0 < len(failed) < len(told) == len(lines) else ""


def _begins_as_error(text: str, head: str) -> bool:
    lines = head.strip().count("\n") + 1
    if lines > 2 and _LOG_LINE.match(head):
        return False
    if _OPENS_AS_ERROR.match(head):
        return True
    if _PROGRAM_SAYS.match(head) and (lines <= 2 or _EXITED.search(text[-HEAD:])):
        return True
    if len(text) > _LONGEST_REFUSAL or lines > 2:
        return False
    return bool(_REFUSES.match(head)) or (
        _OPENS_WITH_CODE.match(head) is not None and class_of_words(head.strip()[3:]) != "unknown"
    )


def _in_markup(text: str) -> ClassifiedError | None:
    """Return what an error page or an XML fault says; None of a page or document that is neither."""
    head = text[: 10 * HEAD]
    titles = [found.group(1).strip() for found in _TITLE.finditer(head)]
    if _IS_FAULT.search(head):
        words = " ".join(titles) or re.sub(r"<[^>]{0,200}>", " ", head).strip()
        return ClassifiedError(class_of_words(words), words)
    told = next((title for title in titles if _TELLS_ERROR.search(title)), None)
    return None if told is None else ClassifiedError(class_of_words(told), told)
