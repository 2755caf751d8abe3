"""Every name that recovery, execution and the trajectory metrics give is documented."""

import inspect
import re
from pathlib import Path

import pytest

from toolevals.grading.layers import task_metrics
from toolevals.grading.layers.execution import STATE_DIFFERENCE_KINDS
from toolevals.grading.layers.recovery import ERROR_CLASSES, REACTIONS

DOCS = (Path(__file__).parents[4] / "docs" / "grading.md").read_text("utf-8")
CORRECTIONS = {
    name
    for metric in task_metrics.TASK_METRICS
    for name in re.findall(r"`([a-z_]+)`\s*\(", inspect.getdoc(getattr(task_metrics, metric)) or "")
}


@pytest.mark.parametrize(
    "name", [*ERROR_CLASSES, *REACTIONS, *STATE_DIFFERENCE_KINDS, *task_metrics.TASK_METRICS, *sorted(CORRECTIONS)]
)
def test_name(name):
    assert f"`{name}`" in DOCS
