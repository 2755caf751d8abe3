"""Test what conversations take: read into columns as they come, counted with the grading."""

from __future__ import annotations

import pytest

from tests.runs.building import STATUS, call, silence, uploaded_run
from toolevals.runs.aggregates.spending import Spending, spent, told_cost
from toolevals.runs.aggregates.transcript_sums import transcript_sums
from toolevals.runs.models import Transcript


@pytest.mark.parametrize(
    ("document", "columns"),
    [
        (None, (None, None, None, None)),
        ({}, (None, None, None, None)),
        ({"usage": {"input_tokens": 7, "output_tokens": 2.0, "cached_tokens": 0}, "latency_ms": 4}, (7, 2, 0, 4.0)),
        ({"usage": {"input_tokens": -1, "output_tokens": True, "cached_tokens": "9"}, "latency_ms": "x"}, (None,) * 4),
        ({"usage": {"input_tokens": 1e300}, "latency_ms": float("nan")}, (None,) * 4),
    ],
)
def test_only_what_is_a_count_is_taken(document, columns):
    assert spent(document) == columns


@pytest.mark.django_db
def test_a_run_is_counted_when_it_is_graded(project, version, run_jobs):
    times = {"status": 100, "history": 200, "refund": 300}
    lines = [
        call(name, STATUS) | {"usage": {"input_tokens": 10, "output_tokens": 3}, "latency_ms": latency}
        for name, latency in times.items()
    ]
    run = uploaded_run(project, version, [*lines, silence("hello")])
    run_jobs()
    run.refresh_from_db()
    found = Spending.from_document(run.grading.spending)
    assert (found.conversations, found.told, found.timed) == (4, 3, 3)
    assert (found.tokens_in, found.tokens_out, found.tokens_cached) == (30, 9, None)
    assert found.latency_p50 == 200
    assert found.latency_p95 == pytest.approx(290)
    assert (found.cost, found.ends, found.models) == (None, {}, {})


@pytest.mark.django_db
def test_ends_models_and_money_are_summed(project, version, run_jobs):
    run = uploaded_run(project, version, [silence(name) for name in ("status", "history", "refund", "hello")])
    run_jobs()
    assert transcript_sums(run).spending() is None
    first, *others = Transcript.objects.of_run(run)
    Transcript.objects.filter(pk=first.pk).update(ended="loop", model="m-1", cost=0.5)
    Transcript.objects.filter(pk__in=[each.pk for each in others]).update(ended="answer", model="m-2", cost=0.25)
    found = Spending.from_document(transcript_sums(run).spending() or {})
    assert (found.ends, found.models, found.cost) == ({"answer": 3, "loop": 1}, {"m-1": 1, "m-2": 3}, 1.25)
    assert (found.cost_of_each(5), found.cost_of_each(0)) == (0.25, None)


@pytest.mark.parametrize(
    ("messages", "cost"),
    [
        ([{"cost": 0.25, "usage": {"input_tokens": 2}}, {"role": "tool"}, {"cost": 0.5}], 0.75),
        ([{"cost": 0.25}, {"usage": {"input_tokens": 2}}], None),
        ([{"cost": 0.0, "usage": {"input_tokens": 2}}], None),
        ([{"role": "user"}], None),
        ([], None),
    ],
)
def test_an_upload_costs_what_its_messages_say_or_no_one_knows(messages, cost):
    assert told_cost({"messages": messages}) == cost


def test_no_prediction_has_no_cost():
    assert told_cost(None) is None
