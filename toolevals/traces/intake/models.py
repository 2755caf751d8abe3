"""Stores what agents send: traces, their spans and calls of tools, and what a project says about them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import ClassVar, Final
from uuid import UUID

from django.db import connection, models
from django.db.models import Count, Exists, OuterRef, Q
from django.db.models.expressions import RawSQL
from uuid_utils.compat import uuid7

from toolevals.traces.intake.scrubbing import ScrubRule, rules_of
from toolevals.traces.reading.limits import Limits
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.models import Project, Role

# The share of traces up to which a word is rare.
_RARE = 0.01


class TraceQuerySet(models.QuerySet["Trace"]):
    """Traces, narrowed down by name."""

    def in_project(self, project: Project) -> TraceQuerySet:
        return self.filter(project=project)

    def due(self, now: datetime) -> TraceQuerySet:
        """Return those that are to be summed up by now, the longest waiting first."""
        return self.filter(due_at__lte=now).order_by("due_at")

    def summed_up(self) -> TraceQuerySet:
        """Return those that were summed up at least once."""
        return self.filter(settled__gt=0)

    def between(self, since: datetime | None, until: datetime | None) -> TraceQuerySet:
        """Return those that came from `since` on and before `until`: their ids are sorted by that time."""
        found = self if since is None else self.filter(pk__gte=first_id(since))
        return found if until is None else found.filter(pk__lt=first_id(until))

    def with_calls(self, project: Project, **wanted: object) -> TraceQuerySet:
        """Return those of a project in which one call is all that `wanted` says of `ToolUse`."""
        calls = ToolUse.objects.filter(project=project, trace=OuterRef("pk"), **wanted)
        if any(name.startswith("error_class") for name in wanted):
            # SQLite uses an index of some rows only if the query repeats which rows these are.
            calls = calls.exclude(error_class="")
        return self.filter(Exists(calls))

    def with_closed(self, project: Project, role: Role) -> TraceQuerySet:
        """Add to each whether it `is_closed` to a project's members with a role: see `toolevals.traces.blindness`."""
        from toolevals.traces.blindness import closed_to

        return self.annotate(is_closed=closed_to(project, role))

    def with_words(self, words: Sequence[str]) -> TraceQuerySet:
        """Return those that have a word with each of these beginnings, which are letters and digits."""
        return self.filter(*(_has_word(word) for word in words))

    def with_words_looked_up(self, words: Sequence[str], sample: TraceQuerySet) -> TraceQuerySet:
        """Return the same in the way that finds few traces among all: PostgreSQL's index is asked.

        Many words begin as a short one does, and the index puts all their traces together. So it is asked for the
        word that is the rarest in a sample alone where that is rare, and the others are looked for in what it finds.
        """
        if connection.vendor != "postgresql" or not words:
            return self.with_words(words)
        looked_up = list(words)
        if len(words) > 1:
            counts = {f"n{at}": Count("pk", filter=_has_word(word)) for at, word in enumerate(words)}
            found = sample.aggregate(**counts, of=Count("pk"))
            rarest = min(range(len(words)), key=lambda at: (found[f"n{at}"], -len(words[at])))
            if found[f"n{rarest}"] <= _RARE * found["of"]:
                looked_up = [words[rarest]]
        asked = " & ".join(f"{word}:*" for word in looked_up)
        match = "to_tsvector('simple', \"traces_trace\".\"text\") @@ to_tsquery('simple', %s)"
        found_by_index = RawSQL(match, [asked], models.BooleanField())  # noqa: S611 - the value is a parameter
        return self.filter(found_by_index).with_words([word for word in words if word not in looked_up])


def _has_word(word: str) -> Q:
    return Q(text__contains=f" {word}")


def shown(traces: Iterable[Trace]) -> list[Trace]:
    """Return traces that were read with `is_closed`, those that are closed without what the agent did."""
    return [each.close() if vars(each).get("is_closed") else each for each in traces]


def first_id(moment: datetime) -> UUID:
    """Return the least id that is made at a moment (UUIDv7: 48 bits of milliseconds first)."""
    milliseconds = max(0, min(int(moment.timestamp() * 1000), 2**48 - 1))
    return UUID(int=milliseconds << 80)


