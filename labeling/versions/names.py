"""Tell what frozen versions are called: their number, or a tag that people gave one of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolevals.grading.values.problems import InvalidDocument, Problem

MOST_TAGS = 10
# A tag is never taken for a number, nor for what is not a version.
TAG = re.compile(r"[a-z][a-z0-9._-]{0,59}")
# Called so in addresses: what a dataset holds at the moment, frozen or not.
NOW = "now"
RESERVED = frozenset({"newest", NOW})
TAG_RULE = (
    "A tag begins with a lower-case letter; lower-case letters, digits, full stops, hyphens and underscores follow, "
    "60 characters at most. It is not “newest” or “now”."
)


def is_tag(name: str) -> bool:
    """Tell whether this can be a tag."""
    return TAG.fullmatch(name) is not None and name not in RESERVED


def tags_require(tags: Sequence[str]) -> list[str]:
    """Return the tags, each once, in their order. Raises InvalidDocument for one that is none, or too many."""
    distinct = list(dict.fromkeys(tags))
    problems = [Problem(f"/tags/{at}", f"{tag}: {TAG_RULE}") for at, tag in enumerate(tags) if not is_tag(tag)]
    if len(distinct) > MOST_TAGS:
        problems.append(Problem("/tags", f"A version has at most {MOST_TAGS} tags."))
    if problems:
        raise InvalidDocument(problems)
    return distinct
