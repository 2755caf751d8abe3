"""Read what a docstring says of a function and of its parameters: Google's, NumPy's and Sphinx's forms."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, field

_GOOGLE = re.compile(
    r"(?P<title>args|arguments|parameters|params|keyword args|keyword arguments|other parameters|returns?|yields?|"
    r"raises|examples?|notes?|attributes|todo|see also|warnings?|references)\s*:\s*",
    re.IGNORECASE,
)
_ARGUMENTS = frozenset(
    ("args", "arguments", "parameters", "params", "keyword args", "keyword arguments", "other parameters")
)
_GOOGLE_ENTRY = re.compile(r"(?P<names>\*{0,2}\w+(?:\s*,\s*\w+)*)\s*(?:\((?P<type>[^)]*)\))?\s*:\s*(?P<text>.*)")
_NUMPY_ENTRY = re.compile(r"(?P<names>\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?")
_SPHINX = re.compile(
    r":(?P<kind>param|parameter|arg|argument|key|keyword|type|returns?|rtype|raises?|except|exception|var|ivar|cvar|yields?)"
    r"(?:\s+(?P<name>[^:]*))?:\s*(?P<text>.*)"
)
_SPHINX_ARGUMENTS = frozenset(("param", "parameter", "arg", "argument", "key", "keyword"))


@dataclass(frozen=True, slots=True)
class Docstring:
    """What a function does, and what each of its parameters is, by name."""

    description: str = ""
    parameters: dict[str, str] = field(default_factory=dict)


def read_docstring(text: str | None) -> Docstring:
    """Return what a docstring says. Sections about results, errors and examples are left out."""
    lines = inspect.cleandoc(text or "").splitlines()
    said: list[str] = []
    parameters: dict[str, str] = {}
    at = 0
    while at < len(lines):
        line = lines[at]
        numpy = at + 1 < len(lines) and line.strip() and re.fullmatch(r"-{3,}", lines[at + 1].strip())
        if numpy:
            end = _end_of_numpy(lines, at + 2)
            if line.strip().lower() in _ARGUMENTS:
                parameters |= _numpy(lines[at + 2 : end])
            at = end
        elif found := _GOOGLE.fullmatch(line):
            end = _end_of_block(lines, at + 1)
            if found["title"].lower() in _ARGUMENTS:
                parameters |= _google(lines[at + 1 : end])
            at = end
        elif sphinx := _SPHINX.match(line):
            end = _end_of_block(lines, at + 1)
            if sphinx["kind"] in _SPHINX_ARGUMENTS and sphinx["name"]:
                parameters[sphinx["name"].split()[-1].lstrip("*")] = _joined([sphinx["text"], *lines[at + 1 : end]])
            at = end
        else:
            said.append(line)
            at += 1
    return Docstring(_paragraphs(said), {name: words for name, words in parameters.items() if words})


def _end_of_block(lines: list[str], at: int) -> int:
    """Return where a block ends whose lines are indented."""
    while at < len(lines) and (not lines[at].strip() or lines[at][:1].isspace()):
        at += 1
    return at


def _end_of_numpy(lines: list[str], at: int) -> int:
    while at < len(lines) and not (at + 1 < len(lines) and re.fullmatch(r"-{3,}", lines[at + 1].strip())):
        at += 1
    return at


def _google(lines: list[str]) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    first = next((line for line in lines if line.strip()), "")
    indent = len(first) - len(first.lstrip())
    names: list[str] = []
    for line in lines:
        entry = _GOOGLE_ENTRY.fullmatch(line.strip()) if len(line) - len(line.lstrip()) == indent else None
        if entry:
            names = [name.strip().lstrip("*") for name in entry["names"].split(",")]
            found |= {name: [entry["text"]] for name in names}
        else:
            for name in names:
                found[name].append(line)
    return {name: _joined(words) for name, words in found.items()}


def _numpy(lines: list[str]) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    names: list[str] = []
    for line in lines:
        if line.strip() and not line[:1].isspace() and (entry := _NUMPY_ENTRY.fullmatch(line.strip())):
            names = [name.strip().lstrip("*") for name in entry["names"].split(",")]
            found |= {name: [] for name in names}
        else:
            for name in names:
                found[name].append(line)
    return {name: _joined(words) for name, words in found.items()}


def _joined(lines: list[str]) -> str:
    return " ".join(" ".join(lines).split())


def _paragraphs(lines: list[str]) -> str:
    """Return text with its paragraphs, each on one line; lists and indented lines stay lines of their own."""
    made: list[str] = []
    for line in lines:
        goes_on = made and made[-1] and line.strip() and not line[:1].isspace() and not re.match(r"[-*•]|\d+\.\s", line)
        if goes_on:
            made[-1] += f" {line.strip()}"
        else:
            made.append(line.rstrip())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(made)).strip()
