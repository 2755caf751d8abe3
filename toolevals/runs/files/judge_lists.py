"""Write the lists of judges, rubrics and simulators as files: columns (see docs/tables.md) and rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from toolevals.presentation.csv import Cell
from toolevals.runs.judging.judge_reliability import standings_of
from toolevals.runs.models import Rubric, Simulator

JUDGES: Final = (
    "judge_id",
    "name",
    "rubric_id",
    "rubric",
    "rubric_version",
    "layer",
    "model",
    "is_pinned",
    "is_on",
    "share",
    "budget",
    "trust",
    "flag",
    "measure",
    "measured",
    "threshold",
    "calibration_id",
    "calibrated_at",
    "thumbs_up",
    "thumbs_down",
    "newest_run",
    "passed",
    "failed",
    "errored",
    "cost",
    "created_at",
)
RUBRICS: Final = ("rubric_id", "rubric", "version", "title", "layer", "document", "created_at")
SIMULATORS: Final = ("simulator_id", "name", "version", "kind", "tools", "digest", "actor_id", "actor", "created_at")


def judge_lines(pages: Iterable[Any]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each judge of pages that were read `with_thumbs` and `with_newest_count`."""
    for page in pages:
        standings = standings_of(page)
        for each in page:
            standing, rubric = standings[each.pk], each.rubric
            yield (
                each.pk,
                each.name,
                rubric.pk,
                rubric.name,
                rubric.version,
                rubric.layer,
                each.model,
                each.is_pinned,
                each.is_on,
                each.share,
                each.budget,
                standing.trust.value,
                standing.words,
                each.measure,
                standing.figure.value if standing.figure else None,
                each.threshold,
                standing.calibration.pk if standing.calibration else None,
                standing.calibrated_at,
                each.thumbs_up,
                each.thumbs_down,
                each.newest_run,
                each.newest_passed,
                each.newest_failed,
                each.newest_errored,
                each.newest_cost,
                each.created_at,
            )


def rubric_lines(rubrics: Iterable[Rubric]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each version of a rubric."""
    for rubric in rubrics:
        document = json.dumps(rubric.document, ensure_ascii=False)
        yield rubric.pk, rubric.name, rubric.version, rubric.title, rubric.layer, document, rubric.created_at


def simulator_lines(simulators: Iterable[Simulator]) -> Iterator[tuple[Cell, ...]]:
    """Yield one row for each simulator; without tools where only asking it tells which it answers."""
    for simulator in simulators:
        who = (simulator.actor.pk, simulator.actor.name) if simulator.actor else (None, None)
        tools = None if simulator.tools is None else " ".join(simulator.tools)
        yield (
            simulator.pk,
            simulator.name,
            simulator.number,
            simulator.kind,
            tools,
            simulator.digest,
            *who,
            simulator.created_at,
        )
