"""Name the four statuses of a verdict, and say whose failure a case is."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

Status = Literal["passed", "failed", "unscored", "errored"]


class FailureTag(StrEnum):
    """The party at fault for a failure; every case that did not pass and is not unscored has exactly one."""

    MALFORMED_OUTPUT = "MALFORMED_OUTPUT"
    WRONG_ANSWER = "WRONG_ANSWER"
    ADAPTER_ERROR = "ADAPTER_ERROR"
    HARNESS_ERROR = "HARNESS_ERROR"
