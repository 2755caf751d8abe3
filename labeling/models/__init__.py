"""Store datasets, their examples, people's labels, and the gold that results."""

from labeling.models.agreement import AgreementReport, LabelReading
from labeling.models.calibration import CalibrationAnswer, CalibrationItem, CalibrationRound
from labeling.models.coverage import CoverageCount, GoldTool, ToolPart
from labeling.models.datasets import Dataset, DatasetVersion, GuidelineVersion, QueueOrder, VersionEntry
from labeling.models.examples import Example, Resolution, Revision
from labeling.models.gold import Adjudication, Dispute, Feedback, Gold, GoldSource
from labeling.models.imports import GoldFate, ImportPart, Origin, StagedChange, StagedExample
from labeling.models.labels import Draft, Label, LabelAnswer, LabelBatch, LabelSlot, Skip, SlotState, SpareLabel
from labeling.models.preparing import KeyBindings, LintReport, ProposalState, ProposedExample, Suggestion
from labeling.models.second_looks import LookAnswer, LookPlan, LookProposal, SecondLook
from labeling.models.talk import Comment, QuestionView

__all__ = [
    "Adjudication",
    "AgreementReport",
    "CalibrationAnswer",
    "CalibrationItem",
    "CalibrationRound",
    "Comment",
    "CoverageCount",
    "Dataset",
    "DatasetVersion",
    "Dispute",
    "Draft",
    "Example",
    "Feedback",
    "Gold",
    "GoldFate",
    "GoldSource",
    "GoldTool",
    "GuidelineVersion",
    "ImportPart",
    "KeyBindings",
    "Label",
    "LabelAnswer",
    "LabelBatch",
    "LabelReading",
    "LabelSlot",
    "LintReport",
    "LookAnswer",
    "LookPlan",
    "LookProposal",
    "Origin",
    "ProposalState",
    "ProposedExample",
    "QuestionView",
    "QueueOrder",
    "Resolution",
    "Revision",
    "SecondLook",
    "Skip",
    "SlotState",
    "SpareLabel",
    "StagedChange",
    "StagedExample",
    "Suggestion",
    "ToolPart",
    "VersionEntry",
]
