"""Finds trouble in plain text: what errors begin with, error pages, and answers that say that there is nothing."""

from __future__ import annotations

import re

from toolevals.grading.layers.troubles.classes import AFTER_A_CODE, ERROR_WORDS, HEAD, ClassifiedError, class_of_words

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
