"""Ask judges about traces that were summed up, outside of any request, each question within its judge's budget.

The rows are the queue: a worker that takes a question takes its judge too, moves both times on and counts it, asks, and
writes the verdict only where the question is still theirs. So a worker that is killed leaves one question that is
asked again, and no trace has two verdicts of one judge. Who cannot be reached is left alone for a while, and gives no
verdict.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from time import monotonic
from typing import Any, Final

from django.db import DatabaseError, transaction

from toolevals.agents.judge import Heard
from toolevals.agents.judge import Judge as Asked
from toolevals.agents.prices import Prices
from toolevals.agents.retry import RetryPolicy
from toolevals.grading.judging import Rubric
from toolevals.grading.values.verdicts import JudgedVerdict
from toolevals.runs.judging.bench import judge_opened
from toolevals.runs.judging.judge_snapshots import JudgeSnapshot
from toolevals.traces.chunks import spans_of
from toolevals.traces.columns import clean
from toolevals.traces.models import QuestionState, SpanVerdict, Trace, TraceJudge, TraceQuestion
from toolevals.traces.models.judges import JUDGES_FROM, TraceQuestionQuerySet
from toolevals.traces.reading.judging import TraceJudging
from toolevals.traces.reading.span_judging import span_reading, spans_asked
from toolevals.traces.reading.traces import TraceReading, trace_read
from toolevals.traces.services.judge_budgets import (
    SPENT,
    Spending,
    expected_spending,
    question_reserve,
    question_settle,
)
from toolevals.workspace.bulk import others_write_first
from toolevals.workspace.clock import database_now

logger = logging.getLogger(__name__)

# Looked at together, and seconds after which what this server could not read is looked at again.
AT_ONCE: Final = 10
AGAIN_SECONDS: Final = 3600
# A judge is asked once at a time: rows say when it is asked again.
ONCE: Final = RetryPolicy(tries=1)
# Requests of one question at most: structured, plain, and each again for an answer that fits.
MOST_REQUESTS: Final = 3
# Seconds for all but the requests, after which another worker may take the question.
SPARE_SECONDS: Final = 15
# Seconds after which a question is asked again, doubled each time, and a judge that failed it is asked others.
FIRST_WAIT, LONGEST_WAIT = 30, 6 * 3600
FIRST_PAUSE, LONGEST_PAUSE = 5, 600
# Somewhat less than two days in all.
MOST_TRIES: Final = 16
LARGEST_BATCH: Final = 500


def questions_note(trace: Trace, reading: TraceReading, judges: Sequence[TraceJudge], now: datetime) -> None:
    """Have a trace that is being summed up judged, again where it was before; within its transaction."""
    asked = {each: spans_asked(reading, each.span_kind) for each in judges if _takes(each, trace)}
    if trace.settled:
        # A judge that is asked no more said it of less than there is now.
        SpanVerdict.objects.filter(trace=trace).exclude(judge=None).exclude(judge__in=asked).delete()
        TraceQuestion.objects.filter(trace=trace).exclude(judge__in=asked).delete()
        for judge, spans in asked.items():
            if judge.span_kind:
                # A span that came late may have begun before the last that was asked about.
                SpanVerdict.objects.filter(trace=trace, judge=judge).exclude(span_id__in=spans).delete()
                TraceQuestion.objects.filter(trace=trace, judge=judge).exclude(span_id__in=spans).delete()
    TraceQuestion.objects.bulk_create(
        [
            TraceQuestion(judge=judge, trace=trace, span_id=span_id, due_at=now)
            for judge, spans in asked.items()
            for span_id in spans
        ],
        update_conflicts=True,
        unique_fields=["judge", "trace", "span_id"],
        update_fields=["state", "due_at", "tries", "reason"],
    )


def _takes(judge: TraceJudge, trace: Trace) -> bool:
    """Tell whether a trace is in a judge's share: by its id, so always the same ones, and those of a smaller share."""
    document = {**JudgeSnapshot.of(judge.judge).to_document(), "share": judge.share}
    return JudgeSnapshot.from_document(document).takes(trace.trace_id.hex)


