"""Ask judges about traces that were summed up, outside of any request, each question within its judge's budget.

The rows are the queue: a worker that takes a question takes its judge too, moves both times on and counts it, asks, and
writes the verdict only where the question is still theirs. So a worker that is killed leaves one question that is
asked again, and no trace has two verdicts of one judge. Who cannot be reached is left alone for a while, and gives no
verdict.

A question is counted before it is asked, with what it is expected to take, while the row of the day is held: so no two
workers spend the same rest of a budget. What it took is put right when the answer is there.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta
from time import monotonic
from typing import Final

from django.db import DatabaseError, transaction
from django.db.models import F
from django.utils import timezone

from toolevals.agents.chats import RetryPolicy
from toolevals.agents.judge import ANSWER_TOKENS, JudgeReply, messages_for
from toolevals.agents.judge import Judge as Asked
from toolevals.agents.prices import Prices
from toolevals.grading.judging import JudgementRequest, Rubric
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.grading.values.verdicts import JudgedVerdict
from toolevals.json_types import JsonObject
from toolevals.runs.judging.bench import judge_opened
from toolevals.runs.judging.judge_snapshots import JudgeSnapshot
from toolevals.runs.live.estimate import CHARACTERS_PER_TOKEN
from toolevals.runs.models import Judge
from toolevals.traces.judges.asking import GATES_BY_KIND, TraceJudging, is_without_gold, span_reading, spans_asked
from toolevals.traces.judges.models import JUDGES_FROM, TraceQuestionQuerySet
from toolevals.traces.models import (
    QuestionState,
    SpanKind,
    SpanVerdict,
    Trace,
    TraceJudge,
    TraceJudgeDay,
    TraceQuestion,
)
from toolevals.traces.reading.chunks import spans_of
from toolevals.traces.reading.summary import clean
from toolevals.traces.reading.traces import TraceReading, trace_read
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.bulk import others_write_first
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Project, User

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


def _key(question: TraceQuestion) -> JsonObject:
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


def _not_reached(question: TraceQuestion, heard: JudgeReply) -> None:
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


SPENT: Final = "The judge’s daily budget is used up."
TOO_DEAR: Final = "The question would exceed the judge’s daily budget."


@dataclass(frozen=True, slots=True)
class Spending:
    """Holds what one question takes: tokens, in and out, and money, 0 without prices."""

    tokens: int
    cost: float


def expected_spending(request: JudgementRequest, prices: Prices | None) -> Spending:
    """Return what a question is expected to take."""
    tokens = sum(len(message.content or "") for message in messages_for(request)) // CHARACTERS_PER_TOKEN
    cost = prices.cost({"input_tokens": tokens, "output_tokens": ANSWER_TOKENS}) if prices else 0.0
    return Spending(tokens + ANSWER_TOKENS, cost)


def question_reserve(judge: TraceJudge, expected: Spending) -> tuple[date, str]:
    """Count a question of today, within a transaction; return the day, and why it may not be asked, or nothing."""
    day = timezone.localdate(database_now())
    TraceJudgeDay.objects.bulk_create([TraceJudgeDay(judge=judge, day=day)], ignore_conflicts=True)
    row = TraceJudgeDay.objects.select_for_update(no_key=True).get(judge=judge, day=day)
    limits = ((row.tokens, expected.tokens, judge.most_tokens), (row.cost, expected.cost, judge.most_cost))
    if row.questions >= judge.most_questions:
        return day, SPENT
    if any(limit is not None and spent >= limit for spent, _, limit in limits):
        return day, SPENT
    if any(limit is not None and spent + more > limit for spent, more, limit in limits):
        return day, TOO_DEAR
    _add(judge, day, 1, expected.tokens, expected.cost)
    return day, ""


def question_settle(judge: TraceJudge, day: date, expected: Spending, took: Spending, *, was_asked: bool) -> None:
    """Put what a question took in the place of what was expected; one that no one heard does not count."""
    _add(judge, day, 0 if was_asked else -1, took.tokens - expected.tokens, took.cost - expected.cost)


def _add(judge: TraceJudge, day: date, questions: int, tokens: int, cost: float) -> None:
    TraceJudgeDay.objects.filter(judge=judge, day=day).update(
        questions=F("questions") + questions, tokens=F("tokens") + tokens, cost=F("cost") + cost
    )


QUESTIONS_A_DAY = 100
MOST_QUESTIONS_A_DAY = 1_000_000
MOST_TOKENS_A_DAY = 10**12
SWITCHED_OFF = "The judge was switched off."


@dataclass(frozen=True, slots=True)
class TraceJudgeRequest:
    """Says how a judge is asked about traces: of which share, 0 to 1, and what it may take a day, None for no limit.

    Money is in the currency of the judge's prices. `span_kind` is one of `SpanKind`, and stays as it is once a judge is
    asked: None for that, else for the whole trace.
    """

    share: float
    most_questions: int = QUESTIONS_A_DAY
    most_tokens: int | None = None
    most_cost: float | None = None
    is_on: bool = True
    span_kind: str | None = None


@transaction.atomic
def trace_judge_set(*, project: Project, actor: User | None, judge: Judge, request: TraceJudgeRequest) -> TraceJudge:
    """Have a judge asked about traces that are summed up from now on, or as said now. Raises InvalidDocument.

    Where it is switched off, the traces that wait for it are not judged.
    """
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    bound = TraceJudge.objects.filter(judge=judge).first()
    kind = (bound.span_kind if bound else "") if request.span_kind is None else request.span_kind
    problems = [*_problems(project, judge, request), *_problems_of_kind(bound, judge, kind)]
    if problems:
        raise InvalidDocument(problems)
    if not request.is_on:
        questions_leave(TraceQuestion.objects.filter(judge__judge=judge, due_at__isnull=False), SWITCHED_OFF)
    said = {**asdict(request), "span_kind": kind}
    found, _ = TraceJudge.objects.update_or_create(
        judge=judge,
        defaults={**said, "failures": 0, "paused_until": None, "trouble": ""},
        create_defaults={**said, "project": project, "rubric": judge.rubric.name, "actor": actor},
    )
    detail = {"judge": judge.name, **said}
    audit_record(project=project, actor=actor, verb="trace_judge_set", target=judge, detail=detail)
    return found


def trace_judges_possible(project: Project) -> list[Judge]:
    """Return the judges of a project that can be asked about traces and are not bound to them."""
    judges = Judge.objects.in_project(project).filter(of_traces=None)
    return [judge for judge in judges if _kinds_of(judge)]


def _kinds_of(judge: Judge) -> list[str]:
    """Return the kinds of spans that a judge can be asked about; an empty one for whole traces."""
    rubric = Rubric.from_document(judge.rubric.document)
    return [kind for kind in GATES_BY_KIND if is_without_gold(rubric, kind)]


def _problems(project: Project, judge: Judge, request: TraceJudgeRequest) -> Iterator[Problem]:
    if judge.project_id != project.pk:
        yield Problem("/judge", "is not of this project")
    others = TraceJudge.objects.switched_on(project).filter(rubric=judge.rubric.name).exclude(judge=judge)
    if request.is_on and (other := others.first()):
        yield Problem("/judge", f"{other} judges traces by this rubric already: switch it off first")
    if not (math.isfinite(request.share) and 0 < request.share <= 1):
        yield Problem("/share", "must be above 0 and at most 1")
    if not 1 <= request.most_questions <= MOST_QUESTIONS_A_DAY:
        yield Problem("/most_questions", f"must be from 1 to {MOST_QUESTIONS_A_DAY:,}")
    if request.most_tokens is not None and not 1 <= request.most_tokens <= MOST_TOKENS_A_DAY:
        yield Problem("/most_tokens", f"must be from 1 to {MOST_TOKENS_A_DAY:,}")
    cost = request.most_cost
    if cost is not None and not (math.isfinite(cost) and cost >= 0):
        yield Problem("/most_cost", "must be a number from 0")
    elif cost is not None and not judge.prices:
        yield Problem("/most_cost", "needs prices: without them it is not known what was spent")


def _problems_of_kind(bound: TraceJudge | None, judge: Judge, kind: str) -> Iterator[Problem]:
    if kind not in SpanKind.values:
        yield Problem("/span_kind", f"must be one of {', '.join(filter(None, SpanKind.values))}, or empty")
    elif bound is not None and bound.span_kind != kind:
        yield Problem("/span_kind", "cannot change, since its verdicts stand there: bind another judge with its rubric")
    elif kind not in (kinds := _kinds_of(judge)):
        gates = ", ".join(GATES_BY_KIND[kind])
        words = f"the gate of its rubric is {judge.rubric.document['gate']}, and must be one of {gates}"
        if not kinds:
            yield Problem("/judge", f"asks about what is expected; traces have no gold: {words}, without expectation")
        else:
            yield Problem("/span_kind", f"cannot be judged by this judge: {words}")
