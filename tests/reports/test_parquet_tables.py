"""Long tables as Parquet: the rows of their CSV with types, for the same people, and a form that cannot be had."""

from __future__ import annotations

import csv
import importlib
import io
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import duckdb
import pyarrow.parquet as files
import pytest
from django.urls import reverse

from reports.downloads.long_tables import COMPARED, TABLES, TableRequest
from reports.downloads.services import TABLE
from tests.reports.building import Case, cases_of
from tests.reports.test_every_table import made
from toolevals.presentation.csv import safe_cell
from toolevals.runs.models import Grading
from toolevals.workspace.models import Job, Role
from toolevals.workspace.tokens.services import token_create

__all__ = ["made"]

pytestmark = pytest.mark.django_db
PARQUET = {"form": "parquet"}


def rows_in(parts: Iterable[bytes]) -> Iterator[dict[str, str]]:
    """Yield the rows as a CSV file has them."""
    for row in files.read_table(io.BytesIO(b"".join(parts)), use_threads=False).to_pylist():
        yield {name: str(safe_cell(cell)) for name, cell in row.items()}


def both(name: str, grading: Grading, **parameters: str) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """Return the rows of the CSV file, and of the Parquet file as CSV has them."""
    asked = TableRequest(name, grading, parameters)
    text = b"".join(asked.parts(asked.rows())).decode()
    asked = TableRequest(name, grading, {**parameters, **PARQUET})
    return list(csv.DictReader(io.StringIO(text, newline=""))), list(rows_in(asked.parts(asked.rows())))


@pytest.mark.parametrize("name", sorted(set(TABLES) - {COMPARED}))
def test_it_holds_what_the_csv_holds(made, name):
    as_csv, as_parquet = both(name, made)
    assert as_csv
    assert as_parquet == as_csv


def test_a_list_of_two_runs_too(build):
    before = build.grading([Case("a", "a")] * 3)
    after = build.again(before, [[Case("a", "b")]] * 2 + [[Case("a", "a")]])
    as_csv, as_parquet = both(COMPARED, before, candidate=str(after.run.number))
    assert len(as_csv) == 4
    assert as_parquet == as_csv


def test_it_is_read_by_duckdb(build, get, tmp_path):
    grading = build.grading(cases_of({("get_order", "get_order"): 3, ("get_order", "refund"): 2}))
    response = get("cases-csv", grading, **PARQUET)
    assert response.headers["Content-Disposition"] == f'attachment; filename="run-{grading.run.number}-cases.parquet"'
    file = tmp_path / "cases.parquet"
    file.write_bytes(b"".join(response.streaming_content))
    with duckdb.connect() as base:
        confused = base.execute(
            f"select actual, count(*) from '{file}' where expected <> actual group by all"
        ).fetchall()
    assert confused == [("refund", 2)]


def test_a_long_one_is_written_by_a_job(build, get, settings, browser_of, run_jobs):
    settings.CSV_ROWS_AT_ONCE = 3
    grading = build.grading(cases_of({("get_order", "get_order"): 5}))
    page = get("cases-csv", grading, **PARQUET)
    assert page.status_code == 302
    said = browser_of.get(page.url).content.decode()
    assert "as Parquet" in said
    assert "<code>form=" not in said
    browser_of.post(page.url)
    run_jobs()
    job = Job.objects.get(kind=TABLE)
    assert job.title.endswith(", as Parquet")
    file = browser_of.get(reverse("reports:table-file", args=[job.project.slug, grading.run.number, "cases", job.pk]))
    assert len(list(rows_in(file.streaming_content))) == 5


def rest(client: Any, grading: Grading, owner: Any, **query: str) -> Any:
    project = grading.run.project
    token = token_create(project=project, actor=owner, user=owner, name="data", role=Role.VIEWER)[1]
    address = reverse("reports-api:table", args=[project.slug, grading.run.number, "cases"])
    return client.post(address, query_params=query, headers={"Authorization": f"Bearer {token}"})


def test_what_is_no_form_is_refused(build, get, client, owner):
    grading = build.grading(cases_of({("get_order", "get_order"): 1}))
    assert get("cases-csv", grading, form="xlsx").status_code == 422
    said = rest(client, grading, owner, form="xlsx")
    assert (said.status_code, said.json()["problems"][0]["pointer"]) == (422, "/form")


def test_without_pyarrow_pages_offer_none_and_whoever_asks_is_told_how_to_install_it(
    build, get, client, owner, monkeypatch
):
    grading = build.grading(cases_of({("get_order", "get_order"): 1}))
    assert b"form=parquet" in get("cases", grading).content
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError):
        importlib.import_module("pyarrow")
    assert b"form=parquet" not in get("cases", grading).content
    refused = get("cases-csv", grading, **PARQUET)
    assert (refused.status_code, b"pip install" in refused.content) == (422, True)
    said = rest(client, grading, owner, **PARQUET)
    assert said.status_code == 422
    assert "toolevals[data]" in said.json()["problems"][0]["message"]
    assert not Job.objects.filter(kind=TABLE).exists()
