"""Hold the words of every example that is labelled in a measurement, and the call that its labels expect."""

from __future__ import annotations

WORDS = "My parcel was due on Monday and has not come; can you tell me where it is? "
CALL = {
    "kind": "calls",
    "alternatives": [{"ordered": [{"tool": "track_parcel", "arguments": {"order_id": {"exact": "A-1"}}}]}],
}
