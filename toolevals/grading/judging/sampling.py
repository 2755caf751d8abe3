"""Tell which cases people look at: of each example one trial, drawn by chance within each verdict."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Generic, TypeVar

Case = TypeVar("Case", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Drawn(Generic[Case]):
    """One case of a sample; what is held out measures the judge, the rest may be used to tune it."""

    case: Case
    held_out: bool


def stratified_sample(
    strata: Mapping[str, Sequence[Case]], *, held_out: int, tuning: int = 0, seed: str = ""
) -> list[Drawn[Case]]:
    """Return `held_out` cases that are held out and `tuning` others, in an order that says nothing of the strata.

    Each stratum gives its share of either set by largest remainders, and one held-out case at least where there is room
    for that, so that the sample's shares are those of all cases: agreement, kappa, sensitivity and specificity of it
    are then estimates of theirs without weights. The same strata, sizes and seed draw the same. With too few cases all
    are drawn, held out first. Raises ValueError on a negative size.
    """
    if held_out < 0 or tuning < 0:
        raise ValueError("a size is negative")
    random = Random(seed)  # noqa: S311 - a sample, no secret
    shuffled = {name: random.sample(list(cases), len(cases)) for name, cases in sorted(strata.items())}
    sizes = {name: len(cases) for name, cases in shuffled.items()}
    first = _shares(sizes, held_out, least=1)
    second = _shares({name: sizes[name] - first[name] for name in sizes}, tuning, least=0)
    drawn = [
        Drawn(case, place < first[name])
        for name, cases in shuffled.items()
        for place, case in enumerate(cases[: first[name] + second[name]])
    ]
    random.shuffle(drawn)
    return drawn


def one_trial_each(examples: Iterable[Sequence[tuple[str, Case]]], seed: str = "") -> dict[str, list[Case]]:
    """Return one trial of each example, drawn by chance, by its verdict: passed or failed.

    An example is given as the (verdict, case) of its trials. Examples are the unit of every sample: trials of one are
    alike, and who has looked at one trial knows the example.
    """
    random = Random(f"trials {seed}")  # noqa: S311 - a sample, no secret
    strata: dict[str, list[Case]] = {"passed": [], "failed": []}
    for trials in examples:
        status, case = random.choice(trials)
        strata[status].append(case)
    return strata


def sample_of_each(strata: Mapping[str, Sequence[Case]], sizes: Mapping[str, int], seed: str = "") -> list[Case]:
    """Return so many cases of each stratum, all where there are fewer, in an order that says nothing of the strata.

    The same strata, sizes and seed draw the same. Raises ValueError on a negative size.
    """
    if min(sizes.values(), default=0) < 0:
        raise ValueError("a size is negative")
    random = Random(seed)  # noqa: S311 - a sample, no secret
    drawn = []
    for name, cases in sorted(strata.items()):
        drawn += random.sample(list(cases), min(sizes[name], len(cases)))
    random.shuffle(drawn)
    return drawn


def _shares(sizes: Mapping[str, int], wanted: int, *, least: int) -> dict[str, int]:
    """Divide a number in proportion to sizes: none above its own, by largest remainders."""
    total = sum(sizes.values())
    wanted = min(wanted, total)
    if not wanted:
        return dict.fromkeys(sizes, 0)
    found = {name: wanted * size // total for name, size in sizes.items()}
    rest = sorted(sizes, key=lambda name: (-(wanted * sizes[name] % total), name))
    for name in rest[: wanted - sum(found.values())]:
        found[name] += 1
    for name, size in sizes.items():
        most = max(found, key=lambda other: found[other])
        if size and found[name] < least and found[most] > least:
            found[name], found[most] = found[name] + 1, found[most] - 1
    return found
