"""Write all that `reports` stores."""

from reports.services.badges import badge_drop, badge_make
from reports.services.bundles import BUNDLE, bundle_start, bundle_work
from reports.services.gate_previews import gate_preview_start, gate_previews_forget
from reports.services.gates import GateRequest, gate_decide, gate_hold
from reports.services.named_gates import named_gate_delete, named_gate_save
from reports.services.public_scores import public_score_record, public_score_withdraw, public_scores_import
from reports.services.table_files import TABLE, table_belongs, table_of, table_start, table_work

__all__ = [
    "BUNDLE",
    "TABLE",
    "GateRequest",
    "badge_drop",
    "badge_make",
    "bundle_start",
    "bundle_work",
    "gate_decide",
    "gate_hold",
    "gate_preview_start",
    "gate_previews_forget",
    "named_gate_delete",
    "named_gate_save",
    "public_score_record",
    "public_score_withdraw",
    "public_scores_import",
    "table_belongs",
    "table_of",
    "table_start",
    "table_work",
]
