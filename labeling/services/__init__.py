"""Change datasets, labels and gold. Each function is one short transaction with one audit row."""

from labeling.services.adjudication import adjudication_decide, adjudication_set_aside, adjudication_withdraw
from labeling.services.batches import (
    Choice,
    batch_close,
    batch_create,
    batch_update,
    slots_assign,
    slots_unassign,
)
from labeling.services.calibration import calibration_answer, calibration_close, calibration_open
from labeling.services.datasets import dataset_create, dataset_update, example_decide_by
from labeling.services.disputes import dispute_open, dispute_settle
from labeling.services.exports import export_start, export_tells
from labeling.services.feedback import feedback_mark_seen
from labeling.services.guidelines import guideline_publish
from labeling.services.import_lines import import_lines_file
from labeling.services.imports import examples_import, import_start
from labeling.services.keys import keys_set
from labeling.services.labels import label_submit, label_withdraw
from labeling.services.lint import finding_ignore, finding_restore, lint_failed, lint_running, lint_start
from labeling.services.ordering import disagreement_set, order_set, queue_order
from labeling.services.overlap import labelling_set, overlap_apply
from labeling.services.proposals import proposal_accept, proposals_accept, proposals_drop, proposals_make
from labeling.services.quotas import quotas_set
from labeling.services.reopening import gold_restore, revision_reopen
from labeling.services.resolution import revision_settle, settle_due
from labeling.services.second_looks import (
    second_look_answer,
    second_look_open,
    second_looks_begin,
    second_looks_end,
)
from labeling.services.shown_strata import strata_show
from labeling.services.slots import (
    draft_save,
    skip_undo,
    slot_claim,
    slot_leave,
    slot_reclaim,
    slot_release,
    slot_renew,
    slot_skip,
)
from labeling.services.spare import label_hand_in, label_keep, was_handed_out
from labeling.services.suggestions import SuggestionRow, suggestions_store
from labeling.services.talk import comment_add, question_open
from labeling.services.versions import version_describe, version_freeze

__all__ = [
    "Choice",
    "SuggestionRow",
    "adjudication_decide",
    "adjudication_set_aside",
    "adjudication_withdraw",
    "batch_close",
    "batch_create",
    "batch_update",
    "calibration_answer",
    "calibration_close",
    "calibration_open",
    "comment_add",
    "dataset_create",
    "dataset_update",
    "disagreement_set",
    "dispute_open",
    "dispute_settle",
    "draft_save",
    "example_decide_by",
    "examples_import",
    "export_start",
    "export_tells",
    "feedback_mark_seen",
    "finding_ignore",
    "finding_restore",
    "gold_restore",
    "guideline_publish",
    "import_lines_file",
    "import_start",
    "keys_set",
    "label_hand_in",
    "label_keep",
    "label_submit",
    "label_withdraw",
    "labelling_set",
    "lint_failed",
    "lint_running",
    "lint_start",
    "order_set",
    "overlap_apply",
    "proposal_accept",
    "proposals_accept",
    "proposals_drop",
    "proposals_make",
    "question_open",
    "queue_order",
    "quotas_set",
    "revision_reopen",
    "revision_settle",
    "second_look_answer",
    "second_look_open",
    "second_looks_begin",
    "second_looks_end",
    "settle_due",
    "skip_undo",
    "slot_claim",
    "slot_leave",
    "slot_reclaim",
    "slot_release",
    "slot_renew",
    "slot_skip",
    "slots_assign",
    "slots_unassign",
    "strata_show",
    "suggestions_store",
    "version_describe",
    "version_freeze",
    "was_handed_out",
]
