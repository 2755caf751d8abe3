"""Read a case for its page: conversation, comparison, verdicts, the gold's history, the same example elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from uuid import UUID

from labeling.conversation import CONTEXT, CallBlock, Conversation, Turn, read_conversation
from labeling.conversation.turns import snippet
from labeling.models import Dispute, Gold, GoldSource, Label, Revision
from reports.cases.analysis import (
    ComparedCall,
    ShownCall,
    StateComparison,
    case_title,
    compared_calls,
    compared_state,
    shown_calls,
    value_text,
)
from reports.cases.claims import ClaimReading, read_claims
from reports.cases.queries import example_in_other_runs, gold_of, trials_of
from reports.matrix.advice import shortened
from reports.run.analysis import WARNING
from reports.run.metrics import case_verdicts
from toolevals.grading.engine.case_findings import open_questions
from toolevals.grading.json_schema.reasons import SchemaReason
from toolevals.grading.values import Expectation, MalformedCall, Refusal, ToolCall, Transcript
from toolevals.grading.values.canonical import shown
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.grading.values.verdicts import CaseGrade as Grade
from toolevals.grading.values.verdicts import Injection, JudgedVerdict, SchemaProblem, Verdict, decided_words
from toolevals.registry.tool_lists import tools_in
from toolevals.runs.grading.policies import guards_of, with_policy
from toolevals.runs.judging.blindness import shown_detail
from toolevals.runs.judging.unscored import ANSWERS
from toolevals.runs.models import CaseGrade
from toolevals.runs.queries import schema_reasons, tools_offered
from toolevals.runs.rereading.shown_cases import done_messages
from toolevals.workspace.models import Role, User

MOST_RUNS = 60
LONGEST_ANSWER = 200
LONGEST_ARGUMENTS = 1_000
# With more turns than this before the one that is asked about all but so many are folded.
MOST_BEFORE, NEAR = 4, 2
GOLD_WORDS = {
    GoldSource.AGREED: "reviewers agreed, blind",
    GoldSource.ELSEWHERE: "labels given elsewhere, blind or not",
    GoldSource.ADJUDICATED: "adjudicated",
    GoldSource.SECOND_LOOK: "adjudicated, after a reviewer had seen an agent's proposal",
    GoldSource.SINGLE: "one reviewer",
    GoldSource.IMPORTED: "imported with the dataset",
    GoldSource.RESTORED: "earlier gold, restored",
}


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to the gold."""

    at: datetime
    words: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class OtherRun:
    """The same example in one run: a case to open, and whether most of its trials passed; "" where none was scored."""

    number: int
    case: UUID
    status: str


@dataclass(frozen=True, slots=True)
class TrialCall:
    """One call of a trial: "passed", "failed", or "" where it is not known what it is worth."""

    name: str
    arguments: str
    status: str


@dataclass(frozen=True, slots=True)
class Trial:
    """One trial of the same example: what it called and said, and how that came out."""

    case: UUID
    number: int
    outcome: str
    mode: str
    calls: tuple[TrialCall, ...]
    answer: str


