"""Open the clients of a grading's judges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from django.conf import settings as installation

from toolevals.agents.chats import Chat, PatientChat, Reply, RetryPolicy, UnreachableError
from toolevals.agents.judge import Judge, judge_options
from toolevals.agents.network import AddressPolicy
from toolevals.agents.openai_chat import OpenAIChat
from toolevals.agents.options import ChatOptions
from toolevals.agents.prices import Prices
from toolevals.grading.judging import Rubric
from toolevals.grading.values import Message, ToolSpec
from toolevals.runs import models
from toolevals.runs.judging.judge_snapshots import JudgeSnapshot, seats_of
from toolevals.workspace.secrets.services import SecretUnusableError, secret_for

RETRY = RetryPolicy(tries=3)


@dataclass(frozen=True, slots=True)
class Member:
    """One judge at work: its seat, its row, its rubric, and the client that asks."""

    seat: JudgeSnapshot
    row: models.Judge
    rubric: Rubric
    judge: Judge
    prices: Prices | None


class _Keyless:
    """Stands where a judge's key cannot be read: each of its judgements is errored, and the others go on."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        raise UnreachableError(self._reason, again=False)


@contextmanager
def bench(grading: models.Grading) -> Iterator[Mapping[str, Member]]:
    """Open every judge of a grading, by the name of its rubric."""
    seats = {seat.judge: seat for seat in seats_of(grading)}
    rows = models.Judge.objects.filter(pk__in=seats).select_related("rubric", "project").order_by("rubric__name")
    with ExitStack() as opened:
        members: dict[str, Member] = {}
        for row in rows:
            rubric = Rubric.from_document(row.rubric.document)
            prices = Prices.from_document(row.prices) if row.prices else None
            judge = judge_opened(row, rubric, opened)
            members[rubric.name] = Member(seats[str(row.pk)], row, rubric, judge, prices)
        yield members


def judge_opened(row: models.Judge, rubric: Rubric, opened: ExitStack, retry: RetryPolicy = RETRY) -> Judge:
    """Open a judge's client, to be closed with `opened`. Where its key cannot be had, each judgement is errored."""
    options = ChatOptions.from_document(row.options)
    try:
        key = secret_for(project=row.project, name=options.secret, address=options.address) if options.secret else ""
    except SecretUnusableError as error:
        keyless = _Keyless(str(error))
        return Judge(row.model, structured=keyless, plain=keyless)
    policy = AddressPolicy.of(installation.AGENT_NETWORKS)

    def chat(structured: bool) -> Chat:
        client = OpenAIChat(judge_options(options, rubric, structured=structured), key=key, policy=policy)
        return PatientChat(opened.enter_context(client), retry)

    return Judge(row.model, structured=chat(True), plain=chat(False))
