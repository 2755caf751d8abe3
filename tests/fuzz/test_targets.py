"""A small, always equal part of what `python -m tests.fuzz` does."""

import random
from typing import Any

import pytest

from tests.fuzz.mutation import mutated
from tests.fuzz.targets import TARGETS


@pytest.mark.parametrize("name", TARGETS)
def test_nothing_escapes_on_changed_input(name):
    target = TARGETS[name]
    chance = random.Random(name)
    for data in (*target.seeds, *(mutated(chance, target.seeds, longest=4_000) for _ in range(150))):
        target.check(data)


@pytest.mark.parametrize("name", ["messages", "steps", "predictions", "recordings"])
def test_the_seeds_are_read_and_not_refused(name, monkeypatch):
    # Else the changes would only ever meet the first check.
    kept: list[object] = []
    monkeypatch.setattr("tests.fuzz.targets._is_kept", kept.append)
    for seed in TARGETS[name].seeds:
        TARGETS[name].check(seed)
    assert len(kept) == len(TARGETS[name].seeds)


def test_a_target_reports_what_is_wrong(monkeypatch):
    def broken(value: Any, name: Any = None) -> Any:
        raise TypeError(name)

    monkeypatch.setattr("tests.fuzz.targets.transcript_in", broken)
    with pytest.raises(TypeError):
        TARGETS["messages"].check(TARGETS["messages"].seeds[0])


def test_input_that_is_too_deep_to_be_changed_as_json_is_changed_as_bytes():
    deep = b"[" * 5_000 + b"]" * 5_000
    assert all(mutated(random.Random(seed), [deep]) for seed in range(10))


def test_changes_are_the_same_for_the_same_seed_and_bounded():
    made = [mutated(random.Random(3), [b"f(a=1)", b"{}"], longest=50) for _ in range(2)]
    assert made[0] == made[1]
    chance = random.Random(1)
    assert all(len(mutated(chance, [b"f(a=1)" * 9], longest=50)) <= 50 for _ in range(50))
