"""Read what people hand in as an expectation and as its rationale.

An expectation is checked against the tools that were offered, and brought to its normal form. A rationale says more
than the beginning that a page offers.
"""

from __future__ import annotations

from typing import Any

from labeling.models import LabelAnswer, Revision
from toolevals.grading.json_schema.conformance import expectation_problems
from toolevals.grading.values import Expectation
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonObject
from toolevals.registry.tool_lists import tools_in

# What rationales often say; a beginning, to be gone on with.
PHRASES = (
    "The guideline says so: ",
    "The user said so: ",
    "The tool's description says so: ",
    "No one asked for it: ",
    "Both readings are fair: ",
)
ONLY_BEGUN = "only starts a rationale: continue after the colon with the reason"


def is_only_begun(text: str) -> bool:
    """Tell whether a text holds offered beginnings, and no other letter or digit."""
    rest = text.casefold()
    for phrase in PHRASES:
        rest = rest.replace(phrase.strip().casefold(), "")
    return len(rest) < len(text.casefold()) and not any(letter.isalnum() for letter in rest)


def expectation_read(revision: Revision, document: Any) -> JsonObject:
    """Return the normal form of an expectation for this revision. Raises InvalidDocument."""
    expectation = Expectation.from_document(document)
    problems = expectation_problems(expectation, tools_in(revision.tools))
    if problems:
        raise InvalidDocument(problems)
    return expectation.to_document()


def answer_read(revision: Revision, answer: str, document: Any | None) -> JsonObject | None:
    """Return the normal form of what is said with an answer: an expectation, or None with the others.

    Raises InvalidDocument where the answer is none of `LabelAnswer`, or says more or less than it may.
    """
    if answer not in LabelAnswer.values:
        raise InvalidDocument([Problem("/answer", f"must be one of {', '.join(LabelAnswer.values)}")])
    if answer == LabelAnswer.EXPECTATION:
        if document is None:
            raise InvalidDocument([Problem("/expectation", "is required")])
        return expectation_read(revision, document)
    if document is not None:
        raise InvalidDocument([Problem("/expectation", f"must not be given with the answer {answer!r}")])
    return None


def text_required(text: str, *, name: str) -> str:
    """Return `text` without outer white space. Raises InvalidDocument, pointing at `name`, where nothing is left."""
    stripped = text.strip()
    if not stripped:
        raise InvalidDocument([Problem(f"/{name}", f"a {name} is required")])
    return stripped


def rationale_required(text: str) -> str:
    """Return a rationale without outer white space. Raises InvalidDocument where it says nothing of its own."""
    return rationale_read(text_required(text, name="rationale"))


def rationale_read(text: str) -> str:
    """Return a rationale without outer white space; it may be empty. Raises InvalidDocument where it only begins."""
    if is_only_begun(text):
        raise InvalidDocument([Problem("/rationale", ONLY_BEGUN)])
    return text.strip()
