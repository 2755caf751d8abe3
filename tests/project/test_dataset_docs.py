"""docs/datasets.md names every rule, kind, class and quota that there is, with the severities and limits that hold."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from labeling.coverage.cache import COUNTED_AT_ONCE
from labeling.coverage.quotas import CLASSES, DEFAULTS
from labeling.lint import descriptions, gold, inputs
from labeling.lint.findings import LISTED, RULES
from labeling.lint.texts import SHINGLE, SKETCH
from labeling.models import Example
from labeling.proposals.drafts import RULES as DRAFTED

DOCS = Path(__file__).resolve().parents[2] / "docs" / "datasets.md"


def rows(section: str) -> dict[str, str]:
    """Return the rows of a section's table: what each of the names in its first column says."""
    text = DOCS.read_text().split(f"\n## {section}\n")[1].split("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    return {name: line for line in lines for name in re.findall(r"`(\w+)`", line.split("|")[1])}


def test_every_rule_of_the_lint_is_stated_with_its_severity():
    stated = {name: line.split("|")[2].strip() for name, line in rows("Lint").items()}
    assert stated == {rule.name: rule.severity for rule in RULES.values()}


@pytest.mark.parametrize(
    ("rule", "limit"),
    [
        ("near_duplicate_input", f"at least {inputs.FEWEST_WORDS} words"),
        ("near_duplicate_input", f"at least {inputs.ALIKE:.1f}".replace("0.", ".")),
        ("near_duplicate_input", f"runs of {SHINGLE} words, estimated from {SKETCH} hashes"),
        ("never_filled", f"at least {gold.FEWEST_CALLS} golds"),
        ("no_description", f"fewer than {descriptions.FEWEST_WORDS} words"),
        ("same_description", f"at least {descriptions.SAME_TEXT:.0%}"),
        ("confusable", f"at least {descriptions.CONFUSABLE:.2f}".replace("0.", ".")),
        ("shared_opening", f"the same {descriptions.OPENING_WORDS} words"),
    ],
)
def test_limits_of_the_lint_are_those_that_hold(rule: str, limit: str):
    assert limit in rows("Lint")[rule]


def test_limits_that_hold_everywhere_are_stated():
    text = DOCS.read_text()
    assert f"the first {LISTED} findings" in text
    assert f"more than {descriptions.MOST_COMPARED} tools" in text
    assert f"up to {COUNTED_AT_ONCE:,} examples" in text


def test_every_draft_quota_and_stratum_is_stated():
    assert rows("Drafts of edge cases").keys() == {kind.value for kind in DRAFTED}
    assert rows("Quotas").keys() == DEFAULTS.keys()
    assert rows("Strata").keys() == set(Example.STRATA)
    for stratum, classes in CLASSES.items():
        assert stratum == "edge_case" or all(f"`{name}`" in rows("Strata")[stratum] for name in classes)


def test_default_shares_are_stated():
    for name in ("bucket", "difficulty"):
        said = rows("Quotas")[name].rsplit("|", 2)[1]
        assert [float(share) for share in re.findall(r"\.\d+", said)] == list(DEFAULTS[name].values())