@dataclass(frozen=True, slots=True)
class CaseReading:
    """Everything on the page of a case."""

    title: str
    snippet: str
    given: Conversation
    done: Conversation
    statuses: dict[int, str]
    transcript: Transcript | None
    calls: tuple[ComparedCall, ...]
    state: StateComparison
    claims: ClaimReading
    # Layers that only warn, and failed though the case passed.
    warnings: tuple[str, ...]
    # The bucket of the wrong arguments, "" where none are.
    bucket: str
    expectation: Expectation
    verdicts: dict[str, Verdict]
    metrics: Mapping[str, Verdict]
    # What a guard refused, with the arguments as text.
    refusals: tuple[tuple[Refusal, str], ...]
    # What decides it, in words.
    decided_by: str
    schema_problems: tuple[SchemaProblem, ...]
    # Why calls broke their schemas, in words.
    schema_reasons: tuple[SchemaReason, ...]
    judged: Mapping[str, JudgedVerdict]
    # The layers whose rules leave a question, and what the judge that answers it said; None where none did.
    questions: Mapping[str, JudgedVerdict | None]
    # Of how many judges the verdict is shown to no one, while people rate the case.
    hidden_judges: int
    # Texts in it that speak to its judge.
    injections: tuple[Injection, ...]
    tag: str
    mode: str
    gold: Gold
    gold_words: str
    gold_changed: bool
    history: tuple[Event, ...]
    disputes: int
    other_runs: tuple[OtherRun, ...]
    trials: tuple[Trial, ...]

    @property
    def context(self) -> tuple[Turn, ...]:
        """Return what the user's request is to be read with."""
        return tuple(turn for turn in self.given.turns if _is_context(turn))

    @property
    def earlier(self) -> tuple[Turn, ...]:
        """The turns that are folded away, so that the one that is asked about stands in the first screen."""
        return self._said[: self._folded]

    @property
    def near(self) -> tuple[Turn, ...]:
        """The turns that are shown: the one that is asked about with those just before it and all after."""
        return self._said[self._folded :]

    @property
    def _said(self) -> tuple[Turn, ...]:
        return tuple(turn for turn in self.given.turns if not _is_context(turn))

    @property
    def _folded(self) -> int:
        asked = max((place for place, turn in enumerate(self._said) if turn.is_now), default=0)
        return asked - NEAR if asked > MOST_BEFORE else 0


def read_case(case: CaseGrade, user: User, role: Role) -> CaseReading:
    """Return the case for one person: labels are shown only as far as blindness allows."""
    revision, gold = case.transcript.entry.revision, gold_of(case)
    grade = Grade.from_document(shown_detail(case))
    expectation = Expectation.from_document(gold.expectation)
    document = case.transcript.document
    transcript = None if document is None else Transcript.from_document(document)
    guards = guards_of(case.grading)
    if transcript is not None and guards is not None:
        tools = tools_offered(tools_in(revision.tools), case.grading.run.agent)
        transcript = with_policy(transcript, guards, tools, revision.input)
    done = read_conversation({"messages": done_messages(transcript)})
    return CaseReading(
        title=case_title(grade),
        snippet=snippet(revision.input),
        given=read_conversation(revision.input),
        done=done,
        statuses=_statuses(done, grade, transcript, expectation),
        transcript=transcript,
        calls=compared_calls(grade, expectation, transcript),
        state=compared_state(grade.details),
        claims=read_claims(grade.details.get("result_use"), transcript),
        warnings=_warnings(grade),
        bucket=grade.details.get("arguments", {}).get("bucket", ""),
        expectation=expectation,
        verdicts={name: grade.verdicts[name] for name in VERDICT_NAMES if name in grade.verdicts},
        metrics=case_verdicts(case, expectation, transcript),
        refusals=tuple(map(_refused, (transcript.refusals if transcript else None) or ())),
        decided_by=decided_words(grade.decided_by),
        schema_problems=grade.schema_problems,
        schema_reasons=tuple(reason for _, reason in schema_reasons(case)),
        judged=grade.judged,
        questions={layer: grade.judged.get(ANSWERS[layer]) for layer in open_questions(grade)},
        hidden_judges=len(case.detail.get("judged", {})) - len(grade.judged),
        injections=grade.injections,
        tag=grade.tag,
        mode=grade.mode,
        gold=gold,
        gold_words=GOLD_WORDS[GoldSource(gold.source)],
        gold_changed=revision.gold_id != gold.pk,
        history=_history(revision, user, role),
        disputes=Dispute.objects.filter(revision=revision).visible_to(user, role).open().count(),
        other_runs=_other_runs(case),
        trials=_trials(case, expectation),
    )


def _refused(refusal: Refusal) -> tuple[Refusal, str]:
    call = refusal.call
    return refusal, shown(call.arguments, LONGEST_ARGUMENTS) if isinstance(call, ToolCall) else call.text


def _is_context(turn: Turn) -> bool:
    return turn.role == "system" and turn.words == CONTEXT


