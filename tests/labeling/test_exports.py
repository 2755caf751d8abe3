from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from labeling.datasets.services import dataset_create
from labeling.exports import dataset_lines, version_lines
from labeling.imports.services import examples_import
from labeling.models import Dataset
from labeling.versions.services import version_freeze
from tests.fixtures.draws import draws
from tests.labeling.rows import NO_CALL, SHOP_TOOLS, call, document
from toolevals.grading.reading.examples import read_example
from toolevals.grading.values import Expectation
from toolevals.grading.values.canonical import exact
from toolevals.workspace.audit.services import audit_opened

TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=30)
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "id": TEXT,
            "input": st.fixed_dictionaries(
                {"messages": st.just([{"role": "user", "content": "Hello"}])},
                optional={
                    "context": st.dictionaries(
                        TEXT, st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
                    )
                },
            ),
            "tools": st.just(SHOP_TOOLS),
        },
        optional={"strata": st.fixed_dictionaries({"bucket": TEXT}), "label": st.sampled_from([NO_CALL, call()])},
    ),
    max_size=6,
    unique_by=lambda row: str(row["id"]),
)


def normal(expectation: dict[str, Any]) -> dict[str, Any]:
    """Return the form in which an expectation is stored."""
    return Expectation.from_document(expectation).to_document()


def load(dataset: Dataset, text: bytes) -> None:
    examples_import(dataset=dataset, actor=None, rows=[read_example(json.loads(line)) for line in text.splitlines()])


def text_of(rows: list[dict[str, Any]]) -> bytes:
    return b"".join(exact(row).encode() + b"\n" for row in rows)


def test_export_says_everything_and_import_takes_it_back(project, dataset):
    rows = [
        document("z", tools=SHOP_TOOLS),
        document("a", expectation=call(), rationale="because", strata={"bucket": "selection", "effect": "read"}),
        document("<script>", expectation=NO_CALL, tools=SHOP_TOOLS[::-1]),
    ]
    load(dataset, text_of(rows))
    exported = b"".join(dataset_lines(dataset))
    first, second, third = (json.loads(line) for line in exported.splitlines())
    assert first == rows[0]
    assert second == rows[1] | {
        "expectation": normal(call()),
        "gold_source": "imported",
        "tools": SHOP_TOOLS,
    }
    assert third["tools"] == SHOP_TOOLS[::-1]
    again = dataset_create(project=project, actor=None, slug="again", name="Again")
    load(again, exported)
    assert b"".join(dataset_lines(again)) == exported


@draws(25)
@given(rows=ROWS)
def test_files_come_back_byte_for_byte(project, rows):
    lines = []
    for row in rows:
        line = {name: row[name] for name in ("id", "input", "tools")}
        if "label" in row:
            line |= {"expectation": normal(row["label"]), "gold_source": "imported"}
        lines.append(line | ({"strata": row["strata"]} if "strata" in row else {}))
    dataset = dataset_create(project=project, actor=None, slug=f"law-{project.datasets.count()}", name="Law")
    load(dataset, text_of(lines))
    assert b"".join(dataset_lines(dataset)) == text_of(lines)


def test_frozen_version_keeps_its_gold(dataset):
    load(dataset, text_of([document("a", expectation=call()), document("b")]))
    version = version_freeze(dataset=dataset, actor=None)
    frozen = b"".join(version_lines(version))
    load(dataset, text_of([document("a", expectation=NO_CALL)]))
    assert b"".join(version_lines(version)) == frozen
    assert [json.loads(line)["expectation"]["kind"] for line in frozen.splitlines()] == ["calls"]
    assert json.loads(next(dataset_lines(dataset)))["expectation"]["kind"] == "no_call"


def test_a_dataset_and_its_project_can_be_deleted_with_all_that_is_theirs(project, dataset, ann, ben, submit):
    load(dataset, text_of([document("a", expectation=call()), document("b")]))
    submit(ann, NO_CALL)
    version_freeze(dataset=dataset, actor=None)
    with audit_opened(project=project):
        project.delete()
    assert not Dataset.objects.exists()
