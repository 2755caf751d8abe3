"""Everything that changes datasets, labels and gold. Each function is one short transaction with one audit row."""

from labeling.services.adjudication import adjudication_decide
from labeling.services.datasets import dataset_create, dataset_update
from labeling.services.disputes import dispute_open, dispute_settle
from labeling.services.imports import examples_import, import_start
from labeling.services.labels import label_submit, label_withdraw
from labeling.services.resolution import revision_settle, settle_due
from labeling.services.slots import draft_save, skip_undo, slot_claim, slot_release, slot_renew, slot_skip
from labeling.services.versions import version_freeze

__all__ = [
    "adjudication_decide",
    "dataset_create",
    "dataset_update",
    "dispute_open",
    "dispute_settle",
    "draft_save",
    "examples_import",
    "import_start",
    "label_submit",
    "label_withdraw",
    "revision_settle",
    "settle_due",
    "skip_undo",
    "slot_claim",
    "slot_release",
    "slot_renew",
    "slot_skip",
    "version_freeze",
]