def _warnings(grade: Grade) -> tuple[str, ...]:
    statuses = grade.statuses
    return tuple(name for name in WARNING if statuses.get(name) == "failed" and statuses["outcome"] == "passed")


def _statuses(
    done: Conversation, grade: Grade, transcript: Transcript | None, expectation: Expectation
) -> dict[int, str]:
    """Return the status of each call that is shown, by the identity of its block."""
    if transcript is None:
        return {}
    blocks = [block for turn in done.turns for block in turn.blocks if isinstance(block, CallBlock)]
    shown = shown_calls(grade, transcript, expectation)
    return {id(block): each.status for block, each in zip(blocks, shown, strict=False)}


def _history(revision: Revision, user: User, role: Role) -> tuple[Event, ...]:
    return tuple(sorted(_events(revision, user, role), key=lambda event: event.at))


def _events(revision: Revision, user: User, role: Role) -> Iterator[Event]:
    for gold in Gold.objects.history_of(revision).visible_to(user, role):
        yield Event(gold.created_at, f"Gold, {GOLD_WORDS[GoldSource(gold.source)]}", gold.rationale)
    for label in Label.objects.filter(revision=revision).visible_to(user, role).in_force().order_by("pk"):
        whose = (
            f"A label by {label.external_author}, given elsewhere" if label.external_author else "A reviewer’s label"
        )
        yield Event(label.created_at, whose, label.rationale)
    for dispute in Dispute.objects.filter(revision=revision).visible_to(user, role).order_by("pk"):
        yield Event(
            dispute.created_at, "Disputed" if dispute.settled_at is None else "Disputed, settled", dispute.reason
        )


def _trials(case: CaseGrade, expectation: Expectation) -> tuple[Trial, ...]:
    """Return the example's trials next to each other; none where there is one only."""
    cases = trials_of(case) if case.grading.run.trials > 1 else []
    return tuple(_trial(each, expectation) for each in cases) if len(cases) > 1 else ()


def _trial(case: CaseGrade, expectation: Expectation) -> Trial:
    document = case.transcript.document
    transcript = None if document is None else Transcript.from_document(document)
    shown = () if transcript is None else shown_calls(Grade.from_document(case.detail), transcript, expectation)
    calls = tuple(_trial_call(each) for each in shown)
    answer = shortened(transcript.answer or "", LONGEST_ANSWER) if transcript else ""
    return Trial(case.pk, case.transcript.trial + 1, case.outcome, case.mode, calls, answer)


def _trial_call(shown: ShownCall) -> TrialCall:
    call = shown.call
    if isinstance(call, MalformedCall):
        return TrialCall(call.name or "(unparsed)", shortened(call.text or call.reason, LONGEST_ANSWER), shown.status)
    return TrialCall(call.name, value_text(call.arguments), shown.status)


def _other_runs(case: CaseGrade) -> tuple[OtherRun, ...]:
    others = []
    for number, rows in groupby(example_in_other_runs(case, MOST_RUNS), key=itemgetter(0)):
        trials = list(rows)
        outcomes = [outcome for _, _, outcome in trials]
        passed, failed = outcomes.count("passed"), outcomes.count("failed")
        status = "" if not passed + failed else "passed" if passed > failed else "failed"
        others.append(OtherRun(number, trials[0][1], status))
    return tuple(others)


@dataclass(frozen=True, slots=True)
class CaseRow:
    """One line."""

    id: UUID
    example_id: UUID
    external_id: str
    snippet: str
    trial: int
    expected: str
    actual: str
    outcome: str
    mode: str


def case_rows(cases: Iterable[CaseGrade]) -> tuple[CaseRow, ...]:
    """Return the lines of cases that were read with their revision and example."""
    return tuple(
        CaseRow(
            id=case.pk,
            example_id=case.transcript.entry.revision.example_id,
            external_id=case.transcript.entry.revision.example.external_id,
            snippet=snippet(case.transcript.entry.revision.input),
            trial=case.transcript.trial + 1,
            expected=case.expected,
            actual=case.actual,
            outcome=case.outcome,
            mode=case.mode,
        )
        for case in cases
    )
