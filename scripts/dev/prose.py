"""Checks the words of pages and documents: `python -m scripts.dev.prose`, a step of `./dev check`.

It looks for words of the old language, for sentences and lines that are too long, and for titles that ask or that hide
who acts.
Docstrings begin with a verb or a noun, and use none of the words of DOCSTRING_WORDS.
What is right in spite of a rule is named in `EXCEPTED`, with its reason.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple, cast

from scripts.dev.environment import ROOT

# A sentence of a document has at most so many words.
MOST_WORDS: Final = 30
# A line of prose in a document has at most so many characters.
WIDTH: Final = 100

# A word or phrase of the old language -> what to write instead.
INSTEAD: Final = {
    r"without (?:any )?wit\b|\bneeds? no wit": "trivial, baseline agent",
    r"more than was due": "excess calls",
    r"\bwhoever\b": "the person who",
    r"\bwaver(?:s|ed|ing)?\b": "disagree, be unsure",
    r"\bseldom\b": "rarely",
    r"\bupon\b": "on",
    r"\b(?:thereof|therein|thereby|hereby|whereby|hence)\b": "a plain sentence",
    r"\bcame about\b|\bcame of (?:it|them|your|yours)\b": "result, history",
    r"\blet (?:it|them) be\b|\blet be\b": "ignore, allow, keep",
    r"\bput right\b": "correct",
    r"\bstands? beside\b|\bread beside\b": "next to, compare with",
    r"\btalked round\b": "changed by a text",
    r"\bat odds with\b": "conflicts with",
    r"\blike that\.": "No ... matches.",
    r"\bbeside\b": "next to, with, in addition to",
    r"\bnobody\b": "name the thing that is missing: No ratings yet",
    r"\b(?:some|any)body\b": "a person, anyone, or the role",
    r"\bstands? in\b": "is in",
    r"\bheld against\b": "compared with, checked by",
    r"\bof a piece\b": "alike",
    r"\bat hand\b": "current, ready",
    r"\banew\b": "again",
    r"\bamong themselves\b": "compared with each other",
    r"\b(?:says?|does) of (?:itself|themselves)\b": "describe",
    r"\b(?:is|are|be) told\b": "learn, see, is known",
    r"\b(?:was|were) (?:not )?due\b": "expected",
    r"\b(?:grade|graded|grading) (?:a|the|it|run [^ ]+|the run) again\b": "re-grade",
    r"\bwithin chance\b": "not significant",
    r"\bsubjects?\b": "agent",
    r"\bfloors?\b": "baseline agent",
    r"\b(?-i:behavior|colored|labeled|canceled|favorite|analyze[ds]?|honor(?:s|ed)?)\b": "British spelling",
}

# Words of the table above that docstrings do not use either.
DOCSTRING_WORDS: Final = (
    r"\bwhoever\b",
    r"\bseldom\b",
    r"\b(?:thereof|therein|thereby|hereby|whereby|hence)\b",
    r"\bheld against\b",
    r"\bbeside\b",
    r"\bnobody\b",
    r"\b(?:some|any)body\b",
    r"\bat hand\b",
    r"\banew\b",
)

# File, and the words that are right there all the same -> why.
EXCEPTED: Final[dict[tuple[str, str], str]] = {
    ("toolevals/grading/guard/injection_words.py", "whoever"): "a pattern for texts of attackers",
    ("toolevals/grading/judging/shipped.py", "beside"): "part of a rubric, whose every change is a new version",
    ("toolevals/grading/reading/specs/formats.py", "behavior"): "a field of other people's files",
    (
        "templates/parts/session.html",
        "You are signed out Another person is signed in",
    ): "a dialog that says what has happened",
}

# Decisions are records: they stay as they were written.
RECORDS: Final = "docs/decisions/"
PROSE: Final = ("docs/", "README.md", "CONTRIBUTING.md", "CHANGELOG.md")
PYTHON: Final = ("toolevals/", "labeling/", "reports/")

_TEMPLATE: Final = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
_TAG: Final = re.compile(r"<[^>]*>", re.DOTALL)
_SHOWN: Final = re.compile(r"\b(?:title|aria-label|placeholder|alt|hx-confirm)=\"([^\"]*)\"")
# A heading of the class `say` is what the figures of the page say, in a sentence.
_HEADING: Final = re.compile(r"<h([123])(?![^>]*class=\"say\")[^>]*>(.*?)</h\1>", re.DOTALL)
_FENCE: Final = re.compile(r"^( *)(```|~~~).*?^\1\2", re.DOTALL | re.MULTILINE)
_STRING: Final = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`")
_BLOCK: Final = re.compile(r"\s*(?:[-*+] |#|>|\||\d+\. )")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?:;])[\"”)*_`]*\s+")
_QUESTION: Final = re.compile(r"(?:What|Why|Where|Which|Whether|When|Who|Whose|How)\b(?![ -]to\b)|.*\?$")
_OPENING: Final = re.compile(
    r"(?:What|Which|Whether|How|Where|When|Why|Who|Whose|Of each|Of every"
    r"|(?:Return|Yield|Say|Tell) (?:of|in how|in which|in what|for each|for every))\b"
)
_PASSIVE: Final = re.compile(
    r"\b(?:is|are|was|were|been|being)\b (?:\w+ly )?\w+(?:ed|ept|aken|iven|hown|ade|ound|old|ent)\b"
)
_WORDS: Final = {re.compile(pattern, re.IGNORECASE): instead for pattern, instead in INSTEAD.items()}
_OF_DOCSTRINGS: Final = {re.compile(pattern, re.IGNORECASE): INSTEAD[pattern] for pattern in DOCSTRING_WORDS}
# What a docstring quotes: names of code and words of pages.
_QUOTED: Final = re.compile(r"`[^`\n]*`|\"[^\"\n]*\"")


class Fault(NamedTuple):
    """One fault: the file below the project's folder, the line, the words, and what to write."""

    file: str
    line: int
    words: str
    advice: str


