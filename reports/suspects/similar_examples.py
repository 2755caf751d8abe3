"""Find examples with the same, or nearly the same, text and other gold."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from labeling.agreement.reading import tool_said
from labeling.expectations.meaning import meaning
from labeling.lint.inputs import FEWEST_WORDS, Alike, conversation_text
from labeling.lint.texts import words_in
from labeling.models import DatasetVersion, VersionEntry
from reports.analyses.suspicion import TWINS, Reason, share_against
from toolevals.grading.values.canonical import digest

# So many of the others are named.
NAMED: Final = 5
# The evidence of examples that say the same, or nearly the same, times the share against: of a pair half of it.
SAME, NEAR = 4.4, 1.5
_AT_ONCE: Final = 500


@dataclass(slots=True)
class _Group:
    """Examples that are alike, with what is compared of their gold."""

    members: list[tuple[UUID, str, str]] = field(default_factory=list)


def twins_of(version: DatasetVersion) -> Iterator[tuple[UUID, Reason]]:
    """Yield revisions with the reason that others of the version say the same and expect something else.

    The same words are compared by all that is expected; nearly the same words by the tools alone, because a word that
    differs may well be an argument.
    """
    same: dict[str, _Group] = defaultdict(_Group)
    near: dict[int, _Group] = defaultdict(_Group)
    alike = Alike()
    for revision, name, shown, tools, expectation in _examples(version):
        words = words_in(conversation_text(shown))
        key = digest([str(tools), " ".join(words)])
        # Of the same words one stands for all among the nearly same.
        if key not in same and len(words) >= FEWEST_WORDS:
            near[alike.group(words)].members.append((revision, name, tool_said("expectation", expectation)))
        same[key].members.append((revision, name, meaning("expectation", expectation)))
    told = set()
    for revision, reason in _differing(same.values(), "the same", SAME):
        told.add(revision)
        yield revision, reason
    yield from (
        (revision, each)
        for revision, each in _differing(near.values(), "nearly the same", NEAR)
        if revision not in told
    )


def _differing(groups: Any, how: str, weight: float) -> Iterator[tuple[UUID, Reason]]:
    for group in groups:
        golds = Counter(gold for _, _, gold in group.members)
        if len(golds) < 2:
            continue
        size = len(group.members)
        for revision, _, gold in group.members:
            others = [(str(pk), name) for pk, name, other in group.members if other != gold]
            named = tuple({"revision_id": pk, "external_id": name} for pk, name in others[:NAMED])
            verb = "example says" if len(others) == 1 else "examples say"
            sentence = f"{len(others)} {verb} {how} and expect{'s' if len(others) == 1 else ''} something else."
            # The others that expect the same side with it.
            counts = len(others), golds[gold] - 1, size - 1
            if evidence := weight * share_against(*counts):
                yield revision, Reason(TWINS, sentence, evidence, *counts, examples=named)


def _examples(version: DatasetVersion) -> Iterator[Any]:
    rows = VersionEntry.objects.filter(version=version).order_by("position")
    yield from rows.values_list(
        "revision_id",
        "revision__example__external_id",
        "revision__input",
        "revision__tools_id",
        "gold__expectation",
    ).iterator(chunk_size=_AT_ONCE)
