"""Measure a version's rules in a job: over the newest graded run of each agent, over gold, and over traces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse

from labeling.models import DatasetVersion, VersionEntry
from reports.cases.analysis import call_class, shown_calls
from reports.cases.queries import with_gold
from reports.guard.analysis import Conversation, Measuring, RefusedCall, gold_transcript
from reports.models import PolicyRates, PolicyRefusal
from toolevals.grading.guard import Policy as Rules
from toolevals.grading.guard import compile_policy
from toolevals.grading.guard.transcripts import audited
from toolevals.grading.matching.compiled_calls import InexactError, exact_calls
from toolevals.grading.reading.parsing.messages import transcript_in
from toolevals.grading.values import Expectation, Transcript
from toolevals.grading.values.problems import InvalidDocument
from toolevals.grading.values.verdicts import CaseGrade as Grade
from toolevals.json_types import JsonObject
from toolevals.registry.models import PolicyVersion, ToolList
from toolevals.registry.policies.queries import tools_of
from toolevals.registry.tool_lists import tools_in
from toolevals.runs.models import CaseGrade, Grading, Run
from toolevals.traces.models import Trace
from toolevals.traces.reading.chunks import spans_of
from toolevals.traces.reading.traces import trace_read
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.leases import Lease
from toolevals.workspace.jobs.services import BatchPlan, job_create
from toolevals.workspace.models import Project, Queue, User

# Of runs and of gold so many conversations are read, the newest runs' first.
MOST_CONVERSATIONS: Final = 20_000
# So many refusals of each rule are kept to be read; all are counted.
MOST_KEPT: Final = 1_000
# So many of the newest traces are read unless another number is asked for, and at most.
USUAL_TRACES: Final = 1_000
MOST_TRACES: Final = MOST_CONVERSATIONS
_SOME: Final = 200


@transaction.atomic
def rates_start(*, version: PolicyVersion, actor: User | None, traces: int = USUAL_TRACES) -> PolicyRates:
    """Begin to measure the rules of a version, over so many traces, too; what is under way is returned as it is."""
    PolicyVersion.objects.select_for_update(no_key=True, of=("self",)).get(pk=version.pk)
    open_one = (
        PolicyRates.objects.filter(version=version, finished_at=None).select_related("job").order_by("-id").first()
    )
    if open_one is not None and open_one.job is not None and open_one.job.is_open:
        return open_one
    policy = version.policy
    rates = PolicyRates(version=version, tools_id=tools_of(policy), actor=actor, traces=traces)
    runs, gold = _runs(policy.project), _gold_versions(policy.project)
    size = sum(run.size for run in runs) + sum(each.size for each in gold) + _traces(policy.project, traces).count()
    rates.job = job_create(
        project=policy.project,
        actor=actor,
        kind="policy_rates",
        title=f"Error rates of {policy.name}, version {version.number}",
        batches=[BatchPlan("reports.policy_rates", {"rates": str(rates.pk)}, queue=Queue.GRADE, size=max(size, 1))],
        result_path=reverse("reports:policy-version", args=[policy.project.slug, policy.slug, version.number]),
    )
    rates.save(force_insert=True)
    detail = {"policy": policy.slug, "number": version.number, "traces": traces}
    audit_record(project=policy.project, actor=actor, verb="rates_start", target=version, detail=detail)
    return rates


def rates_measure(lease: Lease) -> None:
    """Measure a version's rules, and keep the counts with the calls that would be refused: what the batch does."""
    rates = PolicyRates.objects.select_related("version__policy__project", "tools").get(pk=lease.payload["rates"])
    project = rates.version.policy.project
    policy = _measurable(Rules.from_document(rates.version.document), rates.tools)
    measuring = Measuring(policy, compile_policy(policy, tools_in(rates.tools) if rates.tools else ()))
    kept: list[RefusedCall] = []
    count: Counter[str] = Counter()
    runs, gold = _runs(project), _gold_versions(project)
    read = _Read()
    for conversation in _conversations(runs, gold, _traces(project, rates.traces), read):
        for refused in measuring.take(conversation):
            count[refused.rule] += 1
            if count[refused.rule] <= MOST_KEPT:
                kept.append(refused)
        if read.done % _SOME == 0:
            lease.progress(read.done)
    with lease.finish():
        PolicyRefusal.objects.bulk_create((_refusal(rates, each) for each in kept), batch_size=500)
        rates.rules = {name: rule.to_document() for name, rule in measuring.rules(with_traces=rates.traces > 0).items()}
        rates.sources = _sources(runs, gold, rates.traces, read)
        rates.finished_at = database_now()
        rates.save(update_fields=["rules", "sources", "finished_at"])


class _Read:
    """Counts what was read, and what was left out because there was too much."""

    def __init__(self) -> None:
        self.done = 0
        self.left_out = 0
        self.of_runs: Counter[int] = Counter()
        self.of_gold: Counter[str] = Counter()
        self.of_traces = 0
        self.unread_traces = 0


def _measurable(policy: Rules, tools: ToolList | None) -> Rules:
    """Return the policy in audit, without what a transcript cannot answer: a schema rule where no tools are on offer.

    A rule about keys without lists for any key is left out as well: it would refuse all, as a transcript has no key.
    """
    rules = {
        name: each
        for name, each in audited(policy).rules.items()
        if (each.rule.kind != "schema" or tools is not None)
        and (each.rule.kind != "keys" or "*" in each.rule.to_document().get("keys", {}))
    }
    return replace(audited(policy), rules=rules)


