"""Writes gradings of many cases over 200 tools straight into the tables of an empty installation."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from uuid_utils.compat import uuid7

CASES = int(os.environ.get("REPORTS_CASES", "1000000"))
TRIALS, TOOLS = 5, 200
EXAMPLES = CASES // TRIALS
BUCKETS, DIFFICULTIES = ("selection", "arguments", "no call"), ("easy", "hard")
SEED = 20_260_310
VERDICTS = ("outcome", "selection", "arguments", "schema", "shape", "equivalence")


@dataclass(frozen=True)
class _Examples:
    """The examples of the dataset, as columns in order."""

    ids: list[dict[str, Any]]
    expected: list[str]
    strata: list[tuple[str, str]]


def store_gradings(runs: int = 2) -> list[Any]:
    """Return the gradings of runs 1, 2, ... of the one project, on the same examples; it has a "bench@example.org"."""
    from labeling.models import Dataset, DatasetVersion
    from toolevals.grading.values import ToolSpec
    from toolevals.registry.tool_lists import tool_list_of
    from toolevals.runs.models import Agent, Experiment
    from toolevals.workspace.models import Role
    from toolevals.workspace.services import member_set, project_create, user_create

    project = project_create(actor=None, slug="bench", name="Bench")
    user = user_create(actor=None, email="bench@example.org", name="Bench")
    member_set(project=project, actor=None, user=user, role=Role.VIEWER)
    names = [f"area_{place % 12}.tool_{place:03}" for place in range(TOOLS)]
    specs = [ToolSpec(name=name, description=f"Does {name}.", input_schema={"type": "object"}) for name in names]
    tools = tool_list_of(project=project, specs=specs)
    dataset = Dataset.objects.create(project=project, slug="core", name="Core")
    version = DatasetVersion.objects.create(dataset=dataset, number=1, size=EXAMPLES)
    experiment = Experiment.objects.create(project=project, slug="bench", name="Bench")
    agent = Agent.objects.create(project=project, name="agent", connector="upload", digest="bench")
    examples = _stored_examples(dataset, version, tools, names)
    # As they are counted when a version is frozen.
    sources = Counter(version.entries.order_by().values_list("gold__source", flat=True).iterator())
    DatasetVersion.objects.filter(pk=version.pk).update(gold_sources=dict(sources))
    return [
        _stored_grading(number, examples, names, project=project, experiment=experiment, agent=agent, version=version)
        for number in range(1, runs + 1)
    ]


def _stored_grading(
    number: int, examples: _Examples, names: list[str], *, project: Any, experiment: Any, agent: Any, version: Any
) -> Any:
    from django.db import transaction
    from django.utils import timezone

    from toolevals.runs.models import AlignedPair, CaseGrade, Grading, Run, Transcript, TrialCount
    from toolevals.runs.services.counting import cases_count, counted_store
    from toolevals.runs.services.packing import cases_pack, packed_store
    from toolevals.runs.services.trial_rollups import TRIAL_COLUMNS, trial_rows
    from toolevals.runs.services.trial_tallies import tallies_store
    from toolevals.runs.services.turns import turns_write
    from toolevals.workspace.bulk import rows_insert, tables_analyze

    run = Run.objects.create(
        project=project,
        number=number,
        experiment=experiment,
        agent=agent,
        dataset_version=version,
        trials=TRIALS,
    )
    grading = Grading.objects.create(run=run, number=1, dataset_version=version, graders=[])
    with transaction.atomic():
        _store_cases(grading, examples, names, Random(SEED + number))
    tables_analyze(Transcript, CaseGrade, AlignedPair)
    with transaction.atomic():
        trials = list(trial_rows(grading))
        rows_insert(TrialCount, TRIAL_COLUMNS, trials)
        tallies_store(grading, trials)
    turns_write(run)
    counted = cases_count(grading)
    with transaction.atomic():
        counted_store(grading, counted)
        packed_store(grading, cases_pack(grading))
    grading.finished_at = timezone.now()
    grading.save()
    run.grading = grading
    run.save()
    return grading


def _stored_examples(dataset: Any, version: Any, tools: Any, names: list[str]) -> _Examples:
    from django.db import transaction

    random = Random(SEED)
    ids = [{kind: uuid7() for kind in ("example", "revision", "gold", "entry")} for _ in range(EXAMPLES)]
    expected = [random.choice(names) for _ in range(EXAMPLES)]
    strata = [(random.choice(BUCKETS), random.choice(DIFFICULTIES)) for _ in range(EXAMPLES)]
    examples = _Examples(ids, expected, strata)
    with transaction.atomic():
        _store_examples(dataset, version, tools, examples)
    return examples


def _store_examples(dataset: Any, version: Any, tools: Any, examples: _Examples) -> None:
    from labeling.models import Example, Gold, Revision, VersionEntry

    ids = examples.ids
    _insert(
        Example,
        ("id", "external_id", "bucket", "difficulty"),
        ((each["example"], f"ex-{place:06}", *examples.strata[place]) for place, each in enumerate(ids)),
        dataset_id=dataset.pk,
    )
    _insert(
        Revision,
        ("id", "example_id", "input", "gold_id"),
        ((each["revision"], each["example"], _says(place), each["gold"]) for place, each in enumerate(ids)),
        tools_id=tools.pk,
        number=1,
        digest="bench",
        resolution="resolved",
    )
    _insert(
        Gold,
        ("id", "revision_id", "expectation"),
        ((each["gold"], each["revision"], _expects(examples.expected[place])) for place, each in enumerate(ids)),
        source="imported",
    )
    _insert(
        VersionEntry,
        ("id", "position", "revision_id", "gold_id"),
        ((each["entry"], place, each["revision"], each["gold"]) for place, each in enumerate(ids)),
        version_id=version.pk,
    )


def _store_cases(grading: Any, examples: _Examples, names: list[str], random: Random) -> None:
    from toolevals.runs.models import AlignedPair, CaseGrade, MatrixCount, Transcript, VerdictCount

    cases = [(uuid7(), uuid7(), place, trial) for place in range(EXAMPLES) for trial in range(TRIALS)]
    _insert(
        Transcript,
        ("id", "entry_id", "trial"),
        ((transcript, examples.ids[place]["entry"], trial) for _, transcript, place, trial in cases),
        run_id=grading.run_id,
        document={"messages": []},
    )
    expected = examples.expected
    cells = [(expected[place], _called(random, expected[place], names)) for _, _, place, _ in cases]
    rows = [_graded(*cell) for cell in cells]
    in_strata = [examples.strata[place] for _, _, place, _ in cases]
    _insert(
        CaseGrade,
        ("id", "transcript_id", *VERDICTS, "tag", "mode", "expected", "actual", "bucket", "difficulty", "detail"),
        (
            (case[0], case[1], *row, *cell, *stratum, _detail(row, cell))
            for case, row, cell, stratum in zip(cases, rows, cells, in_strata, strict=True)
        ),
        grading_id=grading.pk,
    )
    _insert(
        AlignedPair,
        ("case_id", "expected", "actual", "bucket", "difficulty"),
        ((case[0], *cell, *stratum) for case, cell, stratum in zip(cases, cells, in_strata, strict=True)),
        grading_id=grading.pk,
        number=0,
        arguments="unscored",
    )
    _insert(
        MatrixCount,
        ("expected", "actual", "count"),
        ((*cell, count) for cell, count in Counter(cells).items()),
        grading_id=grading.pk,
        view="first",
    )
    counted = Counter(pair for row in rows for pair in zip((*VERDICTS, "tag", "mode"), row, strict=True) if pair[1])
    _insert(
        VerdictCount,
        ("column", "value", "count"),
        ((*pair, count) for pair, count in counted.items()),
        grading_id=grading.pk,
    )


def _insert(model: Any, columns: tuple[str, ...], rows: Iterator[tuple[Any, ...]], **same: Any) -> None:
    """Insert rows of `columns`; `same` is equal in all of them, and what is in neither is at its default."""
    from django.utils import timezone

    from toolevals.workspace.bulk import rows_insert

    rest = {
        field.attname: timezone.now() if getattr(field, "auto_now_add", False) else field.get_default()
        for field in model._meta.concrete_fields
        if field.attname not in columns
        # What the database makes itself.
        and not field.has_db_default()
        and not field.get_internal_type().endswith("AutoField")
    }
    fixed = rest | same
    rows_insert(model, (*columns, *fixed), ((*row, *fixed.values()) for row in rows))


def _says(place: int) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": f"Please see to request number {place}, the one of last week."}]}


def _expects(tool: str) -> dict[str, Any]:
    return {"kind": "calls", "alternatives": [{"ordered": [{"tool": tool}], "additional_calls": False}]}


def _called(random: Random, expected: str, names: list[str]) -> str:
    chance = random.random()
    if chance < 0.85:
        return expected
    if chance < 0.95:
        # Most mistakes are between neighbours.
        return names[(names.index(expected) + random.randint(1, 4)) % TOOLS]
    return random.choice(["(none)", "(unknown tool)", random.choice(names)])


def _graded(expected: str, actual: str) -> tuple[str, ...]:
    if expected == actual:
        return ("passed", "passed", "passed", "passed", "passed", "passed", "", "")
    return ("failed", "failed", "unscored", "passed", "unscored", "failed", "WRONG_ANSWER", "wrong_tool")


def _detail(row: tuple[str, ...], cell: tuple[str, str]) -> dict[str, Any]:
    verdicts = {
        name: {"status": status, "value": None, "reason": f"Expected {cell[0]}, first call was {cell[1]}."}
        for name, status in zip(VERDICTS, row, strict=False)
    }
    return {
        "verdicts": verdicts,
        "tag": row[6],
        "mode": row[7],
        "expected": cell[0],
        "actual": cell[1],
        "pairs": [{"expected": cell[0], "actual": cell[1], "arguments": "unscored"}],
        "differences": [],
        "schema_problems": [],
    }
