"""Write down the tools of gold that has not been read yet. Made from what never changes.

A request that needs no call is a negative of a tool when someone could mistake it for one that does. People and
importers say so by `near` in the expectation. Where they don't, an estimate stands in and is shown as one: the tool
whose words the request shares.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import log
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from labeling.conversation.turns import last_request
from labeling.coverage.expected import ANY_CALL, NO_CALL, answering_tool, expected_tools
from labeling.expectations.offered_tools import Offers
from labeling.models import (
    Dataset,
    DatasetVersion,
    GoldTool,
    Resolution,
    Revision,
    ToolPart,
    VersionEntry,
)
from toolevals.grading.values import ToolSpec
from toolevals.workspace.jobs.leases import Lease

# A tool is near that shares a word of its name, or so many words of its description.
FEWEST_SHARED = 2
MOST_TEXT = 4_000
_WORD = re.compile(r"[^\W_]{3,}")
_PARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_.\-/]")
_COMMON = frozenset(
    [
        "about",
        "and",
        "any",
        "are",
        "can",
        "could",
        "did",
        "does",
        "for",
        "from",
        "give",
        "get",
        "has",
        "have",
        "her",
        "him",
        "his",
        "how",
        "into",
        "its",
        "let",
        "make",
        "may",
        "more",
        "need",
        "not",
        "now",
        "one",
        "our",
        "out",
        "please",
        "set",
        "she",
        "should",
        "some",
        "tell",
        "than",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "they",
        "this",
        "tool",
        "use",
        "used",
        "user",
        "using",
        "via",
        "want",
        "was",
        "what",
        "when",
        "where",
        "which",
        "who",
        "why",
        "will",
        "with",
        "would",
        "you",
        "your",
    ]
)
AT_ONCE = 500


def nearest_tools(messages: Any, tools: Mapping[str, ToolSpec]) -> tuple[str, ...]:
    """Return the offered tools that share the rarest words with what the user says last; none where no tool is near.

    A word weighs log(1 + n/k) where k of n tools have it. Tools that come equally near are all returned, up to three.
    """
    said = _words(last_request({"messages": messages}))
    if not said or not tools:
        return ()
    names = {name: _words(_PARTS.sub(" ", name)) for name in tools}
    words = {name: names[name] | _words(tool.description or "") for name, tool in tools.items()}
    spread = Counter(word for each in words.values() for word in each)
    scores: dict[str, float] = {}
    for name in tools:
        shared = said & words[name]
        if said & names[name] or len(shared) >= FEWEST_SHARED:
            scores[name] = sum(log(1 + len(tools) / spread[word]) for word in sorted(shared))
    best = max(scores.values(), default=0.0)
    nearest = tuple(sorted(name for name, score in scores.items() if score == best))
    return nearest if len(nearest) <= 3 else ()


def _words(text: str) -> frozenset[str]:
    tokens = (word.lower() for word in _WORD.findall(text[:MOST_TEXT]))
    return frozenset(_stem(word) for word in tokens if word not in _COMMON)


def _stem(word: str) -> str:
    for end in ("ing", "ies", "es", "s", "ed"):
        if word.endswith(end) and len(word) - len(end) >= 3:
            return word[: -len(end)]
    return word


def gold_in_force(dataset: Dataset) -> QuerySet[Revision]:
    """Return the current revisions of a dataset that are resolved by gold: what coverage counts."""
    return Revision.objects.current().filter(example__dataset=dataset, resolution=Resolution.RESOLVED)


def unread(dataset: Dataset) -> QuerySet[Revision]:
    """Return those whose gold has not been read."""
    return gold_in_force(dataset).filter(gold__isnull=False, gold__tools=None)


def gold_read(dataset: Dataset, lease: Lease | None = None) -> int:
    """Read the gold that has not been read, a page in each transaction; return how many were read."""
    offers, done, last = Offers(), 0, None
    while page := _page(dataset, last):
        rows = list(_rows(page, offers))
        with lease.transaction() if lease else transaction.atomic():
            GoldTool.objects.bulk_create(rows, ignore_conflicts=True)
        done, last = done + len(page), page[-1][0]
    return done


def entries_unread(version: DatasetVersion) -> QuerySet[VersionEntry]:
    """Return the entries of a frozen version whose gold has not been read: it need not be in force any more."""
    return VersionEntry.objects.filter(version=version, gold__tools=None)


def entries_read(version: DatasetVersion, most: int) -> None:
    """Read the gold of so many entries of a frozen version that has not been read."""
    offers = Offers()
    told = ("pk", "gold_id", "gold__expectation", "revision__tools_id", "revision__input")
    found = list(entries_unread(version).order_by("position").values_list(*told)[:most])
    for start in range(0, len(found), AT_ONCE):
        GoldTool.objects.bulk_create(_rows(found[start : start + AT_ONCE], offers), ignore_conflicts=True)


def _page(dataset: Dataset, after: UUID | None) -> list[Any]:
    rows = unread(dataset).filter(pk__gt=after) if after else unread(dataset)
    return list(rows.order_by("pk").values_list("pk", "gold_id", "gold__expectation", "tools_id", "input")[:AT_ONCE])


def _rows(page: Sequence[Any], offers: Offers) -> Iterator[GoldTool]:
    lists = offers.of(tools for _, _, _, tools, _ in page)
    for _, gold, expectation, tools, shown in page:
        expected = expected_tools(expectation, lists[tools])
        for name, kinds in expected.items():
            marked = f",{','.join(sorted(kinds))}," if kinds else ""
            yield GoldTool(gold_id=gold, part=ToolPart.EXPECTED, tool=name[:200], kinds=marked)
        if NO_CALL in expected:
            for part, name in _near(expectation, shown, lists[tools]):
                yield GoldTool(gold_id=gold, part=part, tool=name[:200])
        answered = answering_tool(shown.get("messages") if isinstance(shown, dict) else None)
        for name in [answered] if answered else expected.keys() - {NO_CALL, ANY_CALL}:
            yield GoldTool(gold_id=gold, part=ToolPart.ANSWERED, tool=name[:200])


def _near(expectation: Any, shown: Any, tools: Mapping[str, ToolSpec]) -> Iterator[tuple[ToolPart, str]]:
    """Yield the offered tools that a request without a call comes near: as the gold says, else by an estimate."""
    if named := [name for name in expectation.get("near", ()) if name in tools]:
        yield from ((ToolPart.NEAR, name) for name in named)
    elif isinstance(shown, dict):
        yield from ((ToolPart.ESTIMATED, name) for name in nearest_tools(shown.get("messages"), tools))