class Text(NamedTuple):
    """A piece of text with the line that it begins on."""

    line: int
    words: str


def faults(root: Path = ROOT, names: Iterable[str] | None = None) -> Iterator[Fault]:
    """Yield every fault of the files that git knows, or of those named, but for what is excepted by name."""
    for name in _names(root) if names is None else names:
        text = (root / name).read_text(encoding="utf-8")
        for fault in _faults_of(name, text):
            if (name, fault.words) not in EXCEPTED:
                yield fault


def _faults_of(name: str, text: str) -> Iterator[Fault]:
    if name.endswith(".md"):
        blocks = list(document_blocks(text))
        yield from _old_words(name, blocks)
        yield from _long_sentences(name, blocks)
        yield from _long_lines(name, text)
        if not name.startswith(RECORDS):
            yield from _titles(
                name, (Text(line, words.lstrip("# ")) for line, words in blocks if words.startswith("#"))
            )
    elif name.endswith(".html"):
        yield from _old_words(name, page_texts(text))
        yield from _titles(name, page_titles(text))
    elif name.endswith(".js"):
        yield from _old_words(name, script_strings(text))
    else:
        strings, docstrings = code_texts(text)
        yield from _old_words(name, strings)
        yield from _old_words(name, docstrings, _OF_DOCSTRINGS)
        yield from _openings(name, docstrings)


def _openings(name: str, docstrings: Iterable[Text]) -> Iterator[Fault]:
    for line, words in docstrings:
        if match := _OPENING.match(words):
            yield Fault(name, line, match[0], "a docstring begins with a verb or with the thing: Return ..., The ...")


def _old_words(name: str, texts: Iterable[Text], patterns: Mapping[re.Pattern[str], str] = _WORDS) -> Iterator[Fault]:
    for line, words in texts:
        for pattern, instead in patterns.items():
            for match in pattern.finditer(words):
                at = line + words.count("\n", 0, match.start())
                yield Fault(name, at, match[0], f"write: {instead}")


def _long_sentences(name: str, blocks: Iterable[Text]) -> Iterator[Fault]:
    for line, words in blocks:
        for sentence in _SENTENCE_END.split(words):
            # A list of names in code is no long sentence.
            count = sum("`code`" not in word for word in sentence.split())
            if count > MOST_WORDS:
                yield Fault(name, line, sentence, f"a sentence of {count} words: at most {MOST_WORDS}")


