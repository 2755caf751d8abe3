"""Store datasets, their examples, people's labels, and the gold that results."""

from labeling.adjudicate.models import Adjudication, Dispute, Feedback, Gold, GoldSource
from labeling.agreement.models import AgreementReport, LabelReading
from labeling.calibration_rounds.models import CalibrationAnswer, CalibrationItem, CalibrationRound
from labeling.coverage.models import CoverageCount, GoldTool, ToolPart
from labeling.datasets.models import Dataset, GuidelineVersion, QueueOrder
from labeling.examples.models import Example, Resolution, Revision
from labeling.imports.models import GoldFate, ImportPart, Origin, StagedChange, StagedExample
from labeling.label.models import (
    Draft,
    KeyBindings,
    Label,
    LabelAnswer,
    LabelBatch,
    LabelSlot,
    Skip,
    SlotState,
    SpareLabel,
    Suggestion,
)
from labeling.lint.models import LintReport
from labeling.proposals.models import ProposalState, ProposedExample
from labeling.questions.models import Comment, QuestionView
from labeling.saved_views.models import SavedView
from labeling.second_looks.models import LookAnswer, LookPlan, LookProposal, SecondLook
from labeling.versions.models import DatasetVersion, VersionEntry

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
    "SavedView",
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
