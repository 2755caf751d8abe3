"""Names the types of JSON: an object that may be changed, one that is only read, and any value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

JsonObject: TypeAlias = dict[str, Any]
JsonMapping: TypeAlias = Mapping[str, Any]
JsonValue: TypeAlias = Any
