"""Bodies that nobody should send: each is answered, none breaks the server, and nothing is stored half."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from tests.fixtures.draws import draws
from tests.traces.sending import JSON, PROTOBUF, URL, conversation, export, packed, send, stored_keys
from toolevals.traces.models import SpanChunk, Trace
from toolevals.traces.reading.chunks import spans_of
from toolevals.traces.reading.services import traces_settle
from toolevals.workspace.clock import database_now

ANSWERS = {200, 400}
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
VALUES = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["key", "value", "stringValue", "intValue", "values", "arrayValue", "kvlistValue", "x"]),
            inner,
        )
    ),
    max_leaves=12,
)
# What stands in an export, one part of it put in another's place.
WORDS = (
    "resourceSpans", "resource", "attributes", "scopeSpans", "scope", "name", "spans", "traceId", "spanId", "events",
    "parentSpanId", "startTimeUnixNano", "endTimeUnixNano", "status", "links", "key", "value", "schemaUrl", "kind",
)  # fmt: skip


def places(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value in a document."""
    yield path
    below = (
        document.items() if isinstance(document, dict) else enumerate(document if isinstance(document, list) else ())
    )
    for key, value in below:
        yield from places(value, (*path, key))


def replaced(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Return a document with another value at a path."""
    if not path:
        return value
    changed = dict(document) if isinstance(document, dict) else list(document)
    changed[path[0]] = replaced(document[path[0]], path[1:], value)
    return changed


WHOLE = export(*conversation())
PLACES = list(places(WHOLE))


@pytest.fixture
def sent(project, token) -> Callable[[bytes, str], None]:
    """Return a function that sends a body: it is answered, and what is stored can be read and summed up."""

    def take(body: bytes, content_type: str) -> None:
        with transaction.atomic():
            answer = client.generic("POST", URL, body, content_type=content_type, headers={"Authorization": token})
            assert answer.status_code in ANSWERS
            assert answer["Content-Type"] == content_type
            for trace in Trace.objects.all():
                assert len(spans_of(trace)) == trace.spans == len(stored_keys(trace))
            before = list(SpanChunk.objects.order_by("pk").values_list("pk", "keys"))
            again = client.generic("POST", URL, body, content_type=content_type, headers={"Authorization": token})
            assert again.status_code == answer.status_code
            assert before == list(SpanChunk.objects.order_by("pk").values_list("pk", "keys"))
            if answer.status_code == 400:
                assert not SpanChunk.objects.exists()
            # What is due goes by the database's clock.
            Trace.objects.update(due_at=database_now() - timedelta(seconds=1))
            traces_settle(seconds=5)
            assert not Trace.objects.exclude(due_at=None).exists()
            transaction.set_rollback(True)

    client = Client(raise_request_exception=True)
    return take


BODIES = {
    "any value at any place": st.tuples(st.sampled_from(PLACES), VALUES).map(
        lambda drawn: (json.dumps(replaced(WHOLE, *drawn)).encode(), JSON)
    ),
    "the right words": st.dictionaries(st.sampled_from(WORDS), VALUES).map(
        lambda drawn: (json.dumps(drawn).encode(), JSON)
    ),
    "any bytes": st.tuples(st.binary(min_size=1, max_size=200), st.sampled_from((JSON, PROTOBUF))),
    "wrong bytes in JSON": st.randoms(use_true_random=False).map(
        lambda chance: (mutated(json.dumps(WHOLE).encode(), chance), JSON)
    ),
    "wrong bytes in protobuf": st.randoms(use_true_random=False).map(
        lambda chance: (mutated(packed(WHOLE), chance), PROTOBUF)
    ),
}


@pytest.mark.parametrize("kind", BODIES)
def test_any_body_is_answered_and_nothing_is_stored_half(sent, kind):
    @draws(60)
    @given(BODIES[kind])
    def law(drawn: tuple[bytes, str]) -> None:
        sent(*drawn)

    law()


def mutated(body: bytes, chance: random.Random) -> bytes:
    """Return bytes with some of them changed, dropped or repeated."""
    found = bytearray(body)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(found))
        match chance.randrange(3):
            case 0:
                found[at] = chance.randrange(256)
            case 1:
                del found[at : at + chance.randint(1, 9)]
            case _:
                found[at:at] = found[at : at + chance.randint(1, 9)]
    return bytes(found)


def test_wrong_bytes_within_gzip_are_answered(client, project, token):
    whole = gzip.compress(packed(WHOLE))

    @draws(60)
    @given(st.randoms(use_true_random=False))
    def law(chance: random.Random) -> None:
        answer = send(client, token, mutated(whole, chance), content_type=PROTOBUF, **{"Content-Encoding": "gzip"})
        assert answer.status_code in ANSWERS
        assert len(stored_keys()) in (0, 4)

    law()


@pytest.mark.parametrize("length", range(97, len(packed(WHOLE)), 97))
def test_a_body_that_is_cut_short_is_refused_or_stored_as_far_as_it_is_whole(client, project, token, length):
    answer = send(client, token, packed(WHOLE)[:length], content_type=PROTOBUF)
    assert answer.status_code in ANSWERS
    assert len(stored_keys()) in (0, 4)
