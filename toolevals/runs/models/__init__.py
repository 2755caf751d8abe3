"""Store what is evaluated, what it did, and how it was graded."""

from toolevals.runs.aggregates.models import (
    CountedCases,
    KeptSums,
    MeasuredCalls,
    PackedCases,
    PlacedCase,
    StepCount,
    ToolSpending,
    TrialCount,
)
from toolevals.runs.drift.models import DriftAnswer, DriftCheck
from toolevals.runs.grading.models import (
    AlignedPair,
    ArgumentCount,
    ArgumentFault,
    CaseFinding,
    CaseGrade,
    Episode,
    FindingCount,
    Grading,
    MatrixCount,
    MetricCount,
    ToolAnswers,
    VerdictCount,
)
from toolevals.runs.judge_calibrations.models import CalibratedCase, JudgeCalibration, Rating
from toolevals.runs.judging.models import Judge, JudgeCount, JudgedCase, Judgement, Measure, Rubric
from toolevals.runs.probes.models import ProbeAnswer, ProbeCheck
from toolevals.runs.remarks.models import CaseNote, CaseTag, RevisionTurn
from toolevals.runs.rereading.models import Reading, RereadCase, Rereading, Said
from toolevals.runs.rubrics.models import Tryout, TryoutAnswer, TryoutCase
from toolevals.runs.runs.models import Agent, Connector, Experiment, Run, RunPace, Transcript
from toolevals.runs.simulators.models import DatasetSimulator, Simulator, SimulatorKind
from toolevals.runs.thumbs.models import Thumb

__all__ = [
    "Agent",
    "AlignedPair",
    "ArgumentCount",
    "ArgumentFault",
    "CalibratedCase",
    "CaseFinding",
    "CaseGrade",
    "CaseNote",
    "CaseTag",
    "Connector",
    "CountedCases",
    "DatasetSimulator",
    "DriftAnswer",
    "DriftCheck",
    "Episode",
    "Experiment",
    "FindingCount",
    "Grading",
    "Judge",
    "JudgeCalibration",
    "JudgeCount",
    "JudgedCase",
    "Judgement",
    "KeptSums",
    "MatrixCount",
    "Measure",
    "MeasuredCalls",
    "MetricCount",
    "PackedCases",
    "PlacedCase",
    "ProbeAnswer",
    "ProbeCheck",
    "Rating",
    "Reading",
    "RereadCase",
    "Rereading",
    "RevisionTurn",
    "Rubric",
    "Run",
    "RunPace",
    "Said",
    "Simulator",
    "SimulatorKind",
    "StepCount",
    "Thumb",
    "ToolAnswers",
    "ToolSpending",
    "Transcript",
    "TrialCount",
    "Tryout",
    "TryoutAnswer",
    "TryoutCase",
    "VerdictCount",
]