def traces_judge(*, seconds: float = 20.0) -> int:
    """Ask the questions that are due, so long at most, one after the other; return how many were taken."""
    until, done = monotonic() + seconds, 0
    with ExitStack() as opened:
        clients: dict[int, Asked] = {}
        while monotonic() < until:
            rows = TraceQuestion.objects.due(database_now()).select_related("judge__judge__rubric", "judge__project")
            due = list(rows.select_related("judge__judge__project", "trace")[:AT_ONCE])
            for question in due:
                # What one answer says of the judge, the others have to know.
                if TraceQuestion.objects.due(database_now()).filter(pk=question.pk).exists():
                    done += _tried(question, clients, opened)
                others_write_first()
                if monotonic() >= until:
                    break
            if not due:
                break
    return done


def _tried(question: TraceQuestion, clients: dict[int, Asked], opened: ExitStack) -> bool:
    try:
        return _work(question, clients, opened)
    except DatabaseError:
        raise
    except Exception:
        logger.exception("The trace %s cannot be judged.", question.trace_id)
        later = database_now() + timedelta(seconds=AGAIN_SECONDS)
        TraceQuestion.objects.filter(pk=question.pk, due_at=question.due_at).update(due_at=later)
        return False


def _work(question: TraceQuestion, clients: dict[int, Asked], opened: ExitStack) -> bool:
    row = question.judge.judge
    reading = trace_read(spans_of(question.trace))
    if question.span_id:
        reading = span_reading(reading, question.span_id)
    judging = TraceJudging(reading, Rubric.from_document(row.rubric.document))
    request = judging.request
    if request is None:
        with transaction.atomic():
            return _verdict_write(question, judging, judging.verdict(None))
    if request.digest == question.inputs and SpanVerdict.objects.filter(**_key(question)).exists():
        return _close(question, QuestionState.JUDGED, "")
    prices = Prices.from_document(row.prices) if row.prices else None
    expected = expected_spending(request, prices)
    day = _take(question, expected)
    if day is None:
        return True
    if question.judge_id not in clients:
        clients[question.judge_id] = judge_opened(row, judging.rubric, opened, ONCE)
    heard = clients[question.judge_id].hear(request)
    usage = heard.usage
    took = Spending(
        int(usage.get("input_tokens", 0) + usage.get("output_tokens", 0)), prices.cost(usage) if prices else 0.0
    )
    was_asked = heard.was_reached or bool(usage)
    with transaction.atomic():
        # The question first, here and where it is taken: so no two workers wait for each other.
        if heard.was_reached:
            said = judging.verdict(heard.judgement)
            _verdict_write(question, judging, said, _Answer(request.digest, heard.answered_by, took))
            _reached(question.judge)
        else:
            _not_reached(question, heard)
        question_settle(question.judge, day, expected, took, was_asked=was_asked)
        if not was_asked:
            TraceQuestion.objects.filter(pk=question.pk).update(asked_on=None)
    return True


def _take(question: TraceQuestion, expected: Spending) -> date | None:
    """Take a question and its judge, and count it; None where another has one, or where it may not be asked.

    The latter is written down.
    """
    now = database_now()
    seconds = MOST_REQUESTS * float(question.judge.judge.options.get("timeout") or 120.0) + SPARE_SECONDS
    until = now + timedelta(seconds=seconds)
    with transaction.atomic():
        mine = TraceQuestion.objects.filter(pk=question.pk, due_at=question.due_at)
        judge = TraceJudge.objects.may_be_asked(now).filter(pk=question.judge_id)
        if not (mine.update(due_at=until, tries=question.tries + 1) and judge.update(busy_until=until)):
            transaction.set_rollback(True)
            return None
        question.due_at, question.tries = until, question.tries + 1
        day, refusal = question_reserve(question.judge, expected)
        if not refusal:
            TraceQuestion.objects.filter(pk=question.pk).update(asked_on=day)
            return day
        _close(question, QuestionState.NOT_JUDGED, refusal)
        TraceJudge.objects.filter(pk=question.judge_id).update(busy_until=None)
    if refusal == SPENT:
        questions_leave(TraceQuestion.objects.filter(judge=question.judge, due_at__lte=now), SPENT)
    return None


