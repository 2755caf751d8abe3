"""Everything that `reports` writes."""

from reports.services.badges import badge_drop, badge_make
from reports.services.bundles import BUNDLE, bundle_start, bundle_work
from reports.services.gates import GateRequest, gate_decide, gate_hold
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
    "public_score_record",
    "public_score_withdraw",
    "public_scores_import",
    "table_belongs",
    "table_of",
    "table_start",
    "table_work",
]
