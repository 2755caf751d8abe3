"""Stores what one batch brings, in one transaction, and what a project says about its traces.

What was stored before is found by its key and changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import Any
from uuid import UUID

import zstandard
from django.conf import settings
from django.db import connection, transaction
from uuid_utils.compat import uuid7

from toolevals.traces.intake.encodings import TRACES, Signal
from toolevals.traces.intake.models import id_at, keys_join, keys_split
from toolevals.traces.intake.scrubbing import ScrubRule
from toolevals.traces.intake.sorting import AnyPiece, MessagePiece, stored_document, stored_message
from toolevals.traces.models import SpanChunk, Trace, TraceSettings
from toolevals.traces.reading.limits import NO_LIMITS, Limits
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.bulk import rows_insert
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Project, User

# Values of one statement: SQLite takes 32,766. Rows of few values.
VALUES_AT_ONCE, ROWS_AT_ONCE = 32_000, 5_000
LEVEL = 3
# What a new row of a trace has of its own; all else is as in every other.
_OWN = frozenset({"id", "trace_id", "spans", "size", "has_root", "due_at", "created_at"})


@dataclass(slots=True)
class Stored:
    """Tells what a batch came to: spans or log records that are new, and those not taken, by trace and why."""

    spans: int = 0
    rejected: int = 0
    reasons: list[str] = field(default_factory=list)


def spans_store(
    *,
    project: Project,
    traces: Mapping[str, Mapping[str, AnyPiece]],
    signal: Signal = TRACES,
    came: Mapping[str, datetime] | None = None,
) -> Stored:
    """Store spans, or log records, by trace and by key, as `sorted_spans` gives them.

    `came` says of which traces it shall be kept that they came earlier.

    Nothing of it is kept if it fails. A trace that has as many spans, or bytes, as one may have takes no more.
    """
    done = Stored()
    if not traces:
        return done
    now = database_now()
    packer = zstandard.ZstdCompressor(level=LEVEL)
    # In the order of their ids, so that two batches never wait for each other, and packed before anyone can wait.
    gains = {each: _Gain.of(traces[each], packer, signal) for each in sorted(traces)}
    with transaction.atomic():
        rows, fresh = _traces_held(project, gains, now, came or {})
        for trace_id, row in rows.items():
            if trace_id not in fresh and not _has_room(row):
                _reject(done, trace_id, len(traces[trace_id]))
                del gains[trace_id]
        # A trace that is made here has no span that came before.
        known = [at for at in gains if at not in fresh]
        before = _keys_before([rows[at].pk for at in known])
        for trace_id in known:
            pieces, keys = traces[trace_id], before[rows[trace_id].pk]
            left = {key: piece for key, piece in pieces.items() if key not in keys}
            if len(left) < len(pieces):
                gains[trace_id] = _Gain.of(left, packer, signal)
        gains = {at: gain for at, gain in gains.items() if gain.pieces}
        chunks = [(rows[at].pk, gain.keys, gain.body) for at, gain in gains.items()]
        rows_insert(SpanChunk, ("trace_id", "keys", "body"), chunks)
        _note([(rows[at], gain) for at, gain in gains.items() if at not in fresh], now)
    done.spans = sum(gain.pieces for gain in gains.values())
    return done


@dataclass(frozen=True, slots=True)
class _Gain:
    """Holds what a batch brings of one trace: how much, and its bytes before and after they are packed."""

    pieces: int
    spans: int
    has_root: bool
    size: int
    keys: str
    body: bytes

    @classmethod
    def of(cls, pieces: Mapping[str, AnyPiece], packer: zstandard.ZstdCompressor, signal: Signal) -> _Gain:
        if not pieces:
            return cls(0, 0, False, 0, "", b"")
        items = list(pieces.values())
        document = stored_message(items) if isinstance(items[0], MessagePiece) else stored_document(items, signal)
        has_root = any(piece.is_root for piece in pieces.values())
        spans = len(pieces) if signal is TRACES else 0
        return cls(len(pieces), spans, has_root, len(document), keys_join(pieces), packer.compress(document))


def _traces_held(
    project: Project, gains: Mapping[str, _Gain], now: datetime, came: Mapping[str, datetime]
) -> tuple[dict[str, Trace], Mapping[str, Trace]]:
    """Return the rows of traces, held until the end of the transaction, and those of them that are made here.

    Always in the order of their ids, so that two batches never wait for each other. Rows that are made here have what
    they gain already.
    """
    traces: dict[str, Trace] = {}
    fresh: dict[str, Trace] = {}
    # Again where one was deleted in between, since it had grown too old.
    while ids := [each for each in gains if each not in traces]:
        made = _traces_insert([_row_of(project, each, gains[each], now, came.get(each)) for each in ids])
        fresh |= made
        traces |= made
        for some in _in_parts(each for each in ids if each not in made):
            rows = Trace.objects.filter(project=project, trace_id__in=[UUID(each) for each in some])
            rows = rows.select_for_update(no_key=True).only("trace_id", "spans", "size", "has_root")
            traces |= {row.trace_id.hex: row for row in rows.order_by("trace_id")}
    return traces, fresh


def _traces_insert(rows: Sequence[Trace]) -> dict[str, Trace]:
    """Insert rows of traces and return those that were not there, by their ids: held until the transaction ends."""
    fields = Trace._meta.concrete_fields
    columns = ", ".join(connection.ops.quote_name(str(field.column)) for field in fields)
    # What a row has before it is summed up is the same in all.
    same = [field.get_db_prep_save(getattr(rows[0], field.attname), connection) for field in fields]
    own = [(at, field) for at, field in enumerate(fields) if field.attname in _OWN]
    made: set[UUID] = set()
    with connection.cursor() as cursor:
        for some in _in_parts(rows, VALUES_AT_ONCE // len(fields)):
            values: list[Any] = []
            for row in some:
                one = same.copy()
                for at, field in own:
                    one[at] = field.get_db_prep_save(getattr(row, field.attname), connection)
                values += one
            places = ", ".join([f"({', '.join(['%s'] * len(fields))})"] * len(some))
            cursor.execute(
                f"INSERT INTO {Trace._meta.db_table} ({columns}) VALUES {places} "  # noqa: S608 - names of ours
                "ON CONFLICT (project_id, trace_id) DO NOTHING RETURNING id",
                values,
            )
            made |= {Trace._meta.pk.to_python(pk) for (pk,) in cursor.fetchall()}
    return {row.trace_id.hex: row for row in rows if row.pk in made}


def _row_of(project: Project, trace_id: str, gain: _Gain, now: datetime, came: datetime | None) -> Trace:
    return Trace(
        id=uuid7() if came is None else id_at(came),
        project=project,
        trace_id=UUID(trace_id),
        arrivals=1,
        spans=gain.spans,
        size=gain.size,
        has_root=gain.has_root,
        created_at=came or now,
        received_at=now,
        due_at=_due(now, has_root=gain.has_root),
    )


def _due(now: datetime, *, has_root: bool) -> datetime:
    """Return when a trace is to be summed up: soon after its root has ended."""
    return now + timedelta(seconds=settings.TRACES_QUIET_SECONDS if has_root else settings.TRACES_ROOTLESS_SECONDS)


def _has_room(row: Trace) -> bool:
    return bool(row.spans < settings.TRACE_MAX_SPANS and row.size < settings.TRACE_MAX_BYTES)


def _reject(done: Stored, trace_id: str, count: int) -> None:
    done.rejected += count
    done.reasons.append(
        f"The trace {trace_id} has {settings.TRACE_MAX_SPANS:,} spans or {settings.TRACE_MAX_BYTES:,} bytes, "
        "which is the most."
    )


def _keys_before(traces: Sequence[UUID]) -> Mapping[UUID, Set[str]]:
    """Return the keys that are stored of traces, whose rows are held: none is added meanwhile."""
    found: dict[UUID, set[str]] = {each: set() for each in traces}
    for some in _in_parts(traces):
        for trace, keys in SpanChunk.objects.filter(trace__in=some).values_list("trace", "keys"):
            found[trace].update(keys_split(keys))
    return found


def _note(gains: Sequence[tuple[Trace, _Gain]], now: datetime) -> None:
    """Write down what traces gained that were there before, and when each is to be summed up."""
    values: list[Sequence[Any]] = []
    prepare = Trace._meta.pk.get_db_prep_value
    moment = Trace._meta.get_field("due_at").get_db_prep_value
    for row, gain in gains:
        has_root = row.has_root or gain.has_root
        due = moment(_due(now, has_root=has_root), connection)
        values.append((gain.spans, gain.size, has_root, moment(now, connection), due, prepare(row.pk, connection)))
    if not values:
        return
    with connection.cursor() as cursor:
        cursor.executemany(
            f"UPDATE {Trace._meta.db_table} SET arrivals = arrivals + 1, spans = spans + %s, size = size + %s, "  # noqa: S608
            "has_root = %s, received_at = %s, due_at = %s WHERE id = %s",
            values,
        )


def _in_parts(items: Iterable[object], size: int = ROWS_AT_ONCE) -> Iterator[list[Any]]:
    rest = iter(items)
    while some := list(islice(rest, size)):
        yield some


@transaction.atomic
def trace_settings_update(
    *,
    project: Project,
    actor: User | None,
    retention_days: int,
    sample_rate: float,
    rules: Sequence[ScrubRule],
    limits: Limits = NO_LIMITS,
) -> TraceSettings:
    """Set how long traces stay, which share is taken, what is taken out, and what each may take, from now on.

    Raises `ValidationError`.
    """
    found = TraceSettings(
        project=project,
        retention_days=retention_days,
        sample_rate=sample_rate,
        scrub=[rule.as_document() for rule in rules],
        most_tokens=limits.tokens,
        most_cost=limits.cost,
    )
    found.full_clean(validate_unique=False, exclude=["project", "scrub"])
    said = {
        "retention_days": retention_days,
        "sample_rate": sample_rate,
        "most_tokens": limits.tokens,
        "most_cost": limits.cost,
    }
    TraceSettings.objects.update_or_create(project=project, defaults={**said, "scrub": found.scrub})
    detail = {**said, "rules": [rule.title for rule in rules]}
    audit_record(project=project, actor=actor, verb="trace_settings_update", target=project, detail=detail)
    return found