def questions_leave(waiting: TraceQuestionQuerySet, reason: str) -> None:
    """Judge none of the traces of these questions, which wait: say why instead."""
    while True:
        with transaction.atomic():
            # In the order of their keys, so that two who do it never wait for each other.
            held = waiting.select_for_update(no_key=True, of=("self",)).order_by("pk")
            some = list(held.values_list("pk", "judge_id", "trace_id", "span_id")[:LARGEST_BATCH])
            about = {(judge, trace, span) for _, judge, trace, span in some}
            said = SpanVerdict.objects.filter(
                judge__in={each[0] for each in about}, trace__in={each[1] for each in about}
            )
            # That on a whole trace stands on its first span.
            gone = [
                pk
                for pk, judge, trace, span in said.values_list("pk", "judge_id", "trace_id", "span_id")
                if (judge, trace, span) in about or (judge, trace, "") in about
            ]
            SpanVerdict.objects.filter(pk__in=gone).delete()
            TraceQuestion.objects.filter(pk__in=[pk for pk, *_ in some]).update(
                state=QuestionState.NOT_JUDGED, due_at=None, reason=reason, inputs=""
            )
        if len(some) < LARGEST_BATCH:
            return


@dataclass(frozen=True, slots=True)
class _Answer:
    """Holds the question that was answered, by which snapshot, and what it took."""

    inputs: str
    snapshot: str
    took: Spending


def _verdict_write(
    question: TraceQuestion, judging: TraceJudging, said: JudgedVerdict, answer: _Answer | None = None
) -> bool:
    if not _close(question, QuestionState.JUDGED, "", answer.inputs if answer else ""):
        return False
    judge = question.judge.judge
    root = judging.reading.root
    columns = {
        "project_id": question.trace.project_id,
        "span_id": question.span_id or (root.span.span_id if root else ""),
        "rule": question.judge.rule,
        "version": said.version,
        "status": said.status,
        "value": said.value,
        "reason": clean(said.reason, 500),
        "judge": question.judge,
        "snapshot": clean((answer.snapshot if answer else "") or judge.model, 120),
        "tokens": answer.took.tokens if answer else None,
        "judge_cost": answer.took.cost if answer and judge.prices else None,
    }
    SpanVerdict.objects.update_or_create(**_key(question), defaults=columns)
    return True


def _key(question: TraceQuestion) -> dict[str, Any]:
    key = {"trace_id": question.trace_id, "number": JUDGES_FROM + question.judge_id}
    return key | ({"span_id": question.span_id} if question.span_id else {})


def _close(question: TraceQuestion, state: QuestionState, reason: str, inputs: str | None = None) -> bool:
    """Settle a question that is still ours; one without a verdict loses that of before."""
    columns = {"state": state, "due_at": None, "reason": reason}
    columns |= {} if inputs is None else {"inputs": inputs}
    mine = TraceQuestion.objects.filter(pk=question.pk, due_at=question.due_at)
    if not mine.update(**columns, **({"inputs": ""} if state == QuestionState.NOT_JUDGED else {})):
        return False
    if state == QuestionState.NOT_JUDGED:
        SpanVerdict.objects.filter(**_key(question)).delete()
    return True


def _reached(judge: TraceJudge) -> None:
    TraceJudge.objects.filter(pk=judge.pk).update(busy_until=None, failures=0, paused_until=None, trouble="")


def _not_reached(question: TraceQuestion, heard: Heard) -> None:
    """Have a question asked again later, and the judge left alone for a shorter while: others may be answered."""
    now = database_now()
    trouble = clean(heard.judgement.error, 500)
    if question.tries >= MOST_TRIES:
        _close(question, QuestionState.NOT_JUDGED, clean(f"After {question.tries} tries: {trouble}", 500))
    else:
        wait = timedelta(seconds=min(FIRST_WAIT * 2 ** (question.tries - 1), LONGEST_WAIT))
        TraceQuestion.objects.filter(pk=question.pk, due_at=question.due_at).update(due_at=now + wait, reason=trouble)
    failures = TraceJudge.objects.values_list("failures", flat=True).get(pk=question.judge_id) + 1
    pause = timedelta(seconds=min(FIRST_PAUSE * 2 ** min(failures - 1, 20), LONGEST_PAUSE))
    TraceJudge.objects.filter(pk=question.judge_id).update(
        busy_until=None, failures=failures, paused_until=now + pause, trouble=trouble
    )