def _long_lines(name: str, text: str) -> Iterator[Fault]:
    for number, line in enumerate(_FENCE.sub(_blank, text).split("\n"), start=1):
        # A name or formula stays on one line.
        bare = re.sub(r"`[^`]*`", lambda code: code[0].replace(" ", "_"), line)
        start = len(line) - len(re.sub(r"^\s*(?:(?:[-*+]|\d+\.) )?", "", line))
        # Tables and headings are lines of their own, and a word that is longer stays whole.
        if len(line) > WIDTH and line[start : start + 1] not in ("|", "#", "<", "!") and " " in bare[start:WIDTH]:
            yield Fault(name, number, line[:60], f"a line of {len(line)} characters: at most {WIDTH}")


def _titles(name: str, titles: Iterable[Text]) -> Iterator[Fault]:
    for line, words in titles:
        if _QUESTION.match(words):
            yield Fault(name, line, words, "a title is a noun phrase, not a question")
        elif _PASSIVE.search(words):
            yield Fault(name, line, words, "a title is a noun phrase, not a sentence in the passive")


def document_blocks(text: str) -> Iterator[Text]:
    """Yield the headings, paragraphs, entries and table cells of a Markdown document, code left out."""
    text = _FENCE.sub(lambda match: "\n" * match[0].count("\n"), text)
    text = re.sub(r"`[^`\n]*`", "`code`", text)
    text = re.sub(r"\]\([^)\s]*\)", "]", text)
    begun, lines = 0, list[str]()
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        if lines and (not line.strip() or _BLOCK.match(line) or lines[0].startswith("#")):
            yield Text(begun, " ".join(lines))
            lines = []
        if line.lstrip().startswith("|"):
            yield from (Text(number, cell.strip()) for cell in line.split("|") if cell.strip())
        elif line.strip():
            begun = begun if lines else number
            lines.append(re.sub(r"^\s*(?:[-*+>]|\d+\.) ", "", line).strip())


def page_texts(template: str) -> Iterator[Text]:
    """Yield the words of a template that people see or hear."""
    bare = _TEMPLATE.sub(_blank, template)
    yield Text(1, _TAG.sub(_blank, bare))
    for shown in _SHOWN.finditer(bare):
        yield Text(1 + bare.count("\n", 0, shown.start()), shown[1])


def page_titles(template: str) -> Iterator[Text]:
    """Yield the headings of a template."""
    for heading in _HEADING.finditer(template):
        words = " ".join(_TAG.sub(" ", _TEMPLATE.sub(" ", heading[2])).split())
        yield Text(1 + template.count("\n", 0, heading.start()), words)


def script_strings(script: str) -> Iterator[Text]:
    """Yield the strings of a script that hold more than one word."""
    for number, line in enumerate(script.split("\n"), start=1):
        if not line.lstrip().startswith("//"):
            yield from (Text(number, string[0]) for string in _STRING.finditer(line) if " " in string[0])


def code_texts(code: str) -> tuple[list[Text], list[Text]]:
    """Return the strings of a Python file that hold more than one word, and its docstrings without what they quote."""
    strings: list[Text] = []
    docstrings: dict[int, Text] = {}
    # A node comes before what it holds.
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if (words := ast.get_docstring(node, clean=False)) is not None:
                value = cast("ast.Expr", node.body[0]).value
                docstrings[id(value)] = Text(value.lineno, _QUOTED.sub(_blank, words))
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and " " in node.value
            and id(node) not in docstrings
        ):
            strings.append(Text(node.lineno, node.value))
    return strings, list(docstrings.values())


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def _names(root: Path) -> list[str]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.splitlines()
    return [name for name in listed if _is_read(name) and (root / name).exists()]


def _is_read(name: str) -> bool:
    if "/vendor/" in name or "/migrations/" in name or name.startswith(RECORDS):
        return False
    return (
        (name.endswith(".md") and name.startswith(PROSE))
        or (name.endswith(".html") and name.startswith("templates/"))
        or (name.endswith(".js") and name.startswith("static/js/"))
        or (name.endswith(".py") and name.startswith(PYTHON))
    )


def main() -> int:
    """Print every fault, and return 1 if there is one."""
    found = list(faults())
    for fault in found:
        sys.stdout.write(f"{fault.file}:{fault.line}: {fault.words!r}: {fault.advice}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