def _runs(project: Project) -> list[Run]:
    """Return the newest graded run of each agent, the newest first."""
    runs = Run.objects.in_project(project).of_people().filter(grading__finished_at__isnull=False)
    newest: dict[UUID, Run] = {}
    for run in runs:
        newest.setdefault(run.agent_id, run)
    return list(newest.values())


def _gold_versions(project: Project) -> list[DatasetVersion]:
    """Return the newest version of each dataset."""
    newest: dict[UUID, DatasetVersion] = {}
    for version in DatasetVersion.objects.in_project(project):
        newest.setdefault(version.dataset_id, version)
    return list(newest.values())


def _traces(project: Project, count: int) -> QuerySet[Trace]:
    """Return so many of the newest traces."""
    return Trace.objects.in_project(project).summed_up().order_by("-pk")[:count]


def _conversations(
    runs: list[Run], gold: list[DatasetVersion], traces: QuerySet[Trace], read: _Read
) -> Iterator[Conversation]:
    seen: set[UUID] = set()
    for run in runs:
        assert run.grading is not None
        yield from _of_run(run, run.grading, seen, read)
    for version in gold:
        yield from _of_gold(version, read)
    yield from _of_traces(traces, read)


def _of_run(run: Run, grading: Grading, seen: set[UUID], read: _Read) -> Iterator[Conversation]:
    """Yield the first trial of each example that no newer run had."""
    cases = with_gold(CaseGrade.objects.filter(grading=grading, transcript__trial=0), grading)
    revision = "transcript__entry__revision"
    rows = cases.order_by("pk").values_list(
        "pk",
        f"{revision}_id",
        f"{revision}__example_id",
        f"{revision}__input",
        "transcript__document",
        "detail",
        "gold_expectation",
    )
    for case, pk, example, given, document, detail, expectation in rows.iterator(chunk_size=_SOME):
        if example in seen:
            continue
        seen.add(example)
        read.done += 1
        if document is None:
            continue
        if read.of_runs.total() >= MOST_CONVERSATIONS:
            read.left_out += 1
            continue
        read.of_runs[run.number] += 1
        transcript = Transcript.from_kept(document)
        shown = shown_calls(Grade.from_document(detail), transcript, Expectation.from_kept(expectation))
        expected = [_STATUSES.get(each.status) for each in shown]
        yield Conversation("runs", _before(given), transcript, expected, pk, case)


_STATUSES: Final = {"passed": True, "failed": False}


def _of_gold(version: DatasetVersion, read: _Read) -> Iterator[Conversation]:
    """Yield the calls of gold that is written in values, an example once."""
    entries = VersionEntry.objects.filter(version=version, gold__isnull=False).order_by("position")
    rows = entries.values_list("revision_id", "revision__input", "gold__expectation")
    for pk, given, expectation in rows.iterator(chunk_size=_SOME):
        read.done += 1
        try:
            calls = exact_calls(Expectation.from_kept(expectation))[0]
        except InexactError:
            continue
        if not calls:
            continue
        if read.of_gold.total() >= MOST_CONVERSATIONS:
            read.left_out += 1
            continue
        read.of_gold[version.dataset.name] += 1
        yield Conversation("gold", _before(given), gold_transcript(calls), [True] * len(calls), pk)


def _of_traces(traces: QuerySet[Trace], read: _Read) -> Iterator[Conversation]:
    """Yield the conversations of traces. One that came cut is left out: a rule would see what is not there."""
    for trace in traces.only("pk").iterator(chunk_size=_SOME):
        read.done += 1
        found = trace_read(spans_of(trace))
        try:
            before = _before(found.given)
        except InvalidDocument:
            before = None
        if found.entry is None or found.damage or before is None:
            read.unread_traces += 1
            continue
        read.of_traces += 1
        transcript = found.transcript
        yield Conversation("traces", before, transcript, [None] * len(transcript.calls), trace=trace.pk)


def _before(given: Any) -> Any:
    return transcript_in(given.get("messages", [])).messages


def _refusal(rates: PolicyRates, refused: RefusedCall) -> PolicyRefusal:
    conversation = refused.conversation
    return PolicyRefusal(
        rates=rates,
        rule=refused.rule,
        case_id=conversation.case,
        revision_id=conversation.revision,
        trace_id=conversation.trace,
        call=refused.call + 1,
        tool=call_class(conversation.transcript.calls[refused.call])[:200],
        is_expected=conversation.expected[refused.call],
        pointer=refused.pointer,
        sentence="" if conversation.is_gold else refused.sentence,
    )


def _sources(runs: list[Run], gold: list[DatasetVersion], traces: int, read: _Read) -> JsonObject:
    return {
        "runs": [
            {"number": run.number, "agent": run.agent.name, "examples": read.of_runs[run.number]}
            for run in runs
            if read.of_runs[run.number]
        ],
        "datasets": [
            {"name": each.dataset.name, "version": each.number, "examples": read.of_gold[each.dataset.name]}
            for each in gold
            if read.of_gold[each.dataset.name]
        ],
        "left_out": read.left_out,
        "traces": {"asked": traces, "read": read.of_traces, "unread": read.unread_traces},
    }