def id_at(moment: datetime) -> UUID:
    """Return a new id of a trace that came at a moment."""
    return UUID(int=first_id(moment).int | uuid7().int & ((1 << 80) - 1))


def came_at(trace: UUID) -> datetime:
    """Return when the row of a trace was made, to the millisecond, as its id says."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=trace.int >> 80)


class Trace(models.Model):
    """The spans of one trace, summed up. What the summary says covers the batches that `settled` counts."""

    id = PublicIdField()
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="traces")
    # As the sender gave it: 16 bytes.
    trace_id = models.UUIDField()

    # How many batches brought something new, how many spans there are, and their bytes before they are packed.
    arrivals = models.PositiveIntegerField(default=0)
    spans = models.PositiveIntegerField(default=0)
    size = models.PositiveBigIntegerField(default=0)
    # Whether the span above all others is there: senders send a span when it has ended.
    has_root = models.BooleanField(default=False)
    created_at = MomentField(auto_now_add=True)
    received_at = models.DateTimeField()
    # When it is to be summed up; null while there is nothing new.
    due_at = models.DateTimeField(null=True)
    settled = models.PositiveIntegerField(default=0)

    name = models.CharField(max_length=200, blank=True)
    started_at = models.DateTimeField(null=True)
    duration_ms = models.FloatField(null=True)
    model = models.CharField(max_length=120, blank=True)
    agent = models.CharField(max_length=120, blank=True)
    agent_version = models.CharField(max_length=80, blank=True)
    session = models.CharField(max_length=200, blank=True)
    # Who spoke with the agent, as the sender names them.
    end_user = models.CharField(max_length=200, blank=True)
    input_tokens = models.PositiveBigIntegerField(null=True)
    output_tokens = models.PositiveBigIntegerField(null=True)
    # In the currency of the recorder.
    cost = models.FloatField(null=True)
    calls = models.PositiveIntegerField(default=0)
    failed_calls = models.PositiveIntegerField(default=0)
    # Whether something in it came cut, dropped or changed: then no calls do not mean that none was made.
    is_cut = models.BooleanField(default=False, db_default=False)
    # Names of tools and classes of errors, each once, for the list.
    tools = DocumentField(default=list)
    error_classes = DocumentField(default=list)
    # Why the trace as a whole failed.
    error = models.CharField(max_length=500, blank=True)
    request = models.CharField(max_length=300, blank=True)
    # Its words, each once, with a space before each: see `toolevals.traces.reading.summary.searched`.
    text = models.TextField(blank=True)

    objects = TraceQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["project", "trace_id"], name="trace_of_a_project"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["due_at"], name="trace_due", condition=models.Q(due_at__isnull=False)),
            models.Index(fields=["project", "-id"], name="trace_newest"),
            # Of what lists show alone: these indexes answer which traces are the newest without a look at the rows.
            *(
                models.Index(fields=["project", name, "-id"], name=f"trace_{name}", condition=models.Q(settled__gt=0))
                for name in ("session", "end_user", "agent", "model", "agent_version")
            ),
            models.Index(fields=["project", "duration_ms"], name="trace_duration"),
            models.Index(fields=["project", "cost"], name="trace_cost", condition=models.Q(cost__isnull=False)),
        ]

    def __str__(self) -> str:
        return self.name or self.trace_id.hex

    def close(self) -> Trace:
        """Take out what an agent did, took and said, and return the trace: for someone who may still label it."""
        self.tools, self.error_classes, self.error = [], [], ""
        self.calls = self.failed_calls = 0
        self.duration_ms = self.input_tokens = self.output_tokens = self.cost = None
        return self

    @property
    def is_whole(self) -> bool:
        """Return whether its root has ended, and nothing new waits to be summed up."""
        return self.has_root and self.due_at is None


# Of each key: a span's id of 16 hexadecimal digits, or what stands for that of a log record.
KEY_LENGTH: Final = 16


class SpanChunk(models.Model):
    """The new spans of a trace in one batch: an export of OTLP as it came, in protobuf or JSON, packed by zstd.

    It is never changed. The worker that adds one holds the trace's row and has read the keys of those before it: so no
    key is in two.
    """

    trace = models.ForeignKey(Trace, on_delete=models.CASCADE, related_name="chunks")
    # The keys of its spans and log records, one after the other.
    keys = models.TextField()
    body = models.BinaryField()


def keys_join(keys: Iterable[str]) -> str:
    """Return keys as a chunk holds them."""
    return "".join(keys)


def keys_split(joined: str) -> list[str]:
    """Return the keys that a chunk holds."""
    return [joined[at : at + KEY_LENGTH] for at in range(0, len(joined), KEY_LENGTH)]


class ToolUse(models.Model):
    """One call in a trace. It follows from the trace's spans and is made again when more come."""

    # Both have indexes below that begin with them.
    trace = models.ForeignKey(Trace, on_delete=models.CASCADE, related_name="tool_uses", db_index=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    # The span that ran the tool; empty where only the conversation tells of the call.
    span_id = models.CharField(max_length=16, blank=True)
    number = models.PositiveIntegerField()
    tool = models.CharField(max_length=200)
    # When its trace came, to the millisecond of the trace's id: lists of traces are narrowed down by that.
    came_at = models.DateTimeField()
    # Null where no span measured it.
    duration_ms = models.FloatField(null=True)
    # One of `toolevals.grading.layers.troubles.ERROR_CLASSES`; empty where the tool answered as it should.
    error_class = models.CharField(max_length=10, blank=True)
    # Whether the arguments fit the schema that was offered; null where none was.
    arguments_fit = models.BooleanField(null=True)
    # What is wrong with the arguments first.
    problem = models.CharField(max_length=300, blank=True)
    agent = models.CharField(max_length=120, blank=True)
    agent_version = models.CharField(max_length=80, blank=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["trace", "number"], name="tool_use_of_a_trace"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            # By trace within each, so that the newest traces come first without a look at the others.
            models.Index(fields=["project", "tool", "trace"], name="tool_use_of_a_tool"),
            models.Index(
                fields=["project", "error_class", "trace"],
                include=["tool"],
                condition=~models.Q(error_class=""),
                name="tool_use_with_an_error",
            ),
            models.Index(
                fields=["project", "trace"],
                include=["tool"],
                condition=models.Q(arguments_fit=False),
                name="tool_use_that_does_not_fit",
            ),
            models.Index(fields=["project", "came_at"], name="tool_use_time"),
        ]


RETENTION_DAYS = 30


class TraceSettings(models.Model):
    """The time that traces stay, the share to take, and what is taken out of them. Without a row: the defaults."""

    project = models.OneToOneField(Project, on_delete=models.CASCADE, primary_key=True, related_name="trace_settings")
    retention_days = models.PositiveSmallIntegerField(default=RETENTION_DAYS)
    # The share of traces that are taken, 0..1.
    sample_rate = models.FloatField(default=1.0)
    # As `toolevals.traces.intake.scrubbing.rules_of` reads them.
    scrub = DocumentField(default=list)
    # What a trace may take at most, as the rule `cost` judges; null for no limit.
    most_tokens = models.PositiveBigIntegerField(null=True, blank=True)
    most_cost = models.FloatField(null=True, blank=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(condition=models.Q(sample_rate__range=(0, 1)), name="sample_rate_0_to_1"),
            models.CheckConstraint(condition=models.Q(retention_days__gte=1), name="retention_of_a_day"),
            models.CheckConstraint(condition=models.Q(most_cost__gte=0), name="most_cost_of_a_trace"),
        ]

    @property
    def rules(self) -> tuple[ScrubRule, ...]:
        """The rules by which personal data is taken out."""
        return rules_of(self.scrub)

    @property
    def limits(self) -> Limits:
        """Return what a trace may take at most."""
        return Limits(self.most_tokens, self.most_cost)

    @classmethod
    def of(cls, project: Project) -> TraceSettings:
        """Return a project's settings, the defaults where it has none."""
        return cls.objects.filter(project=project).first() or cls(project=project)
