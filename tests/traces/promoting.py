"""Traces of a shop, and samples that are made of them at once."""

from __future__ import annotations

from typing import Any

from django.test import Client

from labeling.models import Dataset
from tests.traces.sending import conversation, export, send
from toolevals.traces.models import Promotion, Trace
from toolevals.traces.promotion.services import PromotionRequest, promotion_start
from toolevals.traces.reading.services import traces_settle

GONE = '{"error": "order not found", "code": 404}'


def traces_of_orders(client: Client, token: str) -> list[Trace]:
    """Send twelve traces of one session each, one of which met an error; the last two ask the same."""
    for number in range(1, 13):
        asked = f"Where is order {number}?" if number < 12 else "Where is  ORDER 11?"
        spans = conversation(
            f"{number:032x}", asked=asked, result=GONE if number == 5 else "shipped",
            **{"gen_ai.conversation.id": f"s-{number}"},
        )  # fmt: skip
        send(client, token, export(*spans))
    traces_settle()
    return list(Trace.objects.order_by("pk"))


def promoted(run_jobs: Any, dataset: Dataset, actor: Any, **asked: Any) -> Promotion:
    request = PromotionRequest(**{"dataset": dataset, "wanted": {}, "count": 100, "seed": 1, **asked})
    promotion = promotion_start(request=request, actor=actor)
    run_jobs()
    promotion.refresh_from_db()
    assert promotion.job is not None
    assert promotion.job.state == "succeeded"
    return promotion
