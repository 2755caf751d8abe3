"""A change of mind is no oracle: no answer tells of another's label before its time."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from labeling.adjudicate.resolution import settle_due
from labeling.examples.listing import SORTS
from labeling.label.claims import slot_claim
from labeling.label.my_labels import SORTS as MY_SORTS
from labeling.label.services import label_submit
from labeling.models import Dataset, Revision
from tests.labeling.changing_minds import clock, slow
from tests.labeling.rows import NO_CALL, call
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import User

__all__ = ["clock", "slow"]

pytestmark = pytest.mark.django_db
API = "/api/v1/projects/shop/"
# Eight labels that all mean something else, the last one what the other says where they agree.
TRIES = [call(order=f"A-{number}") for number in range(7)] + [NO_CALL]
# What another has said: nothing, the same as the first try, the same as the last, or what is never tried.
WORLDS: tuple[Any, ...] = (None, TRIES[0], TRIES[-1], call(order="never"))
# Ids and tokens are new each time.
OWN = re.compile(
    rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?<=csrfmiddlewaretoken\" value=\")\w+"
    rb"|(?<=X-CSRFToken\": \")\w+"
)
HEADERS = ("Content-Type", "Location", "ETag", "Last-Modified", "HX-Push-Url", "HX-Trigger", "Cache-Control", "Link")


class Transcript:
    """Everything that one reviewer is answered, and the statements that it took."""

    def __init__(self, user: User) -> None:
        self.client = Client(raise_request_exception=False)
        self.client.force_login(user)
        self.told: list[tuple[Any, ...]] = []

    def ask(self, method: str, path: str, body: Any = None, **more: Any) -> Any:
        """Ask, and write down status, headers, body and the shape of each statement."""
        with CaptureQueriesContext(connection) as caught:
            content = "" if body is None else json.dumps(body)
            response = self.client.generic(method, path, content, content_type="application/json", **more)
        assert response.status_code < 500
        whole = b"".join(response) if response.streaming else response.content
        heads = tuple(OWN.sub(b"", response.get(name, "").encode()) for name in HEADERS)
        shapes = tuple(re.sub(r"'[^']*'|\d+|[0-9a-f]{32}", "", query["sql"]) for query in caught)
        self.told.append(
            (method, OWN.sub(b"", path.encode()), response.status_code, heads, OWN.sub(b"", whole), shapes)
        )
        return response

    def post(self, path: str, data: dict[str, str], *, swap: bool) -> Any:
        """Send a form, as the page's own script does or without it."""
        with CaptureQueriesContext(connection) as caught:
            response = self.client.post(path, data, headers={"HX-Request": "true"} if swap else {})
        shapes = tuple(re.sub(r"'[^']*'|\d+|[0-9a-f]{32}", "", query["sql"]) for query in caught)
        heads = tuple(OWN.sub(b"", response.get(name, "").encode()) for name in HEADERS)
        self.told.append((response.status_code, heads, OWN.sub(b"", response.content), shapes))
        return response


def apart(one: tuple[Any, ...], other: tuple[Any, ...]) -> list[Any]:
    """Return in what two answers to the same request differ."""
    parts = [(a, b) for a, b in zip(one, other, strict=True) if a != b]
    return [*one[:2], *((set(a) ^ set(b)) if isinstance(a, tuple) else (a, b) for a, b in parts)]


def listed(ann: User, ben: User) -> list[str]:
    """Return each sort of the list of examples, and each filter by what people did, as an address asks for it."""
    labels = [f"labels={number}" for number in range(3)]
    return [
        *(f"sort={sort}" for sort in sorted(SORTS)),
        *(f"{one}&sort=-labels" for one in (*labels, "flag=yes", "comments=yes", f"who={ann.pk}", f"who={ben.pk}")),
    ]


def told_in(dataset: Dataset, ann: User, ben: User, other: Any, clock: Callable[[float], None]) -> list[Any]:
    """Return all that Ann is told while she tries eight labels where Ben has said something, or nothing."""
    cache.clear()
    if other is not None:
        slot = slot_claim(dataset_or_project=dataset, actor=ben)
        assert slot is not None
        label_submit(slot=slot, actor=ben, expectation=other)
    ann_asks = Transcript(ann)
    slot = slot_claim(dataset_or_project=dataset, actor=ann)
    assert slot is not None
    example = slot.revision.example
    for tried in TRIES:
        label = ann_asks.ask("POST", f"{API}claims/{slot.pk}/label/", {"expectation": tried}).json()
        ann_asks.ask("POST", f"{API}claims/{slot.pk}/label/", {"expectation": tried})
        for path in (
            ()
            if tried in TRIES[1:-1]
            else (
                f"{API}examples/{example.pk}/",
                f"{API}datasets/support/examples/",
                f"{API}datasets/support/examples/?status=resolved",
                f"{API}datasets/support/",
                f"{API}datasets/support/agreement/",
                f"{API}labels/",
                reverse("labeling:example", args=["shop", "support", example.pk]),
                reverse("labeling:dataset", args=["shop", "support"]),
                reverse("labeling:dataset-csv", args=["shop", "support"]),
                *(f"{reverse('labeling:dataset', args=['shop', 'support'])}?{query}" for query in listed(ann, ben)),
                *(f"{reverse('labeling:my-labels', args=['shop'])}?sort={sort}" for sort in MY_SORTS),
                reverse("labeling:agreement", args=["shop", "support"]),
                reverse("labeling:feedback", args=["shop"]),
                reverse("labeling:label-slot", args=["shop", slot.pk]),
                reverse("workspace:project", args=["shop"]),
            )
        ):
            ann_asks.ask("GET", path)
        settle_due()
    ann_asks.ask("DELETE", f"{API}labels/{label['id']}/")
    entered = {"mode": "json", "json": json.dumps(TRIES[-1])}
    ann_asks.post(reverse("labeling:label-submit", args=["shop", slot.pk]), entered, swap=True)
    clock(7200)
    # Too late for a change, and nothing is compared in a request.
    ann_asks.ask("POST", f"{API}claims/{slot.pk}/label/", {"expectation": call(order="late")})
    ann_asks.post(reverse("labeling:label-submit", args=["shop", slot.pk]), {"mode": "none"}, swap=True)
    return ann_asks.told


def test_eight_labels_to_one_claim_tell_nothing(
    dataset: Dataset, examples: list[Revision], ann: User, ben: User, clock: Callable[[float], None]
):
    """All reads the same whether the other agrees with the first, with the last, with none, or has not answered."""
    told = []
    start = database_now()
    for other in WORLDS:
        with transaction.atomic():
            told.append(told_in(dataset, ann, ben, other, clock))
            clock(-7200)
            assert database_now() == start
            transaction.set_rollback(True)
    statuses = [answer[2] for answer in told[0] if isinstance(answer[2], int)]
    assert statuses.count(201) == 2 * len(TRIES)
    assert statuses[-1] == 409
    for world in told[1:]:
        assert [apart(answer, other) for answer, other in zip(world, told[0], strict=True) if answer != other] == []
