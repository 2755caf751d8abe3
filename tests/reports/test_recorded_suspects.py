"""Six recorded runs on public tasks whose gold is known to hold errors: which tasks rank first, checked by hand."""

from __future__ import annotations

from typing import Any

import pytest

from reports.suspects.queries import Row, SuspectFilter, page_of
from reports.suspects.services import suspects_counted
from tests.reports.recorded.loading import FOLDER, loaded
from toolevals.workspace.models import Role

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(
        not (FOLDER / "gold_tau2_v0_airline.json.gz").exists(),
        reason="TOOLEVALS_BENCHMARK_DATA does not say where the recorded runs are",
    ),
]
# Read by hand against the policy, the task and the initial database (docs/suspect-labels.md): gold that breaks the
# policy, contradicts the database or itself.
WRONG = {"airline-33", "airline-35", "airline-14", "airline-27", "airline-38", "airline-37", "airline-39", "airline-7"}


def ranked(project: Any, person: Any, domain: str, run_jobs: Any, settings: Any) -> dict[str, Row]:
    settings.TRUSTED_SIMULATORS = ["*"]
    version = loaded(project, person, domain, run_jobs)
    suspects_counted(version, actor=None)
    page = page_of(version, SuspectFilter(), person, Role.ADJUDICATOR)
    return {row.external_id: row for row in page.rows}


def test_half_of_the_first_ten_airline_tasks_are_wrong(project, adjudicator, run_jobs, settings):
    rows = ranked(project, adjudicator, "airline", run_jobs, settings)
    first = list(rows)[:10]
    assert len(WRONG & set(first)) >= 5
    assert {"airline-32", "airline-35", "airline-25", "airline-22"} == set(first[:4])
    # The gold's birthday is nobody's: the passenger's profile has the one that three of four models give.
    said = next(each for each in rows["airline-35"].reasons if each["kind"] == "agreement")
    assert said["sentence"].startswith('3 of 4 agents use "1981-05-26" for passengers[0].dob of book_reservation')
    assert {each["agent"] for each in said["witnesses"]} == {"gpt-4.1", "ft-gpt-4.1-sft", "qwen2.5-7b"}
    # Two weak models cancel what may not be cancelled; the two others keep to the policy, and outweigh them.
    assert not {"airline-26", "airline-45"} & set(rows)


def test_retail_ranks_an_order_of_items_and_a_refused_return_first(project, adjudicator, run_jobs, settings):
    rows = ranked(project, adjudicator, "retail", run_jobs, settings)
    assert list(rows)[:3] == ["retail-26", "retail-12", "retail-108"]
    assert "item_ids[0]" in rows["retail-108"].reasons[0]["sentence"]
    refused = next(each for each in rows["retail-12"].reasons if each["kind"] == "refused")
    assert "Payment method should be the original payment method" in refused["sentence"]
    assert {"close", "left_out"} <= {each["kind"] for each in rows["retail-26"].reasons}
