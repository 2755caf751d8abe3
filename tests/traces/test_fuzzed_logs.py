"""Log records that nobody should send: each body is answered, none breaks the server, all that is stored is read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import transaction
from hypothesis import given
from hypothesis import strategies as st

from tests.fixtures.draws import draws
from tests.traces.sending import JSON, PROTOBUF, stored_keys
from tests.traces.test_fuzzed_bodies import ANSWERS, VALUES, mutated, places, replaced
from tests.traces.test_logs import logs, packed, post, record
from toolevals.traces.models import SpanChunk, Trace
from toolevals.traces.reading.chunks import read_chunks
from toolevals.traces.reading.services import traces_settle
from toolevals.workspace.clock import database_now

WHOLE = logs(record("gen_ai.user.message", {"content": "Hello"}), record("gen_ai.choice", {"message": {}}, at=2))
PLACES = list(places(WHOLE))
BODIES = {
    "any value at any place": st.tuples(st.sampled_from(PLACES), VALUES).map(
        lambda drawn: (json.dumps(replaced(WHOLE, *drawn)).encode(), JSON)
    ),
    "wrong bytes in JSON": st.randoms(use_true_random=False).map(
        lambda chance: (mutated(json.dumps(WHOLE).encode(), chance), JSON)
    ),
    "wrong bytes in protobuf": st.randoms(use_true_random=False).map(
        lambda chance: (mutated(packed(WHOLE), chance), PROTOBUF)
    ),
}


@pytest.mark.parametrize("kind", BODIES)
def test_any_body_is_answered_and_nothing_is_stored_half(project, token, client, kind):
    def take(body: bytes, content_type: str) -> None:
        for _ in range(2):
            answer = post(client, token, body, content_type)
            assert answer.status_code in ANSWERS
            for trace in Trace.objects.all():
                assert len(read_chunks(trace).lone) == len(stored_keys(trace))
        assert answer.status_code == 200 or not SpanChunk.objects.exists()
        Trace.objects.update(due_at=database_now())
        traces_settle(seconds=5)
        assert not Trace.objects.exclude(due_at=None).exists()

    @draws(40)
    @given(BODIES[kind])
    def law(drawn: Any) -> None:
        with transaction.atomic():
            take(*drawn)
            transaction.set_rollback(True)

    law()
