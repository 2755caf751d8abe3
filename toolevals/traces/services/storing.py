"""Store what one batch brings, in one transaction: what was stored before is found by its key and changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import Any
from uuid import UUID

import zstandard
from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone
from uuid_utils.compat import uuid7

from toolevals.traces.intake.sorting import Piece, stored_document
from toolevals.traces.models import Span, SpanChunk, Trace
from toolevals.workspace.bulk import rows_insert
from toolevals.workspace.models import Project

# Rows of one statement: SQLite takes 32,766 values.
ROWS_AT_ONCE = 5_000
LEVEL = 3


@dataclass(slots=True)
class Stored:
    """What a batch came to: spans that are new, and those that are not taken, each trace with why."""

    spans: int = 0
    rejected: int = 0
    reasons: list[str] = field(default_factory=list)


def spans_store(*, project: Project, traces: Mapping[str, Mapping[str, Piece]]) -> Stored:
    """Store spans by trace and by span id, as `sorted_spans` gives them. Nothing of it is kept if it fails.

    A trace that has as many spans, or bytes, as one may have takes no more.
    """
    done = Stored()
    if not traces:
        return done
    now = timezone.now()
    packer = zstandard.ZstdCompressor(level=LEVEL)
    with transaction.atomic():
        rows = _traces_held(project, sorted(traces), now)
        room = {row.pk: _has_room(row) for row in rows.values()}
        for trace_id, row in rows.items():
            if not room[row.pk]:
                _reject(done, trace_id, len(traces[trace_id]))
        keys = [(row.pk, span_id) for at, row in rows.items() if room[row.pk] for span_id in traces[at]]
        new = _keys_insert(keys)
        chunks, updates = [], []
        for trace_id, row in rows.items():
            pieces = [piece for span_id, piece in traces[trace_id].items() if (row.pk, span_id) in new]
            if not pieces:
                continue
            document = stored_document(pieces)
            chunks.append((row.pk, packer.compress(document)))
            updates.append((row, pieces, len(document)))
            done.spans += len(pieces)
        rows_insert(SpanChunk, ("trace_id", "body"), chunks)
        _note(updates, now)
    return done


def _traces_held(project: Project, trace_ids: Sequence[str], now: datetime) -> dict[str, Trace]:
    """Return the rows of traces, made where they are new, and held until the end of the transaction.

    Always in the order of their ids, so that two batches never wait for each other.
    """
    found: dict[str, Trace] = {}
    # Again where one was deleted in between, since it had grown too old.
    while ids := [UUID(each) for each in trace_ids if each not in found]:
        Trace.objects.bulk_create(
            [Trace(id=uuid7(), project=project, trace_id=each, received_at=now) for each in ids],
            ignore_conflicts=True,
            batch_size=500,
        )
        for some in _in_parts(ids):
            rows = Trace.objects.filter(project=project, trace_id__in=some).select_for_update(no_key=True)
            rows = rows.only("trace_id", "spans", "size", "has_root").order_by("trace_id")
            found |= {row.trace_id.hex: row for row in rows}
    return found


def _has_room(row: Trace) -> bool:
    return bool(row.spans < settings.TRACE_MAX_SPANS and row.size < settings.TRACE_MAX_BYTES)


def _reject(done: Stored, trace_id: str, count: int) -> None:
    done.rejected += count
    done.reasons.append(
        f"The trace {trace_id} has {settings.TRACE_MAX_SPANS:,} spans or {settings.TRACE_MAX_BYTES:,} bytes, "
        "which is the most."
    )


def _keys_insert(keys: Iterable[tuple[UUID, str]]) -> set[tuple[UUID, str]]:
    """Insert the keys of spans and return those that were not there."""
    table, trace = Span._meta.db_table, Trace._meta.pk
    new: set[tuple[UUID, str]] = set()
    with connection.cursor() as cursor:
        for some in _in_parts(keys):
            places = ", ".join(["(%s, %s)"] * len(some))
            values = [value for pk, span in some for value in (trace.get_db_prep_value(pk, connection), span)]
            cursor.execute(
                f"INSERT INTO {table} (trace_id, span_id) VALUES {places} "  # noqa: S608 - names of ours
                "ON CONFLICT (trace_id, span_id) DO NOTHING RETURNING trace_id, span_id",
                values,
            )
            new |= {(trace.to_python(pk), span) for pk, span in cursor.fetchall()}
    return new


def _note(updates: Sequence[tuple[Trace, Sequence[Piece], int]], now: datetime) -> None:
    """Write down what traces gained, and when each is to be summed up: soon after its root has ended."""
    values: list[Sequence[Any]] = []
    prepare = Trace._meta.pk.get_db_prep_value
    moment = Trace._meta.get_field("due_at").get_db_prep_value
    for row, pieces, size in updates:
        has_root = row.has_root or any(piece.is_root for piece in pieces)
        quiet = settings.TRACES_QUIET_SECONDS if has_root else settings.TRACES_ROOTLESS_SECONDS
        due = moment(now + timedelta(seconds=quiet), connection)
        values.append((len(pieces), size, has_root, moment(now, connection), due, prepare(row.pk, connection)))
    with connection.cursor() as cursor:
        cursor.executemany(
            f"UPDATE {Trace._meta.db_table} SET arrivals = arrivals + 1, spans = spans + %s, size = size + %s, "  # noqa: S608
            "has_root = %s, received_at = %s, due_at = %s WHERE id = %s",
            values,
        )


def _in_parts(items: Iterable[Any]) -> Iterator[list[Any]]:
    rest = iter(items)
    while some := list(islice(rest, ROWS_AT_ONCE)):
        yield some
