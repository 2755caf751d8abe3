"""Find duplicate and near-duplicate inputs, in one pass over any number of examples."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from labeling.conversation.turns import content_text
from labeling.lint.findings import NAMED, NamedExample, Report
from labeling.lint.texts import resemblance, sketch, words_in
from toolevals.grading.values.canonical import digest

# Texts of fewer words are compared as a whole only.
FEWEST_WORDS = 8
ALIKE = 0.8
# Two texts that are alike share one of their smallest hashes; a hash that more texts share says nothing.
PROBES = 6
MOST_IN_A_PROBE = 20


@dataclass(slots=True)
class Group:
    """Examples with one input: the first ones, how many there are, and the digests of their gold."""

    examples: list[NamedExample] = field(default_factory=list)
    count: int = 0
    golds: set[str] = field(default_factory=set)

    def add(self, example: NamedExample, gold: str | None) -> None:
        """Add an example; `gold` is the digest of what is expected, None where that is open."""
        self.count += 1
        if len(self.examples) < NAMED:
            self.examples.append(example)
        if gold is not None:
            self.golds.add(gold)


class Alike:
    """Texts that say nearly the same, put together in one pass: each joins the first group that it is alike."""

    def __init__(self) -> None:
        self._sketches: list[array[int]] = []
        self._probes: dict[int, list[int]] = defaultdict(list)

    def group(self, words: Sequence[str]) -> int:
        """Return the number of a text's group, from 0; a new one where it is alike none."""
        seen = sketch(words)
        candidates = {place for value in seen[:PROBES] for place in self._probes.get(value, ())}
        for place in sorted(candidates):
            if resemblance(seen, self._sketches[place]) >= ALIKE:
                return place
        place = len(self._sketches)
        self._sketches.append(seen)
        for value in seen[:PROBES]:
            if len(probe := self._probes[value]) < MOST_IN_A_PROBE:
                probe.append(place)
        return place


class Duplicates:
    """The texts of the conversations so far. The system's words are left out: they are alike on purpose."""

    def __init__(self) -> None:
        self._groups: dict[str, Group] = {}
        self._alike = Alike()
        self._near: dict[int, Group] = defaultdict(Group)

    def add(self, example: NamedExample, shown: Any, tools: str, gold: str | None) -> None:
        """Take in one example; `tools` names what is offered: with other tools it is another input."""
        words = words_in(conversation_text(shown))
        name = digest([tools, " ".join(words)])
        if name in self._groups:
            self._groups[name].add(example, gold)
            return
        self._groups[name] = group = Group()
        group.add(example, gold)
        if len(words) >= FEWEST_WORDS:
            self._near[self._alike.group(words)].add(example, None)

    def report(self, report: Report) -> None:
        """Add what was found."""
        for name, group in self._groups.items():
            if group.count > 1:
                self._report(report, name, group)
        for group in self._near.values():
            if group.count > 1:
                first = group.examples[0]
                sentence = f"{group.count} examples say nearly the same as {first['external_id']}."
                report.add(
                    "near_duplicate_input",
                    sentence,
                    about=[first["external_id"]],
                    examples=group.examples,
                    example_count=group.count,
                )

    def _report(self, report: Report, name: str, group: Group) -> None:
        two = len(group.golds) > 1
        sentence = f"{group.count} examples say the same" + (
            f", yet have {len(group.golds)} different golds." if two else "."
        )
        rule = "two_golds" if two else "duplicate_input"
        report.add(rule, sentence, about=[name], examples=group.examples, example_count=group.count)


def conversation_text(shown: Any) -> str:
    """Return what is said and answered in an input, the system's words aside."""
    messages = shown.get("messages") if isinstance(shown, Mapping) else None
    said = [
        content_text(message.get("content"))
        for message in (messages if isinstance(messages, list) else ())
        if isinstance(message, Mapping) and message.get("role") not in ("system", "developer")
    ]
    return "\n".join(said)
