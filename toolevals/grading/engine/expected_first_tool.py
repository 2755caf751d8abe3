"""Tell which tool a case is about before anyone has done anything: what an unscored case is counted under."""

from __future__ import annotations

from typing import Final

from toolevals.grading.engine.grading import CompiledCase, grade
from toolevals.grading.values import Transcript

_IDLE: Final = Transcript()


def first_expected_class(compiled: CompiledCase) -> str:
    """Return the row of the matrix of first calls in which an agent stands that does nothing.

    The first expected call of the first alternative, `(none)` where no call is due; empty where any call will do, or
    the expectation cannot be compiled.
    """
    return grade(compiled, _IDLE).expected
