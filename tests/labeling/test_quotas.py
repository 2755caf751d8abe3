"""Quotas: what is valid, what is left out, and what a dataset lacks."""

from __future__ import annotations

from typing import Any

import pytest

from labeling.coverage.quotas import (
    CLASSES,
    DEFAULTS,
    class_of,
    deficits,
    quotas_check,
    quotas_document,
    spellings_of,
    strata_of,
)
from labeling.imports.services import examples_import
from labeling.models import Dataset, Example
from tests.labeling.rows import NO_CALL, row
from toolevals.grading.values.problems import InvalidDocument

pytestmark = pytest.mark.django_db


def test_defaults_are_valid_and_as_published() -> None:
    quotas_check(DEFAULTS)
    assert list(DEFAULTS["bucket"].values()) == [0.40, 0.10, 0.20, 0.15, 0.15]
    assert list(DEFAULTS["difficulty"].values()) == [0.4, 0.4, 0.2]
    assert DEFAULTS["per_tool"] == 30


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ({"per_tool": -1}, "/per_tool"),
        ({"bucket": {"selection": 1.5}}, "/bucket/selection"),
        ({"bucket": {"selection": 0.6}}, "/bucket"),
        ({"error_class": {"418": 1}}, "/error_class"),
        ({"tools": {"get_order": "many"}}, "/tools/get_order"),
        ([], ""),
        ({"surprise": 1}, ""),
    ],
)
def test_faults_are_named_by_pointer(document: Any, pointer: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        quotas_check(document)
    assert [problem.pointer for problem in caught.value.problems] == [pointer]


def test_what_is_left_out_is_as_by_default() -> None:
    full = quotas_document({"per_tool": 5, "error_class": {"429": 3}})
    assert (full["per_tool"], full["error_class"]["429"], full["error_class"]["404"]) == (5, 3, 1)


@pytest.mark.parametrize(
    ("stratum", "value", "expected"),
    [
        ("edge_case", "Time zone", "time_zone"),
        ("error_class", "timeout", "408"),
        ("bucket", "selection_irrelevant", "no_call"),
        ("bucket", "ours", "ours"),
        ("category", "simple", "simple"),
    ],
)
def test_spellings_are_one_class(stratum: str, value: str, expected: str) -> None:
    assert class_of(stratum, value) == expected


@pytest.mark.parametrize(("stratum", "name"), [(stratum, name) for stratum in CLASSES for name in CLASSES[stratum]])
def test_every_spelling_of_a_class_is_read_as_it(stratum: str, name: str) -> None:
    assert {class_of(stratum, spelling) for spelling in spellings_of(stratum, name)} == {name}


def test_deficits_count_gold_alone(dataset: Dataset) -> None:
    rows = [row(f"gold-{n}", expectation=NO_CALL, strata={"bucket": "no_call"}) for n in range(2)]
    rows += [row(f"open-{n}", strata={"bucket": "selection", "edge_case": "time zone"}) for n in range(8)]
    examples_import(dataset=dataset, actor=None, rows=rows)
    missing = deficits(dataset)
    assert missing["bucket", "selection"] == 4
    assert ("bucket", "no_call") not in missing
    # One for each of two tools; those that wait for labels do not count.
    assert missing["edge_case", "time_zone"] == 2
    assert ("edge_case", "time_zone") in strata_of(Example.objects.get(external_id="open-0"))


def test_quotas_of_the_dataset_are_what_counts(dataset: Dataset) -> None:
    dataset.quotas = {"size": 100, "bucket": {"arguments": 0}, "edge_case": dict.fromkeys(DEFAULTS["edge_case"], 0)}
    missing = deficits(dataset)
    assert missing["bucket", "selection"] == 40
    assert ("bucket", "arguments") not in missing
    assert not [pair for pair in missing if pair[0] == "edge_case"]
