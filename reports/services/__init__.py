"""Everything that `reports` writes."""

from reports.services.badges import badge_drop, badge_make
from reports.services.bundles import BUNDLE, bundle_start, bundle_work
from reports.services.gates import GateRequest, gate_decide, gate_hold

__all__ = [
    "BUNDLE",
    "GateRequest",
    "badge_drop",
    "badge_make",
    "bundle_start",
    "bundle_work",
    "gate_decide",
    "gate_hold",
]
