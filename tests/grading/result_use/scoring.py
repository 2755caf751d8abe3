"""Precision and recall of the grader on the labelled answers."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolevals.grading.result_use import Claim, ResultUse, grade_result_use
from toolevals.grading.values import Transcript

DATA = Path(__file__).parents[1] / "data" / "result_use"


def rows(name: str) -> list[dict[str, Any]]:
    """Return the rows of a labelled file."""
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


@dataclass
class Counts:
    """What was found rightly, found wrongly, and missed."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.wrong)

    @property
    def recall(self) -> float:
        return self.right / (self.right + self.missed)


@dataclass
class Scores:
    """`found` counts claims by their place, `ungrounded` those that nothing supports, `kinds` findings by kind.

    `sources` counts grounded claims by whether their source is the labelled one; `missed_rows` are the rows
    whose findings differ.
    """

    found: Counts = field(default_factory=Counts)
    ungrounded: Counts = field(default_factory=Counts)
    kinds: dict[str, Counts] = field(default_factory=dict)
    sources: Counter[bool] = field(default_factory=Counter)
    missed_rows: list[str] = field(default_factory=list)

    @property
    def findings(self) -> Counts:
        """All kinds together."""
        return Counts(
            sum(counts.right for counts in self.kinds.values()),
            sum(counts.wrong for counts in self.kinds.values()),
            sum(counts.missed for counts in self.kinds.values()),
        )


def scores() -> Scores:
    """Grade every labelled answer and compare."""
    total = Scores()
    for row in rows("answers.jsonl"):
        use = grade_result_use(Transcript.from_document({"messages": row["messages"]}))
        _count_claims(total, row, use)
        _count_kinds(total, row, use)
    return total


def _count_claims(total: Scores, row: dict[str, Any], use: ResultUse) -> None:
    last = len(row["messages"]) - 1
    open_claims = {place: claim for place, claim in enumerate(use.claims) if claim.message == last}
    for label in row["claims"]:
        wanted = label["from"] == "ungrounded"
        place = _overlapping(label, open_claims)
        if place is None:
            total.found.missed += 1
            total.ungrounded.missed += wanted
            continue
        del open_claims[place]
        total.found.right += 1
        source = use.attributions[place].source
        got = source == "ungrounded"
        total.ungrounded.right += wanted and got
        total.ungrounded.wrong += got and not wanted
        total.ungrounded.missed += wanted and not got
        if not wanted and not got:
            total.sources[source == label["from"]] += 1
    total.found.wrong += len(open_claims)
    total.ungrounded.wrong += sum(not use.attributions[place].is_grounded for place in open_claims)


def _overlapping(label: dict[str, Any], claims: dict[int, Claim]) -> int | None:
    end = label["start"] + len(label["text"])
    return next((place for place, claim in claims.items() if claim.start < end and label["start"] < claim.end), None)


def _count_kinds(total: Scores, row: dict[str, Any], use: ResultUse) -> None:
    wanted, got = set(row["findings"]), {finding.kind for finding in use.findings}
    for kind in wanted | got:
        counts = total.kinds.setdefault(kind, Counts())
        counts.right += kind in wanted and kind in got
        counts.wrong += kind not in wanted
        counts.missed += kind not in got
    if wanted != got:
        total.missed_rows.append(row["id"])
