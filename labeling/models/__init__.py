"""Datasets, their examples, people's labels, and the gold that comes of them."""

from labeling.models.datasets import Dataset, DatasetVersion, VersionEntry
from labeling.models.examples import Example, Resolution, Revision
from labeling.models.gold import Adjudication, Dispute, Gold, GoldSource
from labeling.models.imports import ImportPart, StagedExample
from labeling.models.labels import Draft, Label, LabelSlot, Skip, SlotState

__all__ = [
    "Adjudication",
    "Dataset",
    "DatasetVersion",
    "Dispute",
    "Draft",
    "Example",
    "Gold",
    "GoldSource",
    "ImportPart",
    "Label",
    "LabelSlot",
    "Resolution",
    "Revision",
    "Skip",
    "SlotState",
    "StagedExample",
    "VersionEntry",
]
