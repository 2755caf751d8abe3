"""Define the tables of reliability; docs/tables.md describes their columns."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from labeling.models import Example
from toolevals.presentation.table import INTERVAL, RATE, Column, Table, with_interval

ESTIMATE: Final = Table(
    "Estimate",
    "A mean over `count` examples with its 95 % interval; null where it is undefined.",
    (Column("value", float, optional=True), Column("interval", INTERVAL, optional=True), Column("count", int)),
    (("", "value"), ("_low", "interval.low"), ("_high", "interval.high")),
)
_OF_K: Final = (Column("pass_at_k", ESTIMATE, "at"), Column("pass_hat_k", ESTIMATE, "hat"))
RELIABILITY: Final = Table(
    "Point",
    "pass@k and pass^k over the examples with at least k scored trials.",
    (
        Column("kind", only="file"),
        Column("name", only="file"),
        Column("k", int),
        Column("examples", int, only="file"),
        *_OF_K,
    ),
)
GROUPS: Final = Table(
    "Group",
    "The examples of one tool or of one value of a stratum. `rate` is that of single trials.",
    (
        Column("kind", ("tool", *Example.STRATA)),
        Column("name"),
        Column("examples", int),
        Column("rate", ESTIMATE, "one"),
        *_OF_K,
    ),
)
CAME_OUT: Final = Table(
    "CameOut",
    "The number of examples whose scored trials always, sometimes, never passed; the unscored have none.",
    tuple(Column(name, int) for name in ("always", "sometimes", "never", "unscored")),
)
VARIANCE: Final = Table(
    "Variance",
    "The variance of a trial's outcome, split; `consistency` is the share between examples.",
    (
        Column("examples", int, "count", only="file"),
        Column("between", float),
        Column("within", float),
        Column("consistency", float, optional=True),
        Column("count", int, only="answer"),
    ),
)
TRIALS: Final = Table(
    "TrialCount",
    "One example and how its trials came out.",
    (
        Column("revision_id", UUID, "entry.revision_id"),
        Column("external_id", str, "entry.revision.example.external_id"),
        *(Column(name, None) for name in ("tool", "bucket", "difficulty")),
        *(Column(name, int) for name in ("passed", "failed", "unscored", "errored")),
    ),
)
STEPS: Final = Table(
    "Chain",
    "The scored cases that expect this number of calls, and p^k.",
    (
        Column("steps", int),
        Column("passed", int, "cases.passed", only="file"),
        Column("cases", int, "cases.total", only="file"),
        Column("rate", RATE, "cases", only="file"),
        Column("cases", RATE, only="answer"),
        *with_interval("predicted", "predicted", "predicted_interval", "predicted_interval"),
    ),
)
OVERVIEW: Final = Table(
    "Reliability",
    "`trials` is null for a run of one trial, `steps` where no case has several calls.",
    (
        Column(
            "trials",
            Table(
                "TrialsOverview",
                "A run of several trials.",
                (
                    Column("trials", int),
                    Column("k", int),
                    Column("curve", RELIABILITY, many="list"),
                    Column("examples", CAME_OUT, "came_out"),
                    Column("variance", VARIANCE, optional=True),
                    Column("groups", GROUPS, many="list"),
                ),
            ),
            optional=True,
        ),
        Column(
            "steps",
            Table(
                "Compounding",
                "The compounding of single steps. `longer` cases take more than five steps.",
                (
                    Column("step", RATE),
                    Column("whole", RATE),
                    Column("chains", STEPS, many="list"),
                    Column("longer", int),
                    Column("cases", int),
                ),
            ),
            optional=True,
        ),
    ),
)
