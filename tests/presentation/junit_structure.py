"""The structure of JUnit XML as CI servers read it, checked strictly: elements, attributes, order, counts.

By the schema of Jenkins' xUnit plugin (junit-10.xsd), as far as a gate writes it; it has no `skipped` of the root.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from xml.etree import ElementTree

_COUNT, _SECONDS, _ANY = re.compile(r"\d+"), re.compile(r"\d+(\.\d+)?"), re.compile(r".*", re.DOTALL)
_COUNTS = {"tests": _COUNT, "failures": _COUNT, "errors": _COUNT, "skipped": _COUNT, "time": _SECONDS}


@dataclass(frozen=True)
class Rule:
    """An element: its attributes, all of them needed; its children, in this order; whether it holds text."""

    attributes: dict[str, re.Pattern[str]]
    children: tuple[str, ...] = ()
    text: bool = False


RULES = {
    "testsuites": Rule(
        {"name": _ANY, **{name: each for name, each in _COUNTS.items() if name != "skipped"}}, ("testsuite",)
    ),
    "testsuite": Rule({"name": _ANY, **_COUNTS}, ("properties", "testcase")),
    "properties": Rule({}, ("property",)),
    "property": Rule({"name": re.compile(r".+", re.DOTALL), "value": _ANY}),
    "testcase": Rule(
        {"name": _ANY, "classname": re.compile(r".+", re.DOTALL), "time": _SECONDS},
        ("skipped", "error", "failure", "system-out"),
    ),
    "skipped": Rule({"message": _ANY}),
    "error": Rule({"message": _ANY, "type": re.compile(r"\w+")}, text=True),
    "failure": Rule({"message": _ANY, "type": re.compile(r"\w+")}, text=True),
    "system-out": Rule({}, text=True),
}
_COUNTED = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}


def junit_faults(document: bytes) -> list[str]:
    """Return everything in which a document is not JUnit XML."""
    try:
        root = ElementTree.fromstring(document)
    except ElementTree.ParseError as error:
        return [f"not XML: {error}"]
    faults = [] if root.tag == "testsuites" else [f"begins with {root.tag}"]
    for element in root.iter():
        faults += _faults_of(element)
    for suite in (root, *root.iter("testsuite")):
        for attribute, tag in _COUNTED.items():
            if (suite, attribute) != (root, "skipped") and suite.get(attribute) != str(len(list(suite.iter(tag)))):
                faults.append(f"{suite.tag} counts {attribute} {suite.get(attribute)}")
    return faults


def _faults_of(element: ElementTree.Element) -> list[str]:
    rule = RULES.get(element.tag)
    if rule is None:
        return [f"{element.tag} is not an element of it"]
    faults = [f"{element.tag} has {name}" for name in element.attrib.keys() - rule.attributes.keys()]
    for name, pattern in rule.attributes.items():
        if name not in element.attrib or not pattern.fullmatch(element.attrib[name]):
            faults.append(f"{element.tag} lacks {name}, or it is wrong")
    places = [rule.children.index(child.tag) if child.tag in rule.children else -1 for child in element]
    if -1 in places or places != sorted(places):
        faults.append(f"{element.tag} holds {[child.tag for child in element]}")
    if not rule.text and (element.text or "").strip():
        faults.append(f"{element.tag} holds text")
    return faults
