"""The figures of other packages, as `__main__` wrote them."""

import json
from pathlib import Path
from typing import Any

REFERENCES: dict[str, Any] = json.loads((Path(__file__).parent / "references.json").read_text("utf-8"))
