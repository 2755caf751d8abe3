"""Hold the document that a new policy begins with."""

from __future__ import annotations

from typing import Final

from toolevals.json_types import JsonObject

# Every rule counts and lets pass, until its error rates are known. The schema rule needs a registry.
STARTER: Final[JsonObject] = {
    "rules": {
        "calls": {"kind": "calls", "mode": "audit", "most": 25},
        "injection": {"kind": "injection", "mode": "audit"},
        "patterns": {"kind": "patterns", "mode": "audit"},
        "repeat": {"kind": "repeat", "mode": "audit", "effect": "writes"},
        "schema": {"kind": "schema", "mode": "audit"},
    }
}
# The same where no tools are on offer.
STARTER_WITHOUT_TOOLS: Final[JsonObject] = {
    "rules": {name: rule for name, rule in STARTER["rules"].items() if rule["kind"] != "schema"}
}
