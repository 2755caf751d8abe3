"""Tell what goes wrong in labelling though every value is well formed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from labeling.models import CalibrationRound


class InvalidAct(Exception):  # noqa: N818 - nothing is broken: somebody else was faster, or the time has passed
    """The act does not fit the state of things.

    The slot is another's, the example is resolved, one's own label is in the way: the message is a sentence for the
    person who tried.
    """


class NoPlaceLeft(InvalidAct):
    """A claim ran out, and no place for a label of this person is left: it can be kept as a spare one."""


class CalibrationFirst(InvalidAct):
    """Examples are handed out to this person only when they have answered a calibration round."""

    def __init__(self, calibration: CalibrationRound) -> None:
        super().__init__(f"First answer the calibration round “{calibration.name}”.")
        self.calibration = calibration
