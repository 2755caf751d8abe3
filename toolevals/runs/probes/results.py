"""Work out the results of a check with probes: those that move the judge, by kind, language and place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from toolevals.grading.judging import Rubric
from toolevals.grading.judging.drift import Answer
from toolevals.grading.judging.probing import BASE_PREFIX, Moved, ProbeSet, ProbeTally, moved_by, tallies
from toolevals.grading.values.canonical import exact
from toolevals.runs.models import ProbeAnswer, ProbeCheck


@dataclass(frozen=True)
class Probed:
    """The effect of each probe of a check so far, with the judge's answers by the keys of its questions."""

    found: tuple[Moved, ...]
    answers: Mapping[str, ProbeAnswer]

    @cached_property
    def whole(self) -> ProbeTally:
        """All probes."""
        return ProbeTally.of("all", self.found)

    @cached_property
    def parts(self) -> tuple[tuple[str, tuple[ProbeTally, ...]], ...]:
        """The probes by kind, language and place, each with what the field is called."""
        return (
            ("Kind", tallies(self.found, lambda probe: probe.kind)),
            ("Place", tallies(self.found, lambda probe: probe.place)),
            ("Language", tallies(self.found, lambda probe: probe.language)),
        )

    def both(self, moved: Moved) -> tuple[ProbeAnswer | None, ProbeAnswer | None]:
        """Return the judge's answers without and with a probe."""
        return self.answers.get(f"{BASE_PREFIX}{moved.probe.base}"), self.answers.get(moved.probe.id)


def probed(check: ProbeCheck) -> Probed:
    """Return what came of a check so far."""
    rows = {row.key: row for row in check.answers.all()}
    answers = {key: Answer(row.value, row.error) for key, row in rows.items()}
    rubric = Rubric.from_document(check.judge.rubric.document)
    return Probed(moved_by(ProbeSet.from_document(check.probes), rubric, answers), rows)


COLUMNS = (
    "probe_check_id",
    "probe",
    "kind",
    "language",
    "place",
    "base",
    "text",
    "effect",
    "value_without",
    "value_with",
    "reason_without",
    "reason_with",
    "error_without",
    "error_with",
    "answer_without",
    "answer_with",
    "answered_by",
    "input_tokens",
    "output_tokens",
    "cost",
)


def probe_rows(check: ProbeCheck) -> Iterator[tuple[Any, ...]]:
    """Yield a line for each probe of a check, as `COLUMNS`; tokens and cost are of the question with the probe."""
    results = probed(check)
    for each in results.found:
        probe, (without, told) = each.probe, results.both(each)
        yield (
            *(check.pk, probe.id, probe.kind, probe.language, probe.place, probe.base, probe.text, each.effect),
            *(getattr(row, name, None) for name in ("value", "reason", "error") for row in (without, told)),
            *(exact(row.answer) if row and row.answer else None for row in (without, told)),
            *(getattr(told, name, None) for name in ("answered_by", "input_tokens", "output_tokens", "cost")),
        )
