"""Ask an agent: each conversation is kept as soon as it ends, so that no work is done, or paid, twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.db.models import Sum
from uuid_utils.compat import uuid7

from labeling.models import VersionEntry
from toolevals.agents.code import NoSandboxError
from toolevals.agents.loop import Conversation, Task
from toolevals.grading.reading.parsing import Loss
from toolevals.grading.reading.reading_report import Readings
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.tool_lists import tools_in
from toolevals.runs.aggregates.spending import BUDGET, SPENT_COLUMNS, spent
from toolevals.runs.live.conversations import Stage, stage
from toolevals.runs.live.settings import LiveSettings
from toolevals.runs.models import Run, Transcript
from toolevals.runs.queries import entries_between, tools_offered
from toolevals.workspace.bulk import rows_insert
from toolevals.workspace.clock import database_now
from toolevals.workspace.jobs.leases import BatchRefused, JobCancelled, Lease
from toolevals.workspace.models import Job
from toolevals.workspace.secrets.services import SecretUnusableError

# Between two looks at whether to begin nothing more, while no conversation ends.
LOOK_SECONDS = 1.0
# So long those that are under way when their job is cancelled are waited for.
GRACE_SECONDS = 10.0
COLUMNS = ("id", "run_id", "entry_id", "trial", "document", "ended", "model", "cost", *SPENT_COLUMNS, "created_at")


@dataclass(frozen=True, slots=True)
class _Trial:
    entry: VersionEntry
    number: int
    task: Task


@dataclass(frozen=True, slots=True)
class _Ended:
    row: tuple[Any, ...]
    losses: tuple[Loss, ...] = ()


def transcripts_converse(lease: Lease) -> None:
    """Let the agent do each trial of the batch's examples that has no transcript yet.

    An agent that cannot be reached gives a transcript that says so: errored, and left out of the scores. Trials that
    the budget does not reach get none: unscored. Each conversation's own transaction proves the lease, so that an
    attempt that was cut short is completed by the next one. While quick work waits for this worker, or the job is
    paused, no conversation is begun: those in hand are kept, and the batch is put back. Where the job is cancelled,
    those in hand that end well within `GRACE_SECONDS` are kept, too: they were paid for.
    """
    run = Run.objects.select_related("project", "agent__tools__tools", "simulator").get(pk=lease.payload["run"])
    settings = LiveSettings.from_document(run.settings)
    trials = list(_left(run, lease.payload["start"], lease.payload["stop"]))
    done = lease.batch.size - len(trials)
    try:
        with stage(run, settings) as opened:
            for ended in _talks(run, settings, opened, trials, lease.must_give_way):
                done += len(ended)
                with lease.keeping(done):
                    rows_insert(Transcript, COLUMNS, [each.row for each in ended])
                    _lose(lease, ended)
    except (SecretUnusableError, NoSandboxError, InvalidDocument) as error:
        raise BatchRefused(str(error)) from None
    if done < lease.batch.size:
        lease.give_way()


def _lose(lease: Lease, ended: Sequence[_Ended]) -> None:
    """Count what was left out of answers in the job's report, as what is left out of a file."""
    if losses := [loss for each in ended for loss in each.losses]:
        job = Job.objects.select_for_update(no_key=True).get(pk=lease.batch.job_id)
        readings = Readings.of_report(job.report)
        readings.lose(losses)
        lease.report({"read": readings.to_document()})


def _left(run: Run, start: int, stop: int) -> Iterator[_Trial]:
    transcripts = Transcript.objects.between(run.pk, run.dataset_version_id, start, stop)
    written = set(transcripts.values_list("entry_id", "trial"))
    for entry in entries_between(run, start, stop).select_related("revision__tools"):
        tools = tools_offered(tools_in(entry.revision.tools), run.agent)
        for number in range(run.trials):
            if (entry.pk, number) not in written:
                yield _Trial(entry, number, Task(entry.revision.input, tools, number, str(entry.pk)))


def _talks(
    run: Run, settings: LiveSettings, opened: Stage, trials: Sequence[_Trial], must_end: Callable[[], bool]
) -> Iterator[list[_Ended]]:
    """Yield rows of transcripts as conversations end, some of them at once; at the budget's end all that are left.

    None is begun while it `must_end`. Where that raises JobCancelled, it is raised after those that end well soon.
    """
    pool = ThreadPoolExecutor(settings.concurrency, thread_name_prefix="conversation")
    talking: dict[Future[Conversation], _Trial] = {}
    try:
        coming = iter(trials)
        while True:
            may_begin = not must_end()
            if may_begin and _has_money(run, settings):
                for trial in islice(coming, settings.concurrency - len(talking)):
                    talking[pool.submit(opened.talk, trial.task)] = trial
            elif may_begin and (rest := list(coming)):
                yield [_unsaid(run, trial) for trial in rest]
            if not talking:
                return
            ended, _ = wait(talking, timeout=LOOK_SECONDS, return_when=FIRST_COMPLETED)
            if ended:
                yield [_said(run, settings, talking.pop(future), future.result()) for future in ended]
    except JobCancelled:
        ended, _ = wait(talking, timeout=GRACE_SECONDS)
        well = [(talking[future], talk) for future in ended if not (talk := future.result()).transcript.error]
        if well:
            yield [_said(run, settings, trial, talk) for trial, talk in well]
        raise
    finally:
        # A lost lease or a cancelled job: what was not begun is not begun, and what hangs is not waited for.
        pool.shutdown(wait=False, cancel_futures=True)


def _has_money(run: Run, settings: LiveSettings) -> bool:
    if settings.budget is None:
        return True
    spent = Transcript.objects.filter(run=run).aggregate(spent=Sum("cost"))["spent"] or 0.0
    return bool(spent < settings.budget)


def _said(run: Run, settings: LiveSettings, trial: _Trial, talk: Conversation) -> _Ended:
    cost = settings.prices.cost(talk.transcript.usage) if settings.prices else None
    document = talk.transcript.to_document()
    said = document, talk.end.value, talk.model[:120], cost
    return _Ended((*_place(run, trial), *said, *spent(document), database_now()), talk.losses)


def _unsaid(run: Run, trial: _Trial) -> _Ended:
    return _Ended((*_place(run, trial), None, BUDGET, "", None, *spent(None), database_now()))


def _place(run: Run, trial: _Trial) -> tuple[Any, ...]:
    return uuid7(), run.pk, trial.entry.pk, trial.number
