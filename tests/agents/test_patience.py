"""Asking again, and for how long."""

import pytest

from tests.agents.players import Player, saying
from toolevals.agents.chats import PatientChat, RetryPolicy, UnreachableError


def busy(retry_after: float | None = None) -> UnreachableError:
    return UnreachableError("busy", again=True, retry_after=retry_after)


class Clock:
    def __init__(self) -> None:
        self.waits: list[float] = []
        self.paced = 0

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    def wait(self) -> None:
        self.paced += 1


def test_it_asks_again_with_growing_waits_until_it_is_answered():
    clock = Clock()
    chat = Player(busy(), busy(), busy(), saying("At last."))
    reply = PatientChat(chat, RetryPolicy(first_wait=2, longest_wait=5), clock, clock.sleep).reply([], ())
    assert reply.message.content == "At last."
    assert [low <= wait <= high for wait, (low, high) in zip(clock.waits, [(1, 2), (2, 4), (2.5, 5)], strict=True)] == [
        True
    ] * 3
    assert clock.paced == 4


def test_it_keeps_to_what_the_other_side_asks_for():
    clock = Clock()
    PatientChat(Player(busy(7.5), saying("Yes.")), RetryPolicy(), clock, clock.sleep).reply([], ())
    assert clock.waits == [7.5]


@pytest.mark.parametrize(
    ("error", "asked"),
    [(busy(), 3), (UnreachableError("401", again=False), 1), (busy(3600.0), 1)],
    ids=["used up", "useless", "too long"],
)
def test_it_gives_up(error, asked):
    clock, chat = Clock(), Player(error)
    with pytest.raises(UnreachableError) as caught:
        PatientChat(chat, RetryPolicy(tries=3), clock, clock.sleep).reply([], ())
    assert caught.value is error
    assert len(chat.seen) == asked
    assert len(clock.waits) == asked - 1
