"""Test what gates and statistics are called stands in the guide."""

import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

from toolevals.grading import metrics
from toolevals.grading.gates.metrics import STATISTICS
from toolevals.grading.gates.results import FUNCTION_CALLS, PUBLISHED_METRICS
from toolevals.grading.gates.rules import TOOL_STATISTICS

DOCS = (Path(__file__).parents[3] / "docs" / "grading.md").read_text("utf-8")
# What the functions of the guide are made of.
PARTS = {"normal_quantile", "percentile_of_sorted", "scored_mean", "paired"}


def public_functions() -> list[str]:
    names = set()
    for each in pkgutil.iter_modules(metrics.__path__, f"{metrics.__name__}."):
        module = importlib.import_module(each.name)
        for name, function in vars(module).items():
            own = getattr(function, "__module__", None) == each.name
            if own and callable(function) and not inspect.isclass(function) and not name.startswith("_"):
                names.add(name)
    return sorted(names - PARTS)


@pytest.mark.parametrize("name", public_functions())
def test_every_function_is_in_the_guide(name):
    assert f"`{name}`" in DOCS


# Sources of other evaluators are no names that a rule takes.
SOURCES = set(PUBLISHED_METRICS.values()) - set(FUNCTION_CALLS.values())


@pytest.mark.parametrize("name", [*STATISTICS, *TOOL_STATISTICS, *PUBLISHED_METRICS, *sorted(SOURCES)])
def test_every_statistic_and_metric_is_in_the_guide(name):
    assert f"`{name}`" in DOCS


@pytest.mark.parametrize("name", ["passed", "failed", "warned", "skipped", "unanswered"])
def test_every_status_is_in_the_guide(name):
    assert f"*{name}*" in DOCS
