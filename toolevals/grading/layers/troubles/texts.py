"""Finds trouble in plain text: what errors begin with, error pages, and answers that say that there is nothing."""

from __future__ import annotations

import re
from typing import NamedTuple

from toolevals.grading.layers.troubles.classes import AFTER_A_CODE, HEAD, ErrorClass, class_of_words

# Longer texts than this hold something.
_LONGEST_EMPTY = 300
# A refusal in words is short; longer texts are documents that may speak of anything.
_LONGEST_REFUSAL = 240
# A traceback's last line says what was raised.
_TAIL = 600

_OPENING = r"[\s\"'`*\[(<!⚠❌✗✘-]{0,8}(?:\ufe0f\s*)?"
_OPENS_AS_ERROR = re.compile(
    _OPENING + r"(?:"
    r"(?:[\w.]{0,80}(?:error|exception)|(?:[\w-]{1,30} ){1,2}(?:error|exception)(?= ?[:(\d-])|err|"
    r"fehler|erreur|errore|erro|fout|fel|feil|fejl|virhe|b[łl][ąa]d|chyba|hiba|hata|"
    r"ошибка|错误|錯誤|エラー|오류)(?:\b|(?=\d))|"
    r"fatal\b|panic:|uncaught\b|unhandled\b|traceback \(most recent|exception in thread|"
    r"fail(?:ed|ure)\b|(?:the |this |your )?(?:request|call|tool|operation|execution|function|query|server)\b"
    r"[^.:\n]{0,40}(?:failed|timed out|timeout|error|denied|rejected)|"
    r"time(?:d)?[ -]?out\b|(?:context )?deadline exceeded|(?:\w+ ){0,2}rate limit|too many requests|"
    r"unauthori[sz]ed\b|forbidden\b|"
    r"(?:permission|access) (?:is )?denied|not found\b|internal server error|bad (?:gateway|request)|"
    r"service (?:temporarily )?unavailable|gateway time-?out|connection (?:refused|reset|error|timed out|aborted)|"
    r"\be(?:timedout|conn\w+|hostunreach|notfound|noent|acces|perm)\b|no (?:answer|response|reply) (?:within|"
    r"after)\b|"
    r"invalid (?:argument|parameter|input|request|json|value|api key|token)|"
    r"missing (?:required|argument|parameter)|validation (?:error|failed)|unknown tool\b|no such tool\b|"
    r"(?-i:[a-z_]\w{0,40}(?:\.\w{1,40}){0,6}\.[A-Z]\w{0,60}: )|not authenticated|"
    r"rpc error\b|sqlstate|ora-\d{5}|syntax error\b|near \"[^\"\n]{0,60}\": syntax|no such (?:table|column)\b|"
    r"oops\b|whoops\b|something went wrong\b|upstream (?:request |connect )?(?:timeout|error)|"
    r"(?:status|result|state) ?[=:] ?(?:err|error|fail(?:ed|ure)?)\b|"
    r"(?:http(?:/[\d.]+)?|status(?: code)?|code)[ :=]{1,3}[45]\d\d\b|[45]\d\d" + AFTER_A_CODE + ")",
    re.IGNORECASE,
)
# `ls: cannot access 'x'`, `bash: foo: command not found`, `14 UNAVAILABLE: ...`
_PROGRAM_SAYS = re.compile(
    r"\s*(?:[\w./-]{1,40}: [^\n]{0,200}\b(?:no such file|not found|cannot|can't|permission denied|error|failed|"
    r"refused|"
    r"could not|unknown option|not a \w+|is a directory|timed out|unreachable|invalid|"
    r"not (?:reachable|available|ready|responding|connected))\b|"
    r"\d{1,2} (?:unavailable|not_found|deadline_exceeded|invalid_argument|permission_denied|unauthenticated|"
    r"resource_exhausted|internal|aborted|failed_precondition|unknown|cancelled|already_exists|unimplemented)\b)",
    re.IGNORECASE,
)
_REFUSES = re.compile(
    r"\s*(?:(?:i'?m )?sorry\b[,.!]? ?)?(?:we |i |it |the \w+ )?(?:(?:was|is|am|are|were) )?"
    r"(?:unable to|could(?: not|n't)|can(?:not|'t| not)|failed to)(?: be)? (?:\w+ly )?"
    r"(?:find|found|reach|connect|process|complete|locate|load|open|access|fetch|retrieve|read|parse|resolve|execut|"
    r"creat|updat|delet|sav|send|book|cancel|post|submit|print|start|stop|"
    r"authenticat|perform|contact|determin|establish|query|write)\w*\b|"
    r"no \w+ match(?:es|ed)?\b|no \w+ (?:is |are )?available\b|"
    r"[^.\n]{1,120}\bdid(?: not|n't) (?:answer|respond|reply)\b|"
    r"[^.\n]{1,120}\b(?:nicht gefunden|introuvable|non trouvée?|no encontrad[oa]|não encontrad[oa]|non trovat[oa]|"
    r"niet gevonden)\b|[^\n]{1,200}[(\[][45]\d\d[)\]]\W*$|not (?:authori[sz]ed|allowed|permitted|logged in)\b|"
    r"[^.\n]{1,120}\b(?:not found|does not exist|doesn't exist|(?:is|are) (?:currently |temporarily )?(?:unavailable|"
    r"unreachable|offline|down for maintenance)|timed out|(?:has|have)(?: been)? (?:expired|revoked|suspended|"
    r"blocked)|"
    r"(?:rate |request |usage )limit exceeded|"
    r"access denied|permission denied)\b[^\n]{0,60}$",
    re.IGNORECASE,
)
# How mail and file servers answer: a number of their own, then words.
_OPENS_WITH_CODE = re.compile(r"\s*[45]\d\d(?:[ -]\d\.\d{1,3}\.\d{1,3})?[ -]\D")
_EXITED = re.compile(r"\b(?:exit(?:ed)?(?: with)?(?: code| status)?|returned)[ :=]{1,2}[1-9]\d{0,2}\W*$", re.IGNORECASE)
# A line about one element of a batch: `T3 ERROR session expired`.
_ELEMENT_WORKED = re.compile(r"\S{1,80}:? (?:ok|done|success\w*)\b", re.IGNORECASE)
_ELEMENT_FAILED = re.compile(r"\S{1,80}:? (?:error|failed|failure)\b", re.IGNORECASE)
# Lines of a log, or of a program that says what it did.
_LOG_LINE = re.compile(
    r"\W{0,3}(?:\d{4}-\d\d-\d\d|\d\d:\d\d|[A-Z][a-z]{2} \d|"
    r"(?:error|warn(?:ing)?|info|debug|fatal|trace|critical)\b\W{0,3}"
    r"(?:\d{4}-|\d\d:\d\d|\[))",
    re.IGNORECASE,
)
_EMPTY_TEXT = re.compile(
    r"\W*(?:null|none|nil|undefined|n/a|nothing(?: was)? found|empty(?: result| list| response| set)?|"
    r"no (?:\w+ ){0,3}(?:results?|matches|records?|rows|items|data|entries|documents|found|available|output|"
    r"content|reading|answer)"
    r"(?: (?:were |was )?(?:found|available|returned|matched))?(?: (?:for|in|on|at) [^\n]{0,100})?|"
    r"(?:found )?(?:0|zero) (?:\w+ ){0,2}(?:results?|matches|records?|rows|items)"
    r"(?: (?:were )?(?:found|returned))?)?\W*",
    re.IGNORECASE,
)
_PARTIAL_TEXT = re.compile(
    r"[\[(<]\s*(?:\w+ ){0,3}truncated\b|\bpartial (?:results?|response|content|data)\b|"
    r"\b(?:results?|output|response) (?:was |were |is |are )?(?:truncated|cut off|incomplete)\b",
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


class ClassifiedError(NamedTuple):
    """A class and the words that tell it, at `pointer` within a JSON answer."""

    error_class: ErrorClass
    words: str
    pointer: str = ""


def trouble_in_text(text: str, *, is_error: bool, about_faults: bool) -> ClassifiedError | None:
    """Return what is wrong with an answer in plain text; None where nothing is. `is_error`: it is flagged."""
    head = text[:HEAD]
    if is_error:
        return ClassifiedError(class_of_words(_last_line(text) or head), _first_line(text))
    if _IS_MARKUP.match(head):
        return _in_markup(text)
    if len(text) <= _LONGEST_EMPTY and _EMPTY_TEXT.fullmatch(text):
        return None if about_faults and text.strip() else ClassifiedError("empty", text.strip())
    if _begins_as_error(text, head) and not (about_faults and _LOG_LINE.match(head)):
        return ClassifiedError(class_of_words(_last_line(text) or head), _first_line(text))
    if not about_faults and (failed := _failed_line(head)):
        return ClassifiedError("partial", failed)
    if speaks_of_a_part(head) or (len(text) > HEAD and speaks_of_a_part(text[-HEAD:])):
        return ClassifiedError("partial", _PARTIAL_TEXT.search(text[-HEAD:] if len(text) > HEAD else head).group())  # type: ignore[union-attr]
    return None


def reads_as_error(text: str) -> bool:
    """Tell whether a text of words begins as errors do."""
    return any(map(str.isalpha, text[:HEAD])) and _OPENS_AS_ERROR.match(text[:HEAD]) is not None


def _failed_line(head: str) -> str:
    """Return the line of an element that failed where each line says of one whether it worked, else nothing."""
    lines = head.strip().split("\n")
    failed = [line for line in lines if _ELEMENT_FAILED.match(line)]
    worked = [line for line in lines if _ELEMENT_WORKED.match(line)]
    return failed[0] if failed and worked and len(failed) + len(worked) == len(lines) else ""


def speaks_of_a_part(text: str) -> bool:
    """Tell whether a text says that something was cut off or is partial."""
    return _PARTIAL_TEXT.search(text[-HEAD:]) is not None


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


def _last_line(text: str) -> str:
    """Return what a traceback ends with, empty where the text is none."""
    if not re.match(r"\W{0,8}traceback \(most recent", text[:HEAD], re.IGNORECASE):
        return ""
    return text[-_TAIL:].strip().rsplit("\n", 1)[-1]


def _first_line(text: str) -> str:
    return text[:HEAD].strip().split("\n", 1)[0]


def _in_markup(text: str) -> ClassifiedError | None:
    """Return what an error page or an XML fault says; None of a page or document that is neither."""
    head = text[: 10 * HEAD]
    titles = [found.group(1).strip() for found in _TITLE.finditer(head)]
    if _IS_FAULT.search(head):
        words = " ".join(titles) or re.sub(r"<[^>]{0,200}>", " ", head).strip()
        return ClassifiedError(class_of_words(words), words)
    told = next((title for title in titles if _TELLS_ERROR.search(title)), None)
    return None if told is None else ClassifiedError(class_of_words(told), told)
