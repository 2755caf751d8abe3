"""The core as a whole: what it loads, what it documents."""

import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from toolevals.grading.engine.case_metrics import METRICS
from toolevals.grading.engine.grader_catalog import GRADERS, MODES, SCORES, TAGS
from toolevals.grading.engine.layer_grading import LAYERS
from toolevals.grading.matching.equality import PROFILES
from toolevals.grading.reading.specs import FORMATS
from toolevals.grading.values import ProfileName
from toolevals.grading.values.matchers import MATCHERS
from toolevals.grading.values.verdict_table import DECIDING, FAILURES, VERDICT_NAMES, VERDICTS
from toolevals.grading.values.verdicts import CALLS, NONE, PARTS, UNKNOWN_TOOL, UNPARSED, FailureTag

KINDS_OF_MATCHERS = [matcher.kind for matcher in MATCHERS]
DOCS = Path(__file__).parents[2] / "docs" / "grading.md"


def test_the_core_loads_neither_django_nor_celery():
    code = (
        "import importlib, pkgutil, sys, toolevals.grading as core\n"
        "for module in pkgutil.walk_packages(core.__path__, 'toolevals.grading.'):\n"
        "    importlib.import_module(module.name)\n"
        "print(sorted({'django', 'celery', 'kombu', 'redis', 'requests', 'httpx'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


def test_a_layer_fails_and_decides_as_the_table_of_verdicts_says():
    assert {layer.name: layer.mode for layer in LAYERS} == {name: each.mode for name, each in FAILURES.items()}
    assert {part.name for part in DECIDING.values()} == PARTS.keys() - {CALLS}
    assert {row.place for row in VERDICTS} == {"outcome", "calls", "beside", "depth"}


def test_the_tables_are_complete():
    assert tuple(GRADERS) == VERDICT_NAMES
    assert set(SCORES) == set(METRICS)
    assert all(name == grader.name and grader.sentence for name, grader in {**GRADERS, **SCORES}.items())
    assert all(matcher.__doc__ for matcher in MATCHERS)
    assert set(PROFILES) == set(get_args(ProfileName))
    assert set(TAGS) == set(FailureTag)


@pytest.mark.parametrize(
    "name",
    [
        *GRADERS,
        *(matcher.kind for matcher in MATCHERS),
        *PROFILES,
        *MODES,
        *TAGS,
        *FORMATS,
        NONE,
        UNKNOWN_TOOL,
        UNPARSED,
    ],
)
def test_every_name_is_documented(name):
    assert f"`{name}`" in DOCS.read_text("utf-8")


@pytest.mark.parametrize("grader", [*GRADERS.values(), *SCORES.values()], ids=lambda grader: grader.name)
def test_every_grader_has_its_section_and_version(grader):
    assert f"### `{grader.name}` (version {grader.version})" in DOCS.read_text("utf-8")
