"""Tell what judging a run again will take, before it begins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from django.db.models import QuerySet

from toolevals.agents.judge import ANSWER_TOKENS, messages_for
from toolevals.agents.prices import Prices
from toolevals.grading.judging import JudgementRequest, Rubric
from toolevals.runs.grading.case_grading import graded_cases
from toolevals.runs.grading.kept_grades import kept_grades
from toolevals.runs.judging.cases import Told, told_cases
from toolevals.runs.judging.judge_snapshots import JudgeSnapshot
from toolevals.runs.live.estimate import CHARACTERS_PER_TOKEN
from toolevals.runs.models import CaseGrade, Grading, Judge, Judgement, Run

# So many examples are looked at, spread over the version; the others are taken to be like them.
MOST_READ = 60


@dataclass(frozen=True, slots=True)
class JudgeEstimate:
    """The questions that one judge would get in one more grading of a run.

    `known` questions have their answers already. `cost` is None without prices; `capped` says that the judge's cap
    comes first.
    """

    judge: Judge
    questions: int
    known: int
    input_tokens: int
    cost: float | None
    capped: bool


def judging_estimates(run: Run) -> list[JudgeEstimate]:
    """Return what each judge that is on would be asked about the run's transcripts.

    Answers to criteria in words can raise further questions, and a bad answer a second request: neither is counted.
    """
    judges = list(Judge.objects.filter(project=run.project_id).switched_on())
    grading = run.grading
    if not judges or grading is None:
        return []
    seats = [(JudgeSnapshot.of(judge), Rubric.from_document(judge.rubric.document)) for judge in judges]
    size = run.dataset_version.size
    step = max(1, size // MOST_READ)
    read = range(0, size, step)
    asked: dict[str, dict[str, JudgementRequest]] = {seat.rubric: {} for seat, _ in seats}
    for case in _cases(grading, read, seats):
        for request in case.missing({}):
            asked[request.rubric.name][request.digest] = request
    times = size / max(1, len(read))
    return [_estimate(judge, asked[judge.rubric.name], times) for judge in judges]


def unscored_estimate(grading: Grading, judge: Judge, cases: QuerySet[CaseGrade]) -> JudgeEstimate:
    """Return what a judge would be asked about some cases of a grading, whose grades stay as they are."""
    left = list(cases.order_by("pk").values_list("transcript__entry__position", "transcript_id"))
    read = left[:: max(1, -(-len(left) // MOST_READ))]
    seated = [(replace(JudgeSnapshot.of(judge), unscored=True), Rubric.from_document(judge.rubric.document))]
    asked: dict[str, JudgementRequest] = {}
    for place in sorted({place for place, _ in read}):
        payload = {"keep": str(grading.pk), "start": place, "stop": place + 1, "ask": judge.rubric.name}
        kept = kept_grades(grading, payload)
        for case in told_cases(graded_cases(grading, place, place + 1, kept=kept, replays=False), seated):
            if (place, case.graded.transcript_id) in read:
                asked |= {request.digest: request for request in case.missing({})}
    return _estimate(judge, asked, len(left) / max(1, len(read)))


def _cases(grading: Grading, places: range, seats: list[tuple[JudgeSnapshot, Rubric]]) -> Iterator[Told]:
    for place in places:
        yield from told_cases(graded_cases(grading, place, place + 1), seats)


def _estimate(judge: Judge, requests: dict[str, JudgementRequest], times: float) -> JudgeEstimate:
    answered = Judgement.objects.filter(rubric=judge.rubric, model=judge.model, error="", inputs__in=list(requests))
    known = set(answered.values_list("inputs", flat=True))
    new = [request for digest, request in requests.items() if digest not in known]
    characters = sum(len(message.content or "") for request in new for message in messages_for(request))
    usage = Counter(
        input_tokens=round(times * characters / CHARACTERS_PER_TOKEN),
        output_tokens=round(times * len(new)) * ANSWER_TOKENS,
    )
    cost = Prices.from_document(judge.prices).cost(usage) if judge.prices else None
    return JudgeEstimate(
        judge=judge,
        questions=round(times * len(requests)),
        known=round(times * len(known)),
        input_tokens=usage["input_tokens"],
        cost=cost,
        capped=cost is not None and judge.budget is not None and cost > judge.budget,
    )
